// SPDX-License-Identifier: GPL-2.0-only
//
// SCAN: keys of a container, or of a table by its primary key. A step is a range of the key: it begins behind
// the row where the step before ended, so that each row which is there from the first step to the last is
// told, whatever happens to others meanwhile.
//
//   SCAN cursor [MATCH pattern] [COUNT n] [TYPE type]
//
// The pattern's beginning says what is scanned: `@@city.*` a container, `shop.user:*` a table, all others the
// default container. Values of the first key columns that stand whole in it are the range's ends.
#include <algorithm>
#include <charconv>
#include <new>

#include "base/limits.h"
#include "wire/resp/commands.h"
#include "wire/resp/glob.h"
#include "wire/resp/scan_places.h"
#include "wire/resp/scan_reply.h"

namespace rowsocket::wire::resp {
namespace {

struct Scan {
  uint64_t cursor = 0;
  uint64_t row_limit = limits::scan_rows_default;
  std::string_view pattern = "*";
  std::string_view type = {};

  // What is scanned.
  const Container* container = nullptr;  ///< nullptr: a table
  const SelectionNames* names = nullptr;
  std::string_view rows = {};
  std::string_view lead = {};
  std::span<const Value> given = {};       ///< of the first key columns
  std::optional<uint64_t> key_shape = {};  ///< that the index had at the step before
};

/// False: the plan refuses the command.
bool take_options(Arguments arguments, Scan& scan, Plan& plan) {
  std::string_view cursor = arguments[1];
  if (cursor.size() > 1 && cursor[0] == '+' && cursor[1] != '-') {
    cursor.remove_prefix(1);
  }
  const char* const cursor_end = cursor.data() + cursor.size();
  const auto parsed = std::from_chars(cursor.data(), cursor_end, scan.cursor);
  // An empty one is the beginning.
  if (!cursor.empty() && (parsed.ec != std::errc() || parsed.ptr != cursor_end)) {
    plan.refuse("-ERR invalid cursor");
    return false;
  }
  for (size_t at = 2; at < arguments.size(); at += 2) {
    int64_t count = 0;
    const bool has_value = at + 1 < arguments.size();
    if (has_value && is_word(arguments[at], "MATCH")) {
      scan.pattern = arguments[at + 1];
      if (scan.pattern.size() > limits::scan_pattern_bytes_max) {
        plan.refuse("-ERR the pattern is too long");
        return false;
      }
    } else if (has_value && is_word(arguments[at], "TYPE")) {
      scan.type = arguments[at + 1];
    } else if (has_value && is_word(arguments[at], "COUNT") && !parse_integer(arguments[at + 1], count)) {
      plan.refuse(not_an_integer);
      return false;
    } else if (count < 1) {
      plan.refuse(syntax_error);
      return false;
    } else {
      scan.row_limit = std::min(static_cast<uint64_t>(count), uint64_t{limits::scan_rows_max});
    }
  }
  return true;
}

/// The values at the beginning of `text` that a separator follows, `count_max` of them at most. False where
/// memory is refused.
bool take_given(const Scope& scope, std::string_view text, char separator, size_t count_max, Scan& scan) {
  const auto whole = static_cast<size_t>(std::count(text.begin(), text.end(), separator));
  const auto given = scope.arena().array<Value>(std::min(whole, count_max));
  if (given.empty()) {
    return std::min(whole, count_max) == 0;
  }
  for (Value& value : given) {
    value = Value(text.substr(0, text.find(separator)));
    text.remove_prefix(value.size + 1);
  }
  scan.given = given;
  return true;
}

/// False: the plan refuses the command.
bool take_container(const Scope& scope, std::string_view beginning, Scan& scan, Plan& plan) {
  if (beginning.starts_with("@@")) {
    if (beginning.find('.') == std::string_view::npos) {
      plan.refuse("-ERR SCAN is of one container: MATCH @@name.*");
      return false;
    }
    scan.lead = beginning.substr(0, beginning.find('.') + 1);
  }
  Key key;
  if (!take_container_of_key(scope, beginning, key, plan)) {
    return false;
  }
  const Container& container = *key.container();
  scan.container = &container;
  scan.names = &container.keys;
  const std::string_view parts[] = {"@@", container.name};
  scan.rows = joined(scope, parts, {});
  if (scan.rows.empty() || !take_given(scope, beginning.substr(scan.lead.size()), container_separator,
                                       container.key_part_count - 1, scan)) {
    plan.add(nullptr);
    return false;
  }
  return true;
}

/// False: the plan refuses the command.
bool take_table_of_scan(const Scope& scope, std::string_view beginning, size_t names_end, Scan& scan,
                        Plan& plan) {
  scan.lead = beginning.substr(0, names_end + 1);
  auto* const names = scope.arena().make<SelectionNames>();
  if (names == nullptr) {
    plan.add(nullptr);
    return false;
  }
  if (!take_table(scope, beginning.substr(0, names_end), *names, plan)) {
    return false;
  }
  if (!names->index.empty()) {
    plan.refuse("-ERR SCAN walks the primary key: ROWS.FIND walks any index");
    return false;
  }
  names->key_columns_first = true;
  names->walked_in_steps = true;
  scan.names = names;
  const std::string_view parts[] = {names->database, names->table};
  scan.rows = joined(scope, parts, ".");
  if (scan.rows.empty() ||
      !take_given(scope, beginning.substr(names_end + 1), part_separator, limits::resp_key_parts_max, scan)) {
    plan.add(nullptr);
    return false;
  }
  return true;
}

/// False: the plan refuses the command.
bool take_rows(const Scope& scope, Scan& scan, Plan& plan) {
  const std::string_view beginning = literal_beginning(scan.pattern);
  size_t names_end = 0;
  return names_row(scope.state, beginning, names_end)
             ? take_table_of_scan(scope, beginning, names_end, scan, plan)
             : take_container(scope, beginning, scan, plan);
}

/// Where the step begins. False: the plan refuses the command.
bool set_range(const Scope& scope, Scan& scan, KeyRange& range, Plan& plan) {
  range.key_operator = KeyOperator::at_or_after;
  range.key = scan.given;
  range.has_end = !scan.given.empty();
  range.end_key = scan.given;
  range.may_be_open = true;
  range.exact_values = true;
  if (scan.cursor == 0) {
    return true;
  }
  try {
    const std::optional<ScanPlaces::Place> place = ScanPlaces::all().find(scan.cursor);
    if (!place.has_value() || place->rows != scan.rows) {
      plan.refuse(no_such_cursor);
      return false;
    }
    const auto key = scope.arena().array<Value>(place->key.size());
    bool is_whole = !key.empty();
    for (size_t part = 0; is_whole && part < place->key.size(); ++part) {
      if (place->key[part].has_value()) {
        const std::string_view copy = scope.arena().copy_of_text(*place->key[part]);
        key[part] = {copy.data(), copy.size()};
        is_whole = !key[part].is_null();
      }
    }
    if (!is_whole) {
      plan.add(nullptr);
      return false;
    }
    range.key_operator = KeyOperator::after;
    range.key = key;
    scan.key_shape = place->key_shape;
    return true;
  } catch (const std::bad_alloc&) {
    plan.add(nullptr);
    return false;
  }
}

}  // namespace

void plan_scan(const Scope& scope, Arguments arguments, Plan& plan) {
  Scan scan;
  if (!take_options(arguments, scan, plan) || !take_rows(scope, scan, plan)) {
    return;
  }
  if (!scan.type.empty() && !is_word(scan.type, scan.container != nullptr ? "STRING" : "HASH")) {
    plan.answer("*2\r\n$1\r\n0\r\n*0");
    return;
  }
  Find* const find = scan.container != nullptr ? find_in_container(scope, *scan.container, *scan.names, {})
                                               : find_by_names(scope, scan.names, {});
  const auto ends = scope.arena().array<ColumnEnd>(limits::resp_key_parts_max);
  auto* const column_count = scope.arena().make<uint32_t>(0);
  if (find == nullptr || ends.empty() || column_count == nullptr) {
    plan.add(nullptr);
    return;
  }
  if (!set_range(scope, scan, find->range, plan)) {
    return;
  }
  find->limit = scan.row_limit;
  plan.add(with_reply<ScanReply>(scope, find, scan.container,
                                 ScanReply::Shape{.rows = scan.rows,
                                                  .lead = scan.lead,
                                                  .pattern = scan.pattern,
                                                  .is_of_table = scan.container == nullptr,
                                                  .state = &scope.state,
                                                  .row_limit = scan.row_limit,
                                                  .key_shape = scan.key_shape,
                                                  .unix_time_us = scope.now_us(),
                                                  .own_places = &scope.state.own_scan_places,
                                                  .ends = ends,
                                                  .column_count = column_count}));
}

}  // namespace rowsocket::wire::resp
