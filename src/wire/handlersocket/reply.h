// SPDX-License-Identifier: GPL-2.0-only
//
// Replies: outcomes to bytes. Each function appends to `out`; that memory ran out is seen there (`Buffer::failed`).
//
//   0 HT 1 LF                       done
//   0 HT 1 HT number LF             done; rows counted or changed, or the new id
//   0 HT 1 HT text LF               done; a GTID
//   0 HT columns { HT value } LF    rows, flattened: value_count is a multiple of `columns`
//   0 HT 2 { HT outcome HT id } LF  what came of each row of an insert: 1, 2, 0, or ! and an error's text
//   code HT 1 HT text LF            an error; a text for people may follow as one more token
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "base/error.h"
#include "base/request.h"
#include "base/value_writer.h"

namespace rowsocket::wire::handlersocket {

/// A value in a reply: TAB before it, 0x00 alone for NULL, and bytes below 0x10 as 0x01 and the byte + 0x40.
inline constexpr ValueFormat reply_value_format = {
    .separator = '\t', .null_token = {"\0", 1}, .escape_below = 0x10, .escape_lead = 0x01, .escape_shift = 0x40};

void append_ok(Buffer& out);
void append_number(Buffer& out, uint64_t number);
void append_text(Buffer& out, std::string_view text);
void append_row_outcome(Buffer& out, const RowOutcome& outcome);
void append_rows_begin(Buffer& out, size_t column_count);
void append_rows_end(Buffer& out);
void append_error(Buffer& out, const Error& error, bool with_detail);

/// How an error stands on the wire. Clients look at the code, and some at the text.
struct ErrorReply {
  char code;              ///< '1' the table, its engine or the server refused; '2' the request is wrong; '3' authentication
  std::string_view text;  ///< empty: the error's number stands here
};
[[nodiscard]] ErrorReply error_reply(ErrorCode code);

}  // namespace rowsocket::wire::handlersocket
