// SPDX-License-Identifier: GPL-2.0-only
//
// Replies for exec's tests and fuzzing, so that they need no wire: words, one line for each request, and for
// a group one for its beginning, each member and its end.
//
//   ok                          done, opened, or a row inserted
//   ok bigint(20) varchar(9)    opened, and the types of the columns
//   = 3                         rows counted or changed, or a new id
//   rows/2 1 pen 2 ink          two columns, values in a row; NULL stands for NULL
//   text 0-1-7                  a GTID
//   rows/2 1#12 0# !121         what came of the rows of an insert: rows affected, and the id where there is
//                               one; or an error
//   error engine 121            error not_authenticated
//
// Like the replies of a protocol inside the server they allocate nothing but what the buffer does.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "request/reply.h"

namespace rowsocket::exec {

inline constexpr ValueFormat words_format = {.separator = ' ', .null_token = "NULL"};

/// What the replies to all requests have, and all that the reply to one which changes nothing needs.
class TextReply : public Reply {
 public:
  explicit TextReply(Buffer& out, bool with_detail = false)
      : Reply(out, words_format), with_detail_(with_detail) {}

  void failed(const Error& error) override {
    append_error("error ", error);
    out().append('\n');
  }
  void done() override { out().append("ok\n"); }
  void opened(std::span<const std::string_view> column_types) override {
    out().append("ok");
    for (const std::string_view type : column_types) {
      out().append(' ');
      out().append(type);
    }
    out().append('\n');
  }
  void begin_rows(size_t column_count) override {
    out().append("rows/");
    append_number(column_count);
  }
  void end_rows() override { out().append('\n'); }
  void counted(uint64_t row_count) override { tell_number(row_count); }
  void changed(const Changes& changes) override { tell_number(changes.rows_changed); }

 protected:
  ~TextReply() = default;

  void tell_number(uint64_t number) {
    out().append("= ");
    append_number(number);
    out().append('\n');
  }
  template <typename Number>
  void append_number(Number number) {
    char digits[std::numeric_limits<Number>::digits10 + 2];
    const auto written = std::to_chars(digits, digits + sizeof(digits), number);
    out().append({digits, static_cast<size_t>(written.ptr - digits)});
  }

 private:
  void append_error(std::string_view lead, const Error& error) {
    out().append(lead);
    out().append(error_name(error.code));
    if (error.number != 0) {
      out().append(' ');
      append_number(error.number);
    }
    if (with_detail_) {
      out().append(" (");
      out().append(error.detail().empty() ? explanation(error.code) : error.detail());
      out().append(")");
    }
  }

  bool with_detail_;
};

/// To a find, an open, an authentication, or what is no request.
class TextLineReply final : public TextReply {
 public:
  using TextReply::TextReply;
};

/// To a find, with all that there is to know: rows in brackets with the number of their key, keys that gave
/// none, and how many rows were found, matched and changed.
///
///   rows/1 (0: 5) -1 (2: 7)     = 3 2 1
class TextFullReply final : public TextReply {
 public:
  explicit TextFullReply(Buffer& out, bool with_detail = false) : TextReply(out, with_detail) {
    tells_rows_ = true;
    tells_misses_ = true;
  }
  void row_begins(size_t key_number) override {
    out().append(" (");
    append_number(key_number);
    out().append(':');
  }
  void row_ends() override { out().append(')'); }
  void missed(size_t key_number) override {
    out().append(" -");
    append_number(key_number);
  }
  void changed(const Changes& changes) override {
    out().append("= ");
    append_number(changes.rows_found);
    out().append(' ');
    append_number(changes.rows_matched);
    out().append(' ');
    append_number(changes.rows_changed);
    out().append('\n');
  }
};

/// To an insert of one row: its new id.
class TextInsertReply final : public TextReply {
 public:
  using TextReply::TextReply;
  void begin_outcomes() override {}
  void inserted(const RowOutcome& outcome) override {
    if (outcome.has_id) {
      tell_number(outcome.id);
    } else {
      done();
    }
  }
  void end_outcomes() override {}
};

/// To an insert of many rows: what came of each.
class TextOutcomesReply final : public TextReply {
 public:
  using TextReply::TextReply;
  void begin_outcomes() override { begin_rows(2); }
  void inserted(const RowOutcome& outcome) override {
    out().append(' ');
    if (outcome.error.ok()) {
      append_number(outcome.rows_affected);
      out().append('#');
      if (outcome.has_id) {
        append_number(outcome.id);
      }
      return;
    }
    out().append('!');
    if (outcome.error.number != 0) {
      append_number(outcome.error.number);
    } else {
      out().append(error_name(outcome.error.code));
    }
  }
  void end_outcomes() override { end_rows(); }
};

class TextGroupReply final : public TextReply {
 public:
  TextGroupReply(Buffer& out, bool with_detail, size_t member_count, bool expects_gtid)
      : TextReply(out, with_detail), member_count_(member_count), expects_gtid_(expects_gtid) {}

  void group_begins() override { done(); }
  void group_ends() override {
    if (!expects_gtid_) {
      done();
    }
  }
  void committed(Buffer& text, std::string_view gtid) override {
    text.append("text ");
    text.append(gtid);
    text.append('\n');
  }
  void group_failed(size_t member, const Error& error) override {
    const bool is_refused = member == group_itself;
    const Error of_the_others = is_refused ? ErrorCode::not_in_group : ErrorCode::undone_with_group;
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

 private:
  size_t member_count_;
  bool expects_gtid_;
};

}  // namespace rowsocket::exec
