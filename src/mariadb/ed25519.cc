// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/ed25519.h"

#include <sodium/crypto_core_ed25519.h>
#include <sodium/crypto_scalarmult_ed25519.h>
#include <sodium/utils.h>

#include <array>

#include "mariadb/server_headers.h"

// libsodium's curve alone, whose functions have no state. sodium_init() would choose, and bring into the
// plugin, what nobody uses here; so the hashes are the server's.

namespace rowsocket::mariadb {
namespace {

using Bytes32 = std::array<unsigned char, 32>;
using Bytes64 = std::array<unsigned char, 64>;

Bytes32 scalar_of(const Bytes64& hash) {
  Bytes32 scalar;
  crypto_core_ed25519_scalar_reduce(scalar.data(), hash.data());
  return scalar;
}

template <size_t size>
std::string_view view(const std::array<unsigned char, size>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

}  // namespace

bool sign_ed25519(std::string_view password, std::string_view message, std::string& signature) {
  Bytes64 secret;
  my_sha512(secret.data(), password.data(), password.size());
  secret[0] &= 248;
  secret[31] &= 63;
  secret[31] |= 64;
  // The curve's functions take scalars below its order.
  Bytes64 wide{};
  std::copy(secret.begin(), secret.begin() + 32, wide.begin());
  Bytes32 own = scalar_of(wide);
  Bytes64 hash;
  my_sha512_multi(hash.data(), secret.data() + 32, size_t{32}, message.data(), message.size(), nullptr);
  const Bytes32 nonce = scalar_of(hash);
  Bytes32 own_point;
  Bytes32 nonce_point;
  if (crypto_scalarmult_ed25519_base_noclamp(own_point.data(), own.data()) != 0 ||
      crypto_scalarmult_ed25519_base_noclamp(nonce_point.data(), nonce.data()) != 0) {
    return false;
  }
  my_sha512_multi(hash.data(), nonce_point.data(), nonce_point.size(), own_point.data(), own_point.size(),
                  message.data(), message.size(), nullptr);
  const Bytes32 challenge = scalar_of(hash);
  Bytes32 product;
  Bytes32 sum;
  crypto_core_ed25519_scalar_mul(product.data(), challenge.data(), own.data());
  crypto_core_ed25519_scalar_add(sum.data(), product.data(), nonce.data());
  signature.assign(view(nonce_point)).append(view(sum));
  sodium_memzero(secret.data(), secret.size());
  sodium_memzero(wide.data(), wide.size());
  sodium_memzero(own.data(), own.size());
  return true;
}

}  // namespace rowsocket::mariadb
