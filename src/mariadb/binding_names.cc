// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <charconv>

#include "mariadb/binding.h"
#include "mariadb/row_addition.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {
namespace {

bool same_name(const LEX_CSTRING& name, std::string_view wanted) {
  return system_charset_info->strnncoll(name.str, name.length, wanted.data(), wanted.size()) == 0;
}

bool find_key(const TABLE* table, std::string_view wanted, uint32_t& key_number) {
  if (!wanted.empty() && wanted[0] >= '0' && wanted[0] <= '9') {
    const auto [end, failure] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), key_number);
    return failure == std::errc() && end == wanted.data() + wanted.size() && key_number < table->s->keys;
  }
  const std::string_view name = wanted.empty() ? std::string_view("PRIMARY") : wanted;
  for (key_number = 0; key_number < table->s->keys; ++key_number) {
    if (same_name(table->key_info[key_number].name, name)) {
      return true;
    }
  }
  return false;
}

/// What stands behind a name that is not there, in a text for people.
std::string in_table(const TABLE* table) {
  const TABLE_SHARE* const share = table->s;
  return " in " + std::string(share->db.str, share->db.length) + "." +
         std::string(share->table_name.str, share->table_name.length);
}

/// The parts that the index was declared with. Behind them the server puts the end of the row's life, where
/// the table has a history. It is the same for all current rows.
uint32_t declared_part_count(const TABLE* table, const KEY& key) {
  const uint32_t count = key.user_defined_key_parts;
  const bool has_row_end = count > 1 && table->versioned() &&
                           key.key_part[count - 1].fieldnr - 1U == table->vers_end_field()->field_index;
  return has_row_end ? count - 1 : count;
}

/// The index allows no two current rows that are equal in these columns, which are all of its own.
bool is_unique_over(const TABLE* table, const KEY& key, std::string_view wanted) {
  if ((key.flags & HA_NOSAME) == 0) {
    return false;
  }
  for (uint32_t part = 0; part < declared_part_count(table, key); ++part) {
    const KEY_PART_INFO& info = key.key_part[part];
    const std::string_view name = wanted.substr(0, wanted.find(','));
    if ((info.key_part_flag & HA_PART_KEY_SEG) != 0 ||
        !same_name(table->field[info.fieldnr - 1]->field_name, name)) {
      return false;
    }
    wanted.remove_prefix(std::min(name.size() + 1, wanted.size()));
  }
  return wanted.empty();
}

/// The same, and whichever columns they are.
bool is_unique_over(const TABLE* table, const KEY& key, uint32_t part_count) {
  return (key.flags & HA_NOSAME) != 0 && declared_part_count(table, key) == part_count &&
         std::none_of(key.key_part, key.key_part + part_count,
                      [](const KEY_PART_INFO& info) { return (info.key_part_flag & HA_PART_KEY_SEG) != 0; });
}

/// As SELECT * has them.
void find_all_columns(const TABLE* table, std::vector<uint16_t>& numbers) {
  numbers.clear();
  for (Field** field = table->field; *field != nullptr; ++field) {
    if ((*field)->invisible == VISIBLE) {
      numbers.push_back((*field)->field_index);
    }
  }
}

/// Null if there is none. What the server keeps for itself, such as the hash of a long unique key, has a name
/// that SQL does not know.
const Field* find_column(const TABLE* table, std::string_view name) {
  for (Field** field = table->field; *field != nullptr; ++field) {
    if ((*field)->invisible != INVISIBLE_FULL && same_name((*field)->field_name, name)) {
      return *field;
    }
  }
  return nullptr;
}

Error find_columns(const TABLE* table, std::string_view names, std::vector<uint16_t>& numbers) {
  numbers.clear();
  while (!names.empty()) {
    const size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    const Field* const field = find_column(table, name);
    if (field == nullptr) {
      return Error(ErrorCode::no_such_column, "no column '" + std::string(name) + "'" + in_table(table));
    }
    numbers.push_back(field->field_index);
    if (comma == std::string_view::npos) {
      break;
    }
    names.remove_prefix(comma + 1);
    if (names.empty()) {
      return Error(ErrorCode::no_such_column, "the list of columns ends with a comma");
    }
  }
  return {};
}

