// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: lines that can be read, and what a request is in words.
//
//   in a line       byte
//   (space)         TAB
//   ~               00, NULL where it stands alone
//   ^               01, so that ^I is an escaped TAB, as in caret notation
//   %               a space
//   $               LF
//
//   5 = 2 a ~ 1 0$  ->  find 5 = (a, NULL) limit 1 offset 0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "request/request.h"
#include "wire/handlersocket/reply.h"

namespace rowsocket::wire::handlersocket::test {

[[nodiscard]] inline std::string bytes_of(std::string_view readable) {
  constexpr std::string_view from = " ~^%$";
  constexpr std::string_view to{"\t\0\x01 \n", from.size()};
  std::string bytes(readable);
  for (char& byte : bytes) {
    if (const size_t at = from.find(byte); at != std::string_view::npos) {
      byte = to[at];
    }
  }
  return bytes;
}

/// Printable bytes as they are, the others as <hex>.
[[nodiscard]] inline std::string printable(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    if (number >= 0x20 && number < 0x7F) {
      text += byte;
    } else {
      text += {'<', digits[number >> 4U], digits[number & 15U], '>'};
    }
  }
  return text;
}

[[nodiscard]] inline std::string words_of(const Value& value) {
  return value.is_null() ? "NULL" : value.is_now() ? "now" : value.size == 0 ? "''" : printable(value.view());
}

[[nodiscard]] inline std::string words_of(std::span<const Value> values) {
  std::string text = "(";
  for (const Value& value : values) {
    text += (text.size() > 1 ? ", " : "") + words_of(value);
  }
  return text + ")";
}

[[nodiscard]] inline std::string_view words_of(KeyOperator key_operator) {
  constexpr std::string_view words[] = {"=", ">", ">=", "<", "<=", "^="};
  return words[static_cast<size_t>(key_operator)];
}

[[nodiscard]] inline std::string_view words_of(Comparison comparison) {
  constexpr std::string_view words[] = {"=", "!=", "<", "<=", ">", ">=", "> or unset"};
  return words[static_cast<size_t>(comparison)];
}

[[nodiscard]] inline std::string_view words_of(Mismatch mismatch) {
  constexpr std::string_view words[] = {"filter", "while", "refuse unless"};
  return words[static_cast<size_t>(mismatch)];
}

[[nodiscard]] inline std::string_view words_of(RequestKind kind) {
  constexpr std::string_view words[] = {"unknown", "nothing", "open",        "find",
                                        "insert",  "group",   "authenticate"};
  return words[static_cast<size_t>(kind)];
}

[[nodiscard]] inline std::string words_of(const SelectionNames& names) {
  std::string text = printable(names.database) + "." + printable(names.table);
  text += " index '" + printable(names.index) + "' columns '" + printable(names.columns) + "'";
  if (!names.filter_columns.empty()) {
    text += " filter columns '" + printable(names.filter_columns) + "'";
  }
  return text + (names.raw ? " raw" : "");
}

[[nodiscard]] inline std::string words_of_id(uint32_t id) {
  return id == static_cast<uint32_t>(-1) ? " -" : " " + std::to_string(id);
}

[[nodiscard]] inline std::string words_of_columns(const SelectionName& selection) {
  return selection.has_columns ? " columns '" + printable(selection.columns) + "'" : "";
}

/// What one modification of the protocol does to each of its columns.
[[nodiscard]] inline std::string words_of(Operation operation, bool keeps_signs) {
  if (operation == Operation::set && !keeps_signs) {
    return "update";
  }
  if (operation == Operation::add && !keeps_signs) {
    return "increment";
  }
  if (operation == Operation::subtract && keeps_signs) {
    return "decrement";
  }
  return "none of the protocol's modifications";
}

/// The values for the first columns. All of them have the same operation, which stands before them.
[[nodiscard]] inline std::string words_of_assignments(const Change& change) {
  const Operation operation = change.assignments.empty() ? Operation::set : change.assignments[0].operation;
  std::string text = words_of(operation, change.keeps_signs) + " (";
  for (size_t position = 0; position < change.assignments.size(); ++position) {
    const Assignment& assignment = change.assignments[position];
    text += (position > 0 ? ", " : "") + words_of(assignment.value);
    text += assignment.column == position ? "" : " in column " + std::to_string(assignment.column);
    text += assignment.operation == operation ? "" : " by another operation";
  }
  return text + ")";
}

