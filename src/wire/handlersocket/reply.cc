// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/reply.h"

#include <charconv>
#include <limits>

namespace rowsocket::wire::handlersocket {
namespace {

/// The word for an error, or its number where it has none.
void append_error_text(Buffer& out, const Error& error) {
  const std::string_view text = error_reply(error.code).text;
  if (!text.empty()) {
    out.append(text);
    return;
  }
  char digits[std::numeric_limits<int>::digits10 + 2];
  const auto written = std::to_chars(std::begin(digits), std::end(digits), error.number);
  out.append({digits, static_cast<size_t>(written.ptr - digits)});
}

}  // namespace

void append_ok(Buffer& out) { out.append("0\t1\n"); }

void append_number(Buffer& out, uint64_t number) {
  out.append("0\t1");
  ValueWriter(out, reply_value_format).unsigned_integer(number);
  out.append('\n');
}

void append_text(Buffer& out, std::string_view text) {
  out.append("0\t1");
  ValueWriter(out, reply_value_format).text(text);
  out.append('\n');
}

void append_row_outcome(Buffer& out, const RowOutcome& outcome) {
  ValueWriter values(out, reply_value_format);
  if (outcome.error.ok()) {
    values.unsigned_integer(outcome.rows_affected);
  } else {
    values.plain("!");
    append_error_text(out, outcome.error);
  }
  if (!outcome.error.ok() || !outcome.has_id) {
    values.null();
  } else if (outcome.id_is_negative) {
    values.integer(static_cast<int64_t>(outcome.id));
  } else {
    values.unsigned_integer(outcome.id);
  }
}

void append_rows_begin(Buffer& out, size_t column_count) {
  out.append('0');
  ValueWriter(out, reply_value_format).unsigned_integer(column_count);
}

void append_rows_end(Buffer& out) { out.append('\n'); }

void append_error(Buffer& out, const Error& error, bool with_detail) {
  const ErrorReply reply = error_reply(error.code);
  ValueWriter values(out, reply_value_format);
  out.append(reply.code);
  values.plain("1");
  values.plain({});
  append_error_text(out, error);
  if (with_detail && !error.detail.empty()) {
    values.text(error.detail);
  }
  out.append('\n');
}

ErrorReply error_reply(ErrorCode code) {
  switch (code) {  // No default: the compiler names a code that is missing here.
    case ErrorCode::unknown_command:
      return {'2', "cmd"};
    case ErrorCode::unknown_index_id:
      return {'2', "stmtnum"};
    case ErrorCode::bad_operator:
      return {'2', "op"};
    case ErrorCode::bad_modification:
      return {'2', "modop"};
    case ErrorCode::no_key_values:
      return {'2', "klen"};
    case ErrorCode::too_many_values:
      return {'2', "fldnum"};
    case ErrorCode::too_many_key_parts:
      return {'2', "kpnum"};
    case ErrorCode::no_such_index:
      return {'2', "idxnum"};
    case ErrorCode::no_such_column:
      return {'2', "fld"};
    case ErrorCode::bad_in_list:
      return {'2', "invalueslen"};
    case ErrorCode::bad_filter_type:
      return {'2', "filtertype"};
    case ErrorCode::bad_filter_column:
      return {'2', "filterfld"};
    case ErrorCode::read_only:
      return {'2', "readonly"};
    case ErrorCode::syntax:
      return {'2', "syntax"};
    case ErrorCode::line_too_long:
      return {'2', "toolong"};
    case ErrorCode::reply_too_large:
      return {'2', "replylen"};
    case ErrorCode::not_implemented:
      return {'2', "notimpl"};
    case ErrorCode::not_in_group:
      return {'2', "group"};
    case ErrorCode::not_authenticated:
      return {'3', "unauth"};
    case ErrorCode::bad_authentication_type:
      return {'3', "authtype"};
    case ErrorCode::cannot_open_table:
      return {'1', "open_table"};
    case ErrorCode::cannot_lock_table:
      return {'1', "lock_tables"};
    case ErrorCode::engine:
    case ErrorCode::sql:
      return {'1', {}};
    case ErrorCode::undone_with_group:
      return {'1', "group"};
    case ErrorCode::nothing_changed:
      return {'1', "unchanged"};
    case ErrorCode::no_transactions:
      return {'1', "notrans"};
    case ErrorCode::commit_failed:
      return {'1', "commit"};
    case ErrorCode::out_of_memory:
      return {'1', "memory"};
    case ErrorCode::shutting_down:
      return {'1', "shutdown"};
    case ErrorCode::none:
    case ErrorCode::count_:
      break;
  }
  return {'1', "internal"};  // a caller's mistake: still an error, so that the client does not take it for success
}

}  // namespace rowsocket::wire::handlersocket