Error require_integers(const TABLE* table, const std::vector<uint16_t>& numbers) {
  for (const uint16_t number : numbers) {
    const Field* const field = table->field[number];
    if (!is_whole_number_column(field) || field->real_type() == MYSQL_TYPE_BIT) {
      return Error(ErrorCode::no_such_column, std::string("column '") + field->field_name.str + "'" +
                                                  in_table(table) + " is no integer column");
    }
  }
  return {};
}

/// In the server's time zone two moments may have the same text.
bool clock_may_go_back(const TABLE* table) {
  const Time_zone* const zone = table->in_use->variables.time_zone;
  const std::string_view name(zone->get_name()->ptr(), zone->get_name()->length());
  if (name == "SYSTEM") {
    return daylight != 0;
  }
  return name != "UTC" && !name.starts_with('+') && !name.starts_with('-');
}

/// The first column whose rows may stand elsewhere in the index than their values, given as text, do: a FLOAT
/// shows fewer digits than it has, a CHAR that does not pad stands there with spaces.
const Field* first_apart_from_text(TABLE* table, const KEY& index) {
  for (uint part = 0; part < declared_part_count(table, index); ++part) {
    const Field* const field = table->field[index.key_part[part].fieldnr - 1];
    const enum_field_types type = field->type();
    if (type == MYSQL_TYPE_FLOAT || is_trimmed_char(field) ||
        (type == MYSQL_TYPE_TIMESTAMP && clock_may_go_back(table))) {
      return field;
    }
  }
  return nullptr;
}

}  // namespace

Error Binding::resolve_names(const engine::SelectionDescription& description, TABLE* table) {
  if (!find_key(table, description.index, key_number) || !table->s->keys_in_use.is_set(key_number)) {
    return Error(ErrorCode::no_such_index, "no index '" + description.index + "'" + in_table(table));
  }
  if (has_no_order(table->key_info[key_number])) {
    return Error(ErrorCode::no_such_index, "index '" + description.index + "' has no order to walk");
  }
  if (!description.unique_columns.empty() &&
      !is_unique_over(table, table->key_info[key_number], description.unique_columns)) {
    return Error(ErrorCode::no_such_index,
                 "index '" + description.index + "' is not unique over " + description.unique_columns);
  }
  const KEY& index = table->key_info[key_number];
  index_name.assign(index.name.str, index.name.length);
  const bool is_of_whole_key = description.key_columns_first && description.unique_key_parts == 0;
  if (const uint32_t parts =
          is_of_whole_key ? declared_part_count(table, index) : description.unique_key_parts;
      parts > 0 && !is_unique_over(table, index, parts)) {
    return Error(ErrorCode::no_such_index, "index '" + description.index + "'" + in_table(table) +
                                               " is not unique over " + std::to_string(parts) +
                                               (parts == 1 ? " column" : " columns"));
  }
  if (const Field* const field = description.walked_in_steps ? first_apart_from_text(table, index) : nullptr;
      field != nullptr) {
    return Error(ErrorCode::no_such_index, "index '" + description.index + "'" + in_table(table) +
                                               " is not in the order of the texts of column '" +
                                               field->field_name.str + "'");
  }
  if (Error error = find_columns(table, description.columns, column_numbers_); !error.ok()) {
    return error;
  }
  if (description.key_columns_first) {
    std::vector<uint16_t> key_columns;
    for (uint32_t part = 0; part < declared_part_count(table, index); ++part) {
      key_columns.push_back(static_cast<uint16_t>(index.key_part[part].fieldnr - 1));
    }
    column_numbers_.insert(column_numbers_.begin(), key_columns.begin(), key_columns.end());
  }
  if (description.all_columns) {
    find_all_columns(table, column_numbers_);
  }
  if (Error error = find_columns(table, description.filter_columns, filter_numbers_);
      !error.ok() || !description.integer_filters) {
    return error;
  }
  return require_integers(table, filter_numbers_);
}

}  // namespace rowsocket::mariadb
