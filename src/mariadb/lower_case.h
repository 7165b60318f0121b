// SPDX-License-Identifier: GPL-2.0-only
//
// Names in small letters, as the server makes them: hosts of accounts, and tables where their names have no
// case.
#pragma once

#include <string>
#include <utility>

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

inline void to_lower_case(std::string& name) {
  std::string lower(name.size() * system_charset_info->casedn_multiply() + 1, '\0');
  lower.resize(system_charset_info->casedn(name.data(), name.size(), lower.data(), lower.size()));
  name = std::move(lower);
}

}  // namespace rowsocket::mariadb
