// SPDX-License-Identifier: GPL-2.0-only
//
// Replies of the meta commands: one line, and a value where it was asked for.
//
//   VA bytes [flag...] CR LF data CR LF     mg, ma with v
//   HD [flag...] CR LF                      done
//   EN | NF | NS | EX [flag...] CR LF       missed; not found; not stored; another version is there
//   ME key [name=value...] CR LF            me
//
// The flags are told in the order in which they were asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/memcached/reply.h"

namespace rowsocket::wire::memcached {

/// What a meta command asks of its reply.
struct MetaAnswer {
  std::string_view key = {};                     ///< as the client sent it
  std::span<const std::string_view> flags = {};  ///< all of the command's, with their tokens
  std::string_view missed = "EN";
  std::string_view refused = "EX";
  std::string_view kept = "NS";
  uint64_t now_s = 0;
  bool tells_value = false;
  bool is_base64 = false;
  bool hides_done = false;    ///< q: HD is not told
  bool hides_missed = false;  ///< q: nor is a miss
  bool makes_missed = false;  ///< a row that is missing is inserted, and told then
  bool keeps = false;         ///< of an insert: a row that is there stays
  State* state = nullptr;     ///< never nullptr
  Count counts_done = Count::none;
  Count counts_missed = Count::none;
  Count counts_refused = Count::none;
};

class MetaReply : public CountingReply {
 public:
  MetaReply(Buffer& out, const Container& container, const MetaAnswer& answer, const RowLayout& layout,
            PerColumn per_column);

  void failed(const Error& error) final;
  void begin_rows(size_t) final { told_ = false; }
  void row_begins(size_t) final { row_begin_ = out().size(); }
  void row_ends() override;
  void missed(size_t) final { tell_missed(); }
  /// Neither a row nor a miss: a filter refused the row.
  void end_rows() final;
  void counted(uint64_t row_count) final;
  void changed(const Changes& changes) final;
  void begin_outcomes() final {}
  void inserted(const RowOutcome& outcome) final;
  void end_outcomes() final {}

 protected:
  ~MetaReply() = default;
  [[nodiscard]] const MetaAnswer& answer() const { return answer_; }
  [[nodiscard]] const RowLayout& layout() const { return layout_; }
  [[nodiscard]] size_t row_begin() const { return row_begin_; }
  void note_done() {
    told_ = true;
    came_to(answer_.counts_done);
  }

 private:
  struct Row;
  void tell(std::string_view code, bool is_hidden);
  void tell_refused(std::string_view code);
  void tell_done();
  void tell_missed();
  /// ` k..` ` O..` and, of a row, ` f..` ` c..` ` s..` ` t..`
  void append_flags(Buffer& line, const Row* row) const;
  void append_flag_of_row(Buffer& line, char flag, const Row& row) const;

  MetaAnswer answer_;
  RowLayout layout_;
  size_t row_begin_ = 0;
  bool told_ = false;
};

/// mg, ms, md, ma.
class MetaLineReply final : public MetaReply {
 public:
  using MetaReply::MetaReply;
};

/// me.
class MetaDebugReply final : public MetaReply {
 public:
  using MetaReply::MetaReply;
  void row_ends() override;
};

}  // namespace rowsocket::wire::memcached
