// SPDX-License-Identifier: GPL-2.0-only
//
// What can go wrong with a request, in no protocol's words. A protocol maps the code to its own reply; the detail is for
// people (logs, and replies where rowsocket_error_detail is on).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace rowsocket {

enum class ErrorCode : uint8_t {
  none,
  // The request is malformed, or asks for what does not exist.
  unknown_command,
  unknown_index_id,  ///< no open_index with this id on this connection, or the id is beyond the limit
  bad_operator,
  bad_modification,
  no_key_values,       ///< a find without a key value, an insert without a value
  too_many_values,     ///< a count beyond its limit, or more values than columns
  too_many_key_parts,  ///< more key values than the index has parts, or an IN list on a part without a key value
  no_such_index,
  no_such_column,
  bad_in_list,      ///< an IN list of no values, or beyond its limit
  bad_filter_type,  ///< filter type or filter operator unknown
  bad_filter_column,
  read_only,        ///< a write on a connection that may only read
  syntax,           ///< malformed number, escape or token
  line_too_long,    ///< the connection is closed after this reply
  reply_too_large,  ///< the rows found do not fit into the largest reply allowed
  not_implemented,
  not_in_group,  ///< what a group may not hold; an end without a group; a member of a group that is malformed as a whole
  // Authentication.
  not_authenticated,
  bad_authentication_type,
  // The table.
  cannot_open_table,  ///< missing, a view, a sequence, a system schema, or changed so that it no longer fits
  cannot_lock_table,  ///< a lock was not to be had in time
  // The storage engine or a conversion refused; `Error::number` says which.
  engine,  ///< number = handler error (HA_ERR_*), e.g. 121 duplicate key
  sql,     ///< number = server error (ER_*), e.g. 1406 data too long
  // The group.
  undone_with_group,  ///< another request of the group failed
  nothing_changed,    ///< a write that was to change a row changed none
  no_transactions,    ///< the table's engine has none, so that it can be no part of a group
  // Inside the server.
  commit_failed,
  out_of_memory,
  shutting_down,
  count_  ///< how many codes there are; not a code
};

/// Why something failed, as far as it decides what is done next. The engine sets it; numbers are for clients only.
enum class Reason : uint8_t {
  none,        ///< it fails again when it is tried again
  row_locked,  ///< another transaction has the row; trying again may help
  conflict,    ///< another transaction was preferred (a deadlock, a failed certification), or one on a table's lock
  too_large    ///< the transaction grew beyond what the host allows; parts of it may not
};

/// The outcome of something that can fail. `code == none` is success.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::none;
  int number = 0;           ///< for `engine` and `sql`
  std::string detail = {};  ///< one line for people; may be empty
  Reason reason = Reason::none;

  Error() = default;
  Error(ErrorCode error_code, std::string text = {}) : code(error_code), detail(std::move(text)) {}
  Error(ErrorCode error_code, int error_number, std::string text = {})
      : code(error_code), number(error_number), detail(std::move(text)) {}

  /// The same error, for this reason.
  Error&& because(Reason why) && {
    reason = why;
    return std::move(*this);
  }

  [[nodiscard]] bool ok() const { return code == ErrorCode::none; }
};

}  // namespace rowsocket
