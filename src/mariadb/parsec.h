// SPDX-License-Identifier: GPL-2.0-only
//
// A signature as MariaDB's plugin parsec wants it. PBKDF2 makes a key of ed25519 from the password, with the
// salt and the number of rounds that the account has. The key signs a scramble of each side.
#pragma once

#include <string>
#include <string_view>

namespace rowsocket::mariadb {

/// `extended_salt` is what the server sends of the account: a letter for PBKDF2, the rounds, the salt. The
/// signature stands behind our scramble. False if this is no salt that we know. May throw std::bad_alloc.
[[nodiscard]] bool sign_parsec(std::string_view password, std::string_view extended_salt,
                               std::string_view server_scramble, std::string& scramble_and_signature);

}  // namespace rowsocket::mariadb
