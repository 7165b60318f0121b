// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/reply.h"

#include <charconv>
#include <limits>

#include "wire/handlersocket/error_text.h"

namespace rowsocket::wire::handlersocket {
namespace {

void append_number(Buffer& out, uint64_t number) {
  out.append("0\t1");
  ValueWriter(out, reply_value_format).unsigned_integer(number);
  out.append('\n');
}

/// The word for an error, or its number where it has none.
void append_error_text(Buffer& out, const Error& error) {
  const std::string_view text = error_text(error.code).text;
  if (!text.empty()) {
    out.append(text);
    return;
  }
  char digits[std::numeric_limits<int>::digits10 + 2];
  const auto written = std::to_chars(std::begin(digits), std::end(digits), error.number);
  out.append({digits, static_cast<size_t>(written.ptr - digits)});
}

}  // namespace

void CommonReply::failed(const Error& error) {
  ValueWriter values(out(), reply_value_format);
  out().append(error_text(error.code).code);
  values.plain("1");
  values.plain({});
  append_error_text(out(), error);
  const std::string_view detail = error.detail().empty() ? explanation(error.code) : error.detail();
  if (with_detail_ && !detail.empty()) {
    values.text(detail);
  }
  out().append('\n');
}

void CommonReply::done() { out().append("0\t1\n"); }

void CommonReply::opened(std::span<const std::string_view> column_types) {
  if (column_types.empty()) {
    done();
    return;
  }
  begin_rows(column_types.size());
  ValueWriter values(out(), reply_value_format);
  for (const std::string_view type : column_types) {
    values.text(type);
  }
  end_rows();
}

void CommonReply::begin_rows(size_t column_count) {
  out().append('0');
  ValueWriter(out(), reply_value_format).unsigned_integer(column_count);
}

void CommonReply::end_rows() { out().append('\n'); }

void CommonReply::counted(uint64_t row_count) { append_number(out(), row_count); }

void CommonReply::changed(const Changes& changes) { append_number(out(), changes.rows_changed); }

void InsertReply::inserted(const RowOutcome& outcome) {
  if (outcome.has_id) {
    append_number(out(), outcome.id);
  } else {
    done();
  }
}

void OutcomesReply::begin_outcomes() { begin_rows(2); }

void OutcomesReply::inserted(const RowOutcome& outcome) {
  ValueWriter values(out(), reply_value_format);
  if (outcome.error.ok()) {
    values.unsigned_integer(outcome.rows_affected);
  } else {
    values.plain("!");
    append_error_text(out(), outcome.error);
  }
  if (!outcome.error.ok() || !outcome.has_id) {
    values.null();
  } else if (outcome.id_is_negative) {
    values.integer(static_cast<int64_t>(outcome.id));
  } else {
    values.unsigned_integer(outcome.id);
  }
}

void OutcomesReply::end_outcomes() { end_rows(); }

void GroupReply::group_ends() {
  if (!expects_gtid_) {
    done();
  }
}

void GroupReply::committed(Buffer& text, std::string_view gtid) {
  text.append("0\t1");
  ValueWriter(text, reply_value_format).text(gtid);
  text.append('\n');
}

/// The line of the member that failed says why. The beginning succeeds, unless the group itself was refused.
void GroupReply::group_failed(size_t member, const Error& error) {
  const bool is_refused = member == group_itself;
  Error of_the_others = is_refused ? ErrorCode::not_in_group : ErrorCode::undone_with_group;
  if (is_refused) {
    failed(error);
  } else {
    done();
  }
  for (size_t number = 0; number < member_count_; ++number) {
    failed(number == member || member == every_member ? error : of_the_others);
  }
  failed(member == every_member ? error : of_the_others);
}

}  // namespace rowsocket::wire::handlersocket
