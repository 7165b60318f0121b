// SPDX-License-Identifier: GPL-2.0-only
//
// For tests of protocols that address tables by names: all that a request says, in words, and all that its
// reply says of what may come of it. What a field says by default is left out.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "request/request.h"

namespace rowsocket::test {

namespace whole {

inline std::string_view part(bool is_there, std::string_view text) {
  return is_there ? text : std::string_view();
}

inline std::string of(const Value& value) {
  return value.is_null() ? "NULL" : value.is_now() ? "NOW" : "'" + std::string(value.view()) + "'";
}

inline std::string of(std::span<const Value> values) {
  std::string words = "(";
  for (const Value& value : values) {
    words += (words.size() > 1 ? " " : "") + of(value);
  }
  return words + ")";
}

inline std::string of(const SelectionNames& names) {
  std::string words = std::string(names.database) + "." + std::string(names.table);
  words += "@" + std::string(names.index) + "[" + std::string(names.columns) + "]";
  if (!names.filter_columns.empty()) {
    words += " by[" + std::string(names.filter_columns) + "]";
  }
  if (!names.unique_columns.empty()) {
    words += " unique[" + std::string(names.unique_columns) + "]";
  }
  if (names.unique_key_parts != 0) {
    words += " unique " + std::to_string(names.unique_key_parts);
  }
  words += part(names.raw, " raw");
  words += part(names.key_columns_first, " key-first");
  words += part(names.integer_filters, " integers");
  words += part(names.walked_in_steps, " steps");
  words += part(names.all_columns, " all");
  return words;
}

inline std::string of(const SelectionName& selection) {
  std::string words =
      selection.names == nullptr ? "id " + std::to_string(selection.id) : of(*selection.names);
  return words + (selection.has_columns ? " columns[" + std::string(selection.columns) + "]" : "");
}

inline std::string of(KeyOperator key_operator) {
  constexpr std::string_view words[] = {"=", ">", ">=", "<", "<=", "^="};
  return std::string(words[static_cast<size_t>(key_operator)]);
}

inline std::string of(const KeyRange& range) {
  std::string words = of(range.key_operator) + of(range.key);
  if (range.has_end) {
    words += " to " + of(range.end_operator) + of(range.end_key);
  }
  words += part(range.reverse, " reverse");
  words += part(range.may_be_open, " open");
  words += part(range.exact_values, " exact");
  return words;
}

inline std::string of(const KeyList& list) {
  if (!list.is_given) {
    return {};
  }
  std::string words = list.holds_whole_keys ? " keys" : " in " + std::to_string(list.part);
  words += of(list.values);
  return words + (list.row_limit_per_key == 0 ? "" : " each " + std::to_string(list.row_limit_per_key));
}

inline std::string of(std::span<const Filter> filters) {
  constexpr std::string_view mismatches[] = {" skip", " stop", " refuse"};
  constexpr std::string_view comparisons[] = {"=", "!=", "<", "<=", ">", ">=", ">|unset"};
  std::string words;
  for (const Filter& filter : filters) {
    words += mismatches[static_cast<size_t>(filter.mismatch)];
    words += " unless " + std::to_string(filter.filter_column);
    words += comparisons[static_cast<size_t>(filter.comparison)];
    words += of(filter.value);
  }
  return words;
}

inline std::string of(Operation operation) {
  constexpr std::string_view words[] = {"=",     "+",     "-",      "+from0", "+whole",
                                        "+wrap", "-zero", "append", "prepend"};
  return std::string(words[static_cast<size_t>(operation)]);
}

inline std::string of(const Change& change) {
  std::string words;
  if (change.kind == Change::Kind::remove) {
    words = " delete";
  }
  if (change.kind == Change::Kind::assign) {
    words = " set";
    for (const Assignment& one : change.assignments) {
      words += " " + std::to_string(one.column) + of(one.operation) + of(one.value);
    }
  }
  words += part(change.keeps_signs, " keeping signs");
  words += part(change.is_increment, " as increment");
  return words;
}

inline std::string of(std::string_view what, std::span<const DuplicateChange> changes) {
  std::string words;
  for (const DuplicateChange& one : changes) {
    words += (words.empty() ? " " + std::string(what) : "") + " " + std::to_string(one.position) +
             of(one.operation);
  }
  return words;
}

/// What all kinds have.
inline std::string of_all_kinds(const Request& request) {
  std::string words;
  if (request.mistake != ErrorCode::none) {
    words += " mistake " + std::string(error_name(request.mistake));
  }
  words += part(request.is_lenient, " lenient");
  words += part(request.changes_state, " changes-state");
  words += part(request.for_readers, " for-readers");
  if (request.reply != nullptr) {
    words += part(request.reply->tells_rows(), " rows");
    words += part(request.reply->tells_misses(), " misses");
    words += part(request.reply->asks_key_shape(), " shape");
    words += part(request.reply->counts(), " counts");
  }
  return words;
}

inline std::string of(const Insert& insert, const Reply* reply_of_find) {
  constexpr std::string_view on_duplicate[] = {" fail", " keep", " replace", " change"};
  std::string words = "insert " + of(insert.selection) + " " + of(insert.values);
  words += insert.row_count == 1 ? "" : " in rows " + std::to_string(insert.row_count);
  words += on_duplicate[static_cast<size_t>(insert.on_duplicate)];
  words += of("set", insert.duplicate_changes) + of(insert.duplicate_filters);
  words += of("else", insert.mismatch_changes);
  words += part(insert.names_row, " names-row");
  words += insert.order.empty() ? "" : " ordered " + std::to_string(insert.order.size());
  words += part(insert.rows_alone, " alone");
  words += part(insert.tells_rows, " telling");
  words += part(insert.drops_surplus, " dropping");
  words += part(reply_of_find != nullptr && insert.reply != reply_of_find, " with another reply");
  return insert.reply == reply_of_find ? words : words + of_all_kinds(insert);
}

inline std::string of(const Find& find) {
  constexpr std::string_view tells[] = {" tell", " tell-after", " count"};
  std::string words = "find " + of(find.selection) + " " + of(find.range) + of(find.list);
  words += find.limit == 1 ? "" : " limit " + std::to_string(find.limit);
  words += find.offset == 0 ? "" : " offset " + std::to_string(find.offset);
  words += of(find.filters) + of(find.change);
  words += tells[static_cast<size_t>(find.tell)];
  words += part(find.drops_surplus, " dropping");
  words += of_all_kinds(find);
  return find.otherwise == nullptr ? words : words + " else " + of(*find.otherwise, find.reply);
}

}  // namespace whole

[[nodiscard]] inline std::string whole_request(const Request& request) {
  switch (request.kind) {
    case RequestKind::find:
      return whole::of(static_cast<const Find&>(request));
    case RequestKind::insert:
      return whole::of(static_cast<const Insert&>(request), nullptr);
    case RequestKind::group: {
      const auto& group = static_cast<const Group&>(request);
      std::string words = "group" + std::string(whole::part(group.must_change, " must")) +
                          std::string(whole::part(group.wants_gtid, " gtid")) + whole::of_all_kinds(request);
      for (const Request* const member : group.members) {
        words += " {" + whole_request(*member) + "}";
      }
      return words;
    }
    case RequestKind::open:
      return "open " + whole::of(static_cast<const Open&>(request).names) + whole::of_all_kinds(request);
    case RequestKind::authenticate: {
      constexpr std::string_view methods[] = {"secret", "account", "secret-or-account", "nobody"};
      const auto& login = static_cast<const Authenticate&>(request);
      return "authenticate " + std::string(methods[static_cast<size_t>(login.method)]) + " " +
             whole::of(login.user) + " " + whole::of(login.password) + whole::of_all_kinds(request);
    }
    case RequestKind::refused:
      return "refused" + whole::of_all_kinds(request);
    case RequestKind::nothing:
      return "nothing" + whole::of_all_kinds(request);
  }
  return {};
}

}  // namespace rowsocket::test
