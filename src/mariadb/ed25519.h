// SPDX-License-Identifier: GPL-2.0-only
//
// A signature as MariaDB's ed25519 plugin wants it: as of RFC 8032, but that the secret is a password of any
// length and not 32 random bytes. (So OpenSSL can not make it; libsodium's parts can.)
#pragma once

#include <string>
#include <string_view>

namespace rowsocket::mariadb {

/// False if the library does not work. May throw std::bad_alloc.
[[nodiscard]] bool sign_ed25519(std::string_view password, std::string_view message, std::string& signature);

}  // namespace rowsocket::mariadb
