// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "mariadb/engines.h"

namespace rowsocket::mariadb {
namespace {

std::string engines_served;  ///< lower case, a comma before and behind each name

constexpr std::string_view system_folders[] = {"mysql", "information_schema", "performance_schema", "sys"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// "./shop/user" is in "shop".
std::string_view folder_of(std::string_view path) {
  const size_t name_begin = path.rfind('/');
  if (name_begin == std::string_view::npos) {
    return {};
  }
  const std::string_view folder = path.substr(0, name_begin);
  return folder.substr(folder.rfind('/') + 1);
}

bool is_system_folder(std::string_view folder) {
  const std::string lower = lower_case(folder);
  return std::any_of(std::begin(system_folders), std::end(system_folders),
                     [&](std::string_view name) { return name == lower; });
}

}  // namespace

void set_engines_served(const char* names) {
  engines_served = "," + lower_case(names != nullptr ? names : "") + ",";
  std::erase(engines_served, ' ');
}

bool is_engine_served(const TABLE* table, std::string& name) {
  const LEX_CSTRING* const engine = hton_name(table->file->partition_ht());
  name.assign(engine->str, engine->length);
  return engines_served.find("," + lower_case(name) + ",") != std::string::npos;
}

bool is_system_table(const TABLE* table) {
  const TABLE_SHARE* const share = table->s;
  return share->table_category != TABLE_CATEGORY_USER ||
         is_system_folder({share->db.str, share->db.length}) ||
         is_system_folder(folder_of({share->normalized_path.str, share->normalized_path.length}));
}

}  // namespace rowsocket::mariadb
