// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first. They bring OpenSSL's along.
#include <sodium.h>

#include <array>

#include "base/limits.h"
#include "mariadb/parsec.h"

namespace rowsocket::mariadb {
namespace {

constexpr char pbkdf2_of_sha512 = 'P';
constexpr size_t salt_bytes = 18;
constexpr size_t head_bytes = 2;  ///< in front of the salt
constexpr size_t scramble_bytes = 32;
constexpr int rounds_min = 1024;  ///< the server tells how often they are doubled

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

bool sign_parsec(std::string_view password, std::string_view extended_salt, std::string_view server_scramble,
                 std::string& scramble_and_signature) {
  if (extended_salt.size() != head_bytes + salt_bytes || extended_salt[0] != pbkdf2_of_sha512 ||
      server_scramble.size() != scramble_bytes || sodium_init() < 0) {
    return false;
  }
  const auto doublings = static_cast<unsigned char>(extended_salt[1]);
  if (doublings > limits::login_round_doublings_max) {
    return false;
  }
  std::string own_scramble(scramble_bytes, '\0');
  randombytes_buf(own_scramble.data(), own_scramble.size());
  const std::string message = std::string(server_scramble) + own_scramble;
  std::string signature(crypto_sign_ed25519_BYTES, '\0');
  std::array<unsigned char, crypto_sign_ed25519_SEEDBYTES> seed{};
  std::array<unsigned char, crypto_sign_ed25519_SECRETKEYBYTES> secret{};
  std::array<unsigned char, crypto_sign_ed25519_PUBLICKEYBYTES> known{};
  const std::string_view salt = extended_salt.substr(head_bytes);
  const bool is_signed =
      PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), bytes_of(salt),
                        static_cast<int>(salt.size()), rounds_min << doublings, EVP_sha512(),
                        static_cast<int>(seed.size()), seed.data()) == 1 &&
      crypto_sign_ed25519_seed_keypair(known.data(), secret.data(), seed.data()) == 0 &&
      crypto_sign_ed25519_detached(bytes_of(signature), nullptr, bytes_of(std::string_view(message)),
                                   message.size(), secret.data()) == 0;
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(secret.data(), secret.size());
  scramble_and_signature = own_scramble + signature;
  return is_signed;
}

}  // namespace rowsocket::mariadb
