// SPDX-License-Identifier: GPL-2.0-only
//
// A protocol for exec's tests and fuzzing, so that they need no wire: replies as text, one line each.
// Requests it does not parse.
//
//   ok                          = 3 (rows changed, or a new id)
//   rows/2 1 pen 2 ink          two columns, values in a row; NULL stands for NULL
//   text 0-1-7                  one value
//   rows/2 1#12 0# !121         what came of the rows of an insert: rows affected, and the id where there is
//   one; or an error error engine 121            error not_authenticated
#pragma once

#include <string>
#include <string_view>

#include "request/protocol.h"

namespace rowsocket::exec {

inline std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::unknown_command:
      return "unknown_command";
    case ErrorCode::unknown_index_id:
      return "unknown_index_id";
    case ErrorCode::no_key_values:
      return "no_key_values";
    case ErrorCode::too_many_values:
      return "too_many_values";
    case ErrorCode::too_many_key_parts:
      return "too_many_key_parts";
    case ErrorCode::no_such_index:
      return "no_such_index";
    case ErrorCode::no_such_column:
      return "no_such_column";
    case ErrorCode::bad_in_list:
      return "bad_in_list";
    case ErrorCode::bad_filter_column:
      return "bad_filter_column";
    case ErrorCode::read_only:
      return "read_only";
    case ErrorCode::syntax:
      return "syntax";
    case ErrorCode::line_too_long:
      return "line_too_long";
    case ErrorCode::reply_too_large:
      return "reply_too_large";
    case ErrorCode::not_authenticated:
      return "not_authenticated";
    case ErrorCode::bad_authentication_type:
      return "bad_authentication_type";
    case ErrorCode::cannot_open_table:
      return "cannot_open_table";
    case ErrorCode::cannot_lock_table:
      return "cannot_lock_table";
    case ErrorCode::engine:
      return "engine";
    case ErrorCode::sql:
      return "sql";
    case ErrorCode::not_in_group:
      return "not_in_group";
    case ErrorCode::undone_with_group:
      return "undone_with_group";
    case ErrorCode::nothing_changed:
      return "nothing_changed";
    case ErrorCode::no_transactions:
      return "no_transactions";
    case ErrorCode::bad_operator:
      return "bad_operator";
    case ErrorCode::commit_failed:
      return "commit_failed";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    default:
      return "other";
  }
}

/// Like a protocol inside the server it allocates nothing but what the buffer does.
class TextProtocol final : public Protocol {
 public:
  [[nodiscard]] std::string_view name() const override { return "text"; }
  [[nodiscard]] Parsed parse(std::string_view, const ParseLimits&, Arena&, size_t&, Request&) const override {
    return {Parsed::Status::fatal, 0};  // tests build requests in words
  }
  void reply_ok(Buffer& out) const override { out.append("ok\n"); }
  void reply_number(Buffer& out, uint64_t number) const override {
    out.append('=');
    ValueWriter(out, format_).unsigned_integer(number);
    out.append('\n');
  }
  void reply_text(Buffer& out, std::string_view text) const override {
    out.append("text ");
    out.append(text);
    out.append('\n');
  }
  void append_outcome(Buffer& out, const RowOutcome& outcome) const override {
    ValueWriter writer(out, format_);
    if (!outcome.error.ok()) {
      writer.plain(outcome.error.number != 0 ? "!" + std::to_string(outcome.error.number)
                                             : "!" + std::string(name_of(outcome.error.code)));
      return;
    }
    writer.plain(std::to_string(outcome.rows_affected) + "#" +
                 (outcome.has_id ? std::to_string(outcome.id) : ""));
  }
  void begin_rows(Buffer& out, size_t column_count) const override {
    out.append("rows");
    ValueWriter(out, slash_format_).unsigned_integer(column_count);
  }
  void end_rows(Buffer& out) const override { out.append('\n'); }
  void reply_error(Buffer& out, const Error& error, bool with_detail) const override {
    out.append("error ");
    out.append(name_of(error.code));
    if (error.number != 0) {
      ValueWriter(out, format_).integer(error.number);
    }
    if (with_detail) {
      out.append(" (");
      out.append(error.detail);
      out.append(")");
    }
    out.append('\n');
  }
  [[nodiscard]] const ValueFormat& value_format() const override { return format_; }

 private:
  ValueFormat format_{' ', "NULL", 0, '\\', 0};
  ValueFormat slash_format_{'/', "NULL", 0, '\\', 0};
};

}  // namespace rowsocket::exec