[[nodiscard]] inline std::string words_of_change(const Find& find) {
  if (find.change.kind == Change::Kind::none) {
    return find.tell == Tell::count ? " counting" : "";
  }
  const std::string text =
      " " + (find.change.kind == Change::Kind::remove ? "delete ()" : words_of_assignments(find.change));
  constexpr std::string_view told[] = {" returning", " returning new", ""};
  return text + std::string(told[static_cast<size_t>(find.tell)]);
}

[[nodiscard]] inline std::string words_of_find(const Find& find) {
  std::string text = std::string(words_of(find.range.key_operator)) + " " + words_of(find.range.key);
  if (find.range.has_end) {
    text += " to " + std::string(words_of(find.range.end_operator)) + " " + words_of(find.range.end_key);
  }
  text += find.range.reverse ? " reverse" : "";
  text += " limit " + std::to_string(find.limit) + " offset " + std::to_string(find.offset);
  if (find.list.is_given) {
    text += find.list.holds_whole_keys ? " keys" : " in " + std::to_string(find.list.part);
    text += " " + words_of(find.list.values);
  }
  if (find.list.row_limit_per_key != 0) {
    text += " limit per value " + std::to_string(find.list.row_limit_per_key);
  }
  for (const Filter& filter : find.filters) {
    text += " " + std::string(words_of(filter.mismatch)) + " " + std::to_string(filter.filter_column);
    text += " " + std::string(words_of(filter.comparison)) + " " + words_of(filter.value);
  }
  return text + words_of_columns(find.selection) + words_of_change(find);
}

[[nodiscard]] inline std::string words_of_positions(std::string_view what, Operation operation,
                                                    const Insert& insert) {
  std::string text;
  for (const DuplicateChange& change : insert.duplicate_changes) {
    if (change.operation == operation) {
      text += (text.empty() ? " " + std::string(what) + " " : ",") + std::to_string(change.position);
    }
  }
  return text;
}

[[nodiscard]] inline std::string words_of_insert(const Insert& insert) {
  if (dynamic_cast<const OutcomesReply*>(insert.reply) == nullptr) {
    return words_of(insert.values);
  }
  constexpr std::string_view on_duplicate[] = {"", " keep", " replace", ""};
  std::string text = std::to_string(insert.row_count) + " rows " + words_of(insert.values);
  text += words_of_columns(insert.selection) +
          std::string(on_duplicate[static_cast<size_t>(insert.on_duplicate)]);
  text +=
      words_of_positions("set", Operation::set, insert) + words_of_positions("add", Operation::add, insert);
  return text + (insert.rows_alone ? " each alone" : "");
}

[[nodiscard]] inline std::string words_of(const Request& request);

[[nodiscard]] inline std::string words_of_group(const Group& group) {
  std::string text = std::string(group.must_change ? " must" : "") + (group.wants_gtid ? " gtid" : "") + " {";
  for (const Request* const member : group.members) {
    text += (text.ends_with('{') ? "" : "; ") + words_of(*member);
  }
  return text + "}";
}

inline std::string words_of(const std::string& kind, const Authenticate& request) {
  const bool has_user = request.method == Authenticate::Method::account;
  return kind + (has_user ? " as " + words_of(request.user) : "") + " " + words_of(request.password);
}

/// The whole request; of a wrong one the kind, the id and the mistake, of a wrong group how many members its
/// reply answers as well.
[[nodiscard]] inline std::string words_of(const Request& request) {
  std::string text(words_of(request.kind));
  if (request.kind == RequestKind::open) {
    text += words_of_id(static_cast<const Open&>(request).id);
  } else if (request.kind == RequestKind::find || request.kind == RequestKind::insert) {
    text += words_of_id(selection_of(request).id);
  }
  if (request.mistake != ErrorCode::none) {
    if (request.kind == RequestKind::group) {
      text += " of " + std::to_string(dynamic_cast<const GroupReply&>(*request.reply).member_count());
    }
    return text + ": " + std::string(error_name(request.mistake));
  }
  switch (request.kind) {
    case RequestKind::open:
      return text + " " + words_of(static_cast<const Open&>(request).names) +
             (static_cast<const Open&>(request).tells_types ? " types" : "");
    case RequestKind::find:
      return text + " " + words_of_find(static_cast<const Find&>(request));
    case RequestKind::insert:
      return text + " " + words_of_insert(static_cast<const Insert&>(request));
    case RequestKind::group:
      return text + words_of_group(static_cast<const Group&>(request));
    case RequestKind::authenticate:
      return words_of(text, static_cast<const Authenticate&>(request));
    case RequestKind::refused:
    case RequestKind::nothing:
      break;
  }
  return text;
}

}  // namespace rowsocket::wire::handlersocket::test
