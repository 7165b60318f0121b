// SPDX-License-Identifier: GPL-2.0-only
//
// Logs clients in with the server's own code, `login_connection`, as if they had come to its SQL port: on a
// THD of its own, with a stream whose other end is in memory (sql_client.h) and whose address is the
// client's. So host patterns, plugins, default roles, locked and expired accounts, REQUIRE, limits of an
// account, its log line and its audit event are the server's.
//
// The THD lives for the login only. What remains is the names of the account (accounts.h) and, where the
// account's connections are counted, one of them.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace rowsocket::mariadb {

/// For the calling thread, which alone uses and ends it. The server has started.
[[nodiscard]] std::unique_ptr<engine::Authenticator> make_authenticator();

}  // namespace rowsocket::mariadb
