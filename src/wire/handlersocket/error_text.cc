// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/error_text.h"

namespace rowsocket::wire::handlersocket {

// A table, in a form in which the compiler names a code that is missing.
// NOLINTNEXTLINE(readability-function-size)
ErrorText error_text(ErrorCode code) {
  switch (code) {
    case ErrorCode::unknown_command:
      return {'2', "cmd"};
    case ErrorCode::unknown_id:
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
    case ErrorCode::too_many_rows:
      return {'2', "rowsexamined"};
    case ErrorCode::took_too_long:
      return {'2', "requesttime"};
    case ErrorCode::client_gone:
      return {'2', "gone"};
    case ErrorCode::not_implemented:
      return {'2', "notimpl"};
    case ErrorCode::not_in_group:
      return {'2', "group"};
    case ErrorCode::not_authenticated:
      return {'3', "unauth"};
    case ErrorCode::too_many_connections:
      return {'3', "connections"};
    case ErrorCode::needs_tls:
      return {'3', "tls"};
    case ErrorCode::bad_authentication_type:
      return {'3', "authtype"};
    case ErrorCode::cannot_open_table:
      return {'1', "open_table"};
    case ErrorCode::cannot_lock_table:
      return {'1', "lock_tables"};
    case ErrorCode::engine:
    case ErrorCode::sql:
      return {'1', {}};
    case ErrorCode::not_a_number:
      return {'1', "number"};
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
  // A caller's mistake: still an error, so that the client does not take it for success.
  return {'1', "internal"};
}

}  // namespace rowsocket::wire::handlersocket
