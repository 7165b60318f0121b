# SPDX-License-Identifier: GPL-2.0-only
"""Certificates of tests: an authority, and what it signs, as files; and what a client makes of them."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from support.mariadb import Database, Options, RowSocketServer

DAY = datetime.timedelta(days=1)
Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class Authority:
    """A certificate authority. `folder` gets the files, and must be there."""

    def __init__(self, folder: Path, name: str = "RowSocket test CA") -> None:
        self.folder = folder
        self.file = folder / f"{name.replace(' ', '-')}.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        self._certificate = (
            self._builder(self._name, self._key, -DAY, 10 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_may_sign(), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def _builder(
        self, subject: x509.Name, key: Key, begins: datetime.timedelta, ends: datetime.timedelta
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begins)
            .not_valid_after(now + ends)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
        )

    def sign(
        self, name: str, *, expired: bool = False, host: str = "localhost", is_rsa: bool = False
    ) -> Pair:
        """A key and its certificate for `CN=name`, good for `host` and for 127.0.0.1."""
        key: Key = (
            rsa.generate_private_key(public_exponent=65537, key_size=2048)
            if is_rsa
            else ec.generate_private_key(ec.SECP256R1())
        )
        begins, ends = (-3 * DAY, -DAY) if expired else (-DAY, 5 * DAY)
        names = [x509.DNSName(host), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        certificate = (
            self._builder(_name(name), key, begins, ends)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        pair = Pair(self.folder / f"{name}-key.pem", self.folder / f"{name}-cert.pem")
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
        )
        pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return pair

    def revoke(self, *pairs: Pair) -> Path:
        """The file that says which certificates are good no more."""
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self._name)
            .last_update(now - DAY)
            .next_update(now + DAY)
        )
        for pair in pairs:
            revoked = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
            builder = builder.add_revoked_certificate(
                x509.RevokedCertificateBuilder()
                .serial_number(revoked.serial_number)
                .revocation_date(now - DAY)
                .build()
            )
        file = self.folder / "crl.pem"
        file.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return file

    def server_options(self, name: str = "server", *, expired: bool = False) -> Options:
        """What a MariaDB server is told, to serve with a certificate of this authority."""
        pair = self.sign(name, expired=expired)
        return {"ssl-ca": str(self.file), "ssl-cert": str(pair.certificate), "ssl-key": str(pair.key)}

    def context(
        self,
        own: Pair | None = None,
        *,
        version: ssl.TLSVersion | None = None,
        ciphers: str | None = None,
    ) -> ssl.SSLContext:
        """A client's context that trusts this authority only; `version` allows no other one."""
        context = ssl.create_default_context(cafile=str(self.file))
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # as Python 3.13 does by itself
        if own is not None:
            context.load_cert_chain(str(own.certificate), str(own.key))
        if version is not None:
            context.minimum_version = context.maximum_version = version
        if ciphers is not None:
            context.set_ciphers(ciphers)
        return context


class Pair:
    """A key and its certificate, as files."""

    def __init__(self, key: Path, certificate: Path) -> None:
        self.key = key
        self.certificate = certificate

    def replace(self, other: Pair) -> None:
        """From now on the files hold the other's."""
        self.key.write_bytes(other.key.read_bytes())
        self.certificate.write_bytes(other.certificate.read_bytes())


def prepare_row(server: RowSocketServer) -> None:
    """From now on `d.t` has the row (1, 10)."""
    database = Database(server, "d")
    database.sql("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
    database.sql("INSERT INTO t VALUES (1, 10)")


def _may_sign() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
