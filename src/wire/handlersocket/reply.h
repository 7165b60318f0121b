// SPDX-License-Identifier: GPL-2.0-only
//
// Replies: outcomes to bytes, one line for each request.
//
//   0 HT 1 LF                       done
//   0 HT 1 HT number LF             done; rows counted or changed, or the new id
//   0 HT 1 HT text LF               done; a GTID
//   0 HT columns { HT type } LF     opened; the SQL types of the columns
//   0 HT columns { HT value } LF    rows, flattened: value_count is a multiple of `columns`
//   0 HT 2 { HT outcome HT id } LF  what came of each row of an insert: 1, 2, 0, or ! and an error's text
//   code HT 1 HT text LF            an error; a text for people may follow as one more token
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "request/reply.h"

namespace rowsocket::wire::handlersocket {

/// A value in a reply: TAB before it, 0x00 alone for NULL, and bytes below 0x10 as 0x01 and the byte + 0x40.
inline constexpr ValueFormat reply_value_format = {.separator = '\t',
                                                   .null_token = {"\0", 1},
                                                   .escape_below = 0x10,
                                                   .escape_lead = 0x01,
                                                   .escape_shift = 0x40};

/// The part that the replies to all requests share.
class CommonReply : public Reply {
 public:
  CommonReply(Buffer& out, bool with_detail) : Reply(out, reply_value_format), with_detail_(with_detail) {}

  void failed(const Error& error) final;
  void done() final;
  void opened(std::span<const std::string_view> column_types) final;
  void begin_rows(size_t column_count) final;
  void end_rows() final;
  /// Errors carry the text for people.
  void tell_detail() { with_detail_ = true; }
  void counted(uint64_t row_count) final;
  void changed(const Changes& changes) final;

 protected:
  ~CommonReply() = default;

 private:
  bool with_detail_;  ///< see tell_detail
};

/// Any request but an insert or a group.
class LineReply final : public CommonReply {
 public:
  using CommonReply::CommonReply;
};

/// `+`: one row, and its new id.
class InsertReply final : public CommonReply {
 public:
  using CommonReply::CommonReply;
  void begin_outcomes() override {}
  void inserted(const RowOutcome& outcome) override;
  void end_outcomes() override {}
};

/// `++`: what came of each row.
class OutcomesReply final : public CommonReply {
 public:
  using CommonReply::CommonReply;
  void begin_outcomes() override;
  void inserted(const RowOutcome& outcome) override;
  void end_outcomes() override;
};

/// A line for the group's beginning, those of its members, and one for its end.
class GroupReply final : public CommonReply {
 public:
  GroupReply(Buffer& out, bool with_detail, size_t member_count)
      : CommonReply(out, with_detail), member_count_(member_count) {}

  void group_begins() override { done(); }
  void group_ends() override;
  void group_failed(size_t member, const Error& error) override;
  void committed(Buffer& text, std::string_view gtid) override;

  [[nodiscard]] size_t member_count() const { return member_count_; }
  /// The line for the end waits for the commit, and says its GTID.
  void expect_gtid() { expects_gtid_ = true; }

 private:
  size_t member_count_;
  bool expects_gtid_ = false;
};

}  // namespace rowsocket::wire::handlersocket
