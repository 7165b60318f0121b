// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstring>
#include <utility>

#include "base/invariant.h"
#include "mariadb/selection.h"

namespace rowsocket::mariadb {
namespace {

/// As the server does it where table names have no case.
void to_lower_case(std::string& name) {
  std::string lower(name.size() * system_charset_info->casedn_multiply() + 1, '\0');
  lower.resize(system_charset_info->casedn(name.data(), name.size(), lower.data(), lower.size()));
  name = std::move(lower);
}

bool is_valid_name(const std::string& name) {
  if (name.empty() || name.size() > NAME_LEN || std::memchr(name.data(), 0, name.size()) != nullptr) {
    return false;
  }
  // The prefix of names from old servers is another way to write a name, with a metadata lock of its own.
  return !name.starts_with(MYSQL50_TABLE_NAME_PREFIX) &&
         check_table_name(name.c_str(), name.size(), false) == 0;
}

}  // namespace

bool follow_naming_rules(engine::SelectionDescription& description) {
  if (lower_case_table_names != 0) {
    to_lower_case(description.database);
    to_lower_case(description.table);
  }
  return is_valid_name(description.database) && is_valid_name(description.table);
}

/// Names can hold any byte but 0.
std::string unique_name(const engine::SelectionDescription& description) {
  std::string name;
  for (const std::string* part :
       {&description.database, &description.table, &description.index, &description.columns,
        &description.filter_columns, &description.unique_columns}) {
    name += *part;
    name += '\0';
  }
  name += description.raw ? 'r' : 't';
  name += std::to_string(description.account);
  return name;
}

std::shared_ptr<Selection> OpenedSelections::find(const std::string& name) const {
  const auto known = by_name.find(name);
  return known == by_name.end() ? nullptr : known->second.lock();
}

void Selection::enter(const std::shared_ptr<Selection>& selection,
                      const std::shared_ptr<OpenedSelections>& opened, std::string name) {
  const auto entry = opened->by_name.insert_or_assign(std::move(name), selection).first;
  selection->name_ = &entry->first;
  selection->opened_ = opened;
  opened->held_bytes += selection->held_bytes();
}

Selection::~Selection() {
  if (opened_ == nullptr) {
    return;
  }
  const auto entry = opened_->by_name.find(*name_);
  if (invariant(entry != opened_->by_name.end() && opened_->held_bytes >= held_bytes(),
                "a selection that was opened is known, and counted")) {
    opened_->held_bytes -= held_bytes();
    opened_->by_name.erase(entry);
  }
}

}  // namespace rowsocket::mariadb
