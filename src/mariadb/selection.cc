// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstring>
#include <utility>

#include "mariadb/lower_case.h"
#include "mariadb/selection.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {
namespace {

bool is_valid_name(const std::string& name) {
  if (name.empty() || name.size() > NAME_LEN || std::memchr(name.data(), 0, name.size()) != nullptr) {
    return false;
  }
  // The prefix of names from old servers is another way to write a name, with a metadata lock of its own.
  return !name.starts_with(MYSQL50_TABLE_NAME_PREFIX) && !is_invalid_table_name(name);
}

}  // namespace

void BoundSelection::count_kept_bytes() {
  size_t bytes = sizeof *this;
  for (const Side* side : {&read, &write}) {
    bytes += side->binding.held_bytes() + (side->open != nullptr ? sizeof(OpenTable) : 0);
  }
  kept.set(bytes);
}

bool follow_naming_rules(engine::SelectionDescription& description) {
  if (lower_case_table_names != 0) {
    to_lower_case(description.database);
    to_lower_case(description.table);
  }
  return is_valid_name(description.database) && is_valid_name(description.table);
}

}  // namespace rowsocket::mariadb
