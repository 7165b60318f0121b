// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/ed25519.h"

#include <sodium.h>

#include <array>

namespace rowsocket::mariadb {
namespace {

using Bytes32 = std::array<unsigned char, 32>;
using Bytes64 = std::array<unsigned char, 64>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// SHA-512 of two or three parts, as a scalar.
Bytes32 hash_scalar(std::string_view first, std::string_view second, std::string_view third = {}) {
  crypto_hash_sha512_state state;
  Bytes64 hash;
  Bytes32 scalar;
  crypto_hash_sha512_init(&state);
  for (const std::string_view part : {first, second, third}) {
    crypto_hash_sha512_update(&state, bytes_of(part), part.size());
  }
  crypto_hash_sha512_final(&state, hash.data());
  crypto_core_ed25519_scalar_reduce(scalar.data(), hash.data());
  return scalar;
}

template <size_t size>
std::string_view view(const std::array<unsigned char, size>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

}  // namespace

bool sign_ed25519(std::string_view password, std::string_view message, std::string& signature) {
  if (sodium_init() < 0) {
    return false;
  }
  Bytes64 secret;
  crypto_hash_sha512(secret.data(), bytes_of(password), password.size());
  secret[0] &= 248;
  secret[31] &= 63;
  secret[31] |= 64;
  // The curve's functions take scalars below its order.
  Bytes64 wide{};
  std::copy(secret.begin(), secret.begin() + 32, wide.begin());
  Bytes32 own;
  crypto_core_ed25519_scalar_reduce(own.data(), wide.data());
  const Bytes32 nonce = hash_scalar(view(secret).substr(32), message);
  Bytes32 own_point;
  Bytes32 nonce_point;
  if (crypto_scalarmult_ed25519_base_noclamp(own_point.data(), own.data()) != 0 ||
      crypto_scalarmult_ed25519_base_noclamp(nonce_point.data(), nonce.data()) != 0) {
    return false;
  }
  const Bytes32 challenge = hash_scalar(view(nonce_point), view(own_point), message);
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
