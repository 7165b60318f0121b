// SPDX-License-Identifier: GPL-2.0-only
//
// The layout of the server's structures changes between its point releases: a plugin of ours serves only the
// one that it was built for.
#pragma once

#include <string>
#include <string_view>

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// Empty where the running server is the one built for; else the sentence that says what is wrong.
[[nodiscard]] inline std::string version_mismatch(std::string_view built_for = MYSQL_SERVER_VERSION) {
  const std::string_view running = server_version;
  const size_t size = built_for.size();
  if (running.starts_with(built_for) && (running.size() == size || running[size] == '-')) {
    return {};
  }
  return "built for MariaDB " + std::string(built_for) + ", but this server is " + std::string(running);
}

}  // namespace rowsocket::mariadb
