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

#include <string>
#include <string_view>

#include "request/request.h"

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

[[nodiscard]] inline std::string words_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::none:
      return "none";
    case ErrorCode::unknown_command:
      return "unknown_command";
    case ErrorCode::unknown_index_id:
      return "unknown_index_id";
    case ErrorCode::bad_operator:
      return "bad_operator";
    case ErrorCode::bad_modification:
      return "bad_modification";
    case ErrorCode::no_key_values:
      return "no_key_values";
    case ErrorCode::too_many_values:
      return "too_many_values";
    case ErrorCode::too_many_key_parts:
      return "too_many_key_parts";
    case ErrorCode::bad_in_list:
      return "bad_in_list";
    case ErrorCode::bad_filter_type:
      return "bad_filter_type";
    case ErrorCode::syntax:
      return "syntax";
    case ErrorCode::line_too_long:
      return "line_too_long";
    case ErrorCode::not_implemented:
      return "not_implemented";
    case ErrorCode::not_in_group:
      return "not_in_group";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    default:
      return "error " + std::to_string(static_cast<int>(code));
  }
}

[[nodiscard]] inline std::string_view words_of(KeyOperator key_operator) {
  constexpr std::string_view words[] = {"=", ">", ">=", "<", "<=", "^="};
  return words[static_cast<size_t>(key_operator)];
}

[[nodiscard]] inline std::string_view words_of(Comparison comparison) {
  constexpr std::string_view words[] = {"=", "!=", "<", "<=", ">", ">="};
  return words[static_cast<size_t>(comparison)];
}

[[nodiscard]] inline std::string_view words_of(Modification modification) {
  constexpr std::string_view words[] = {"none", "update", "delete", "increment", "decrement"};
  return words[static_cast<size_t>(modification)];
}

[[nodiscard]] inline std::string_view words_of(RequestKind kind) {
  constexpr std::string_view words[] = {"unknown", "open", "find", "insert", "authenticate", "group"};
  return words[static_cast<size_t>(kind)];
}

[[nodiscard]] inline std::string words_of_open(const OpenIndexRequest& open) {
  std::string text = printable(open.database) + "." + printable(open.table);
  text += " index '" + printable(open.index) + "' columns '" + printable(open.columns) + "'";
  if (!open.filter_columns.empty()) {
    text += " filter columns '" + printable(open.filter_columns) + "'";
  }
  return text + (open.raw ? " raw" : "");
}

[[nodiscard]] inline std::string words_of_columns(const Request& request) {
  return request.has_columns ? " columns '" + printable(request.columns) + "'" : "";
}

[[nodiscard]] inline std::string words_of_modification(const Request& request) {
  if (request.modification == Modification::none) {
    return request.reply == FindReply::count ? " counting" : "";
  }
  std::string text = " " + std::string(words_of(request.modification)) + " " + words_of(request.new_values);
  if (request.reply != FindReply::count) {
    text += request.reply == FindReply::rows ? " returning" : " returning new";
  }
  return text;
}

[[nodiscard]] inline std::string words_of_find(const Request& request) {
  std::string text = std::string(words_of(request.key_operator)) + " " + words_of(request.values);
  if (request.has_end) {
    text += " to " + std::string(words_of(request.end_operator)) + " " + words_of(request.end_values);
  }
  text += request.reverse ? " reverse" : "";
  text += " limit " + std::to_string(request.limit) + " offset " + std::to_string(request.offset);
  if (request.has_in_list) {
    text += request.lists_whole_keys ? " keys" : " in " + std::to_string(request.in_key_part);
    text += " " + words_of(request.in_values);
  }
  if (request.limit_per_value != 0) {
    text += " limit per value " + std::to_string(request.limit_per_value);
  }
  for (const Filter& filter : request.filters) {
    text += filter.stop_at_mismatch ? " while " : " filter ";
    text += std::to_string(filter.filter_column) + " " + std::string(words_of(filter.comparison)) + " " + words_of(filter.value);
  }
  return text + words_of_columns(request) + words_of_modification(request);
}

[[nodiscard]] inline std::string words_of_positions(std::string_view what, std::span<const uint32_t> positions) {
  std::string text;
  for (const uint32_t position : positions) {
    text += (text.empty() ? " " + std::string(what) + " " : ",") + std::to_string(position);
  }
  return text;
}

[[nodiscard]] inline std::string words_of_insert(const Request& request) {
  if (!request.reply_outcomes) {
    return words_of(request.values);
  }
  constexpr std::string_view on_duplicate[] = {"", " keep", " replace", ""};
  std::string text = std::to_string(request.row_count) + " rows " + words_of(request.values);
  text += words_of_columns(request) + std::string(on_duplicate[static_cast<size_t>(request.on_duplicate)]);
  text += words_of_positions("set", request.set_on_duplicate) + words_of_positions("add", request.add_on_duplicate);
  return text + (request.rows_alone ? " each alone" : "");
}

[[nodiscard]] inline std::string words_of(const Request& request);

[[nodiscard]] inline std::string words_of_group(const Request& group) {
  std::string text = std::string(group.must_change ? " must" : "") + (group.wants_gtid ? " gtid" : "") + " {";
  for (const Request& member : group.members) {
    text += (text.ends_with('{') ? "" : "; ") + words_of(member);
  }
  return text + "}";
}

/// The whole request; of a wrong one the kind, the id and the error, of a wrong group how many members it has as well.
[[nodiscard]] inline std::string words_of(const Request& request) {
  std::string text(words_of(request.kind));
  if (request.kind == RequestKind::open_index || request.kind == RequestKind::find || request.kind == RequestKind::insert) {
    text += request.index_id == static_cast<uint32_t>(-1) ? " -" : " " + std::to_string(request.index_id);
  }
  if (request.parse_error != ErrorCode::none) {
    text += request.kind == RequestKind::group ? " of " + std::to_string(request.members.size()) : "";
    return text + ": " + words_of(request.parse_error);
  }
  switch (request.kind) {
    case RequestKind::open_index:
      return text + " " + words_of_open(request.open);
    case RequestKind::find:
      return text + " " + words_of_find(request);
    case RequestKind::insert:
      return text + " " + words_of_insert(request);
    case RequestKind::group:
      return text + words_of_group(request);
    case RequestKind::authenticate:
      return text + " type " + std::to_string(request.authentication_type) + " " + words_of(request.secret);
    case RequestKind::unknown:
      break;
  }
  return text;
}

}  // namespace rowsocket::wire::handlersocket::test
