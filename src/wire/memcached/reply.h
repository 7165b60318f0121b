// SPDX-License-Identifier: GPL-2.0-only
//
// Replies of the classic commands: outcomes to bytes. Those of the meta commands are in meta_reply.h.
//
//   { VALUE key flags bytes [cas] CR LF data CR LF } END CR LF    get, gets, gat, gats
//   number CR LF                                                  incr, decr
//   a word CR LF                                                  the others
//   ERROR | CLIENT_ERROR text | SERVER_ERROR text, CR LF          what failed
//
// A command with `noreply` is answered with no byte, whatever happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "request/containers.h"
#include "request/protocol.h"
#include "request/reply.h"
#include "request/request.h"
#include "wire/memcached/state.h"

namespace rowsocket::wire::memcached {

/// The values of a row one behind the other; a reply looks at where each ends.
inline constexpr ValueFormat bare_format = {.framing = ValueFormat::Framing::bare, .null_token = ""};

inline constexpr std::string_view line_end = "\r\n";

/// The line for an error. `container` is the one that the request was about, or nullptr.
void append_error(Buffer& out, const Error& error, const Container* container);
void append_number(Buffer& out, uint64_t number);

/// What all replies have.
class CommonReply : public Reply {
 public:
  void failed(const Error& error) override;

 protected:
  /// `state` forgets that the client has logged in where its account is gone, so that the client can log in
  /// anew. nullptr for the login itself.
  CommonReply(Buffer& out, const Container* container, bool is_silent, State* state)
      : Reply(out, bare_format), container_(container), state_(state), is_silent_(is_silent) {}
  ~CommonReply() = default;

  void say(std::string_view line) const {
    if (!is_silent_) {
      out().append(line);
      out().append(line_end);
    }
  }
  /// The line says what failed, but to a client that has to log in first.
  void say_unless_stranger(std::string_view line, const Error& error) {
    if (error.code == ErrorCode::not_authenticated) {
      CommonReply::failed(error);
    } else {
      say(line);
    }
  }
  [[nodiscard]] const Container* container() const { return container_; }
  [[nodiscard]] bool is_silent() const { return is_silent_; }

 private:
  const Container* container_;
  State* state_;
  bool is_silent_;
};

/// One line. Of a request that has a mistake, the line says which.
class FixedReply final : public CommonReply {
 public:
  FixedReply(Buffer& out, std::string_view line, bool is_silent, State& state)
      : CommonReply(out, nullptr, is_silent, &state), line_(line) {}
  void failed(const Error& error) override { say_unless_stranger(line_, error); }
  void done() override { say(line_); }

 private:
  std::string_view line_;
};

/// One line for a value that is not taken; its bytes are skipped.
class SkippingReply final : public CommonReply {
 public:
  SkippingReply(Buffer& out, std::string_view line, bool is_silent, State& state, uint64_t skip_bytes)
      : CommonReply(out, nullptr, is_silent, &state), line_(line), state_(state), skip_bytes_(skip_bytes) {}
  void failed(const Error& error) override {
    say_unless_stranger(line_, error);
    state_.skip_bytes = skip_bytes_;
  }

 private:
  std::string_view line_;
  State& state_;
  uint64_t skip_bytes_;
};

/// A container, or all of them, can not be used: its problem in words.
class ProblemReply final : public CommonReply {
 public:
  ProblemReply(Buffer& out, bool is_silent, State& state, std::string_view name, std::string_view problem)
      : CommonReply(out, nullptr, is_silent, &state), name_(name), problem_(problem) {}
  void failed(const Error& error) override;

 private:
  std::string_view name_;  ///< empty = it is about all of them
  std::string_view problem_;
};

/// Counts what its request came to for `stats`.
class CountingReply : public CommonReply {
 public:
  /// What it came to before is no answer any more.
  void failed(const Error& error) override {
    came_to_ = Count::none;
    CommonReply::failed(error);
  }
  void count() final { tally_.add(came_to_); }

 protected:
  CountingReply(Buffer& out, const Container& container, bool is_silent, State& state)
      : CommonReply(out, &container, is_silent, &state), tally_(state.tally) {
    counts_ = true;
  }
  ~CountingReply() = default;

  /// In place of what it came to before.
  void came_to(Count count) { came_to_ = count; }

 private:
  Tally& tally_;
  Count came_to_ = Count::none;
};

/// The key was found, or not, or a filter refused its row.
class FoundReply final : public CountingReply {
 public:
  struct Lines {
    std::string_view found;
    std::string_view missed;
    std::string_view refused = {};
    // What each counts as.
    Count counts_found = Count::none;
    Count counts_missed = Count::none;
    Count counts_refused = Count::none;
  };
  FoundReply(Buffer& out, const Container& container, bool is_silent, const Lines& lines, State& state)
      : CountingReply(out, container, is_silent, state), lines_(lines) {}
  void counted(uint64_t row_count) override { tell(row_count, row_count); }
  void changed(const Changes& changes) override { tell(changes.rows_found, changes.rows_matched); }

 private:
  void tell(uint64_t rows_found, uint64_t rows_matched) {
    came_to(rows_found == 0     ? lines_.counts_missed
            : rows_matched == 0 ? lines_.counts_refused
                                : lines_.counts_found);
    say(rows_found == 0 ? lines_.missed : rows_matched == 0 ? lines_.refused : lines_.found);
  }

  Lines lines_;
};

/// `set` and `add`.
class StoredReply final : public CountingReply {
 public:
  StoredReply(Buffer& out, const Container& container, bool is_silent, bool keeps, State& state)
      : CountingReply(out, container, is_silent, state), keeps_(keeps) {}
  void begin_outcomes() override {}
  void inserted(const RowOutcome& outcome) override {
    came_to(Count::cmd_set);
    say(keeps_ && outcome.rows_affected == 0 ? "NOT_STORED" : "STORED");
  }
  void end_outcomes() override {}

 private:
  bool keeps_;  ///< a row that is there stays
};

/// The parts of a row that a container has, told by a reply: where they lie in the output.
struct RowLayout {
  std::span<ColumnEnd> ends;  ///< as many as the selection has columns
  uint32_t values_at = 0;     ///< the first value column
  uint32_t flags_at = Container::none;
  uint32_t cas_at = Container::none;
  uint32_t expiry_at = Container::none;
};

/// A short copy of a number that stood in a row; 0 where it is NULL, or none.
class NumberText {
 public:
  explicit NumberText(std::string_view text);
  [[nodiscard]] std::string_view view() const { return {digits_, size_}; }

 private:
  char digits_[20] = {'0'};
  size_t size_ = 1;
};

/// The bytes of column `at` of a row that begins at `row_begin`.
[[nodiscard]] std::string_view column_of(const Buffer& out, const RowLayout& layout, size_t row_begin,
                                         uint32_t at);

/// get, gets, gat, gats: the rows of some keys of one container.
class ValuesReply final : public CommonReply {
 public:
  ValuesReply(Buffer& out, const Container& container, const RowLayout& layout, PerColumn per_column,
              std::span<const std::string_view> keys, bool tells_cas, bool is_whole, State& state);
  void begin_rows(size_t) override { rows_told_ = 0; }
  void row_begins(size_t key_number) override;
  void row_ends() override;
  void end_rows() override;
  void count() override;

 private:
  RowLayout layout_;
  std::span<const std::string_view> keys_;
  Tally& tally_;
  size_t row_begin_ = 0;
  size_t rows_told_ = 0;
  bool tells_cas_;
  bool is_whole_;  ///< else it is one of several, and the last line is not its own
};

/// Around keys of several containers.
class SeveralReply final : public CommonReply {
 public:
  SeveralReply(Buffer& out, State& state, std::span<Request* const> members)
      : CommonReply(out, nullptr, false, &state), members_(members) {}
  void group_begins() override {}
  void group_ends() override { say("END"); }
  void group_failed(size_t member, const Error& error) override {
    if (!tell_member(members_, member, error)) {
      failed(error);
    }
  }

 private:
  std::span<Request* const> members_;
};

/// incr, decr: the new number.
class CountReply final : public CountingReply {
 public:
  CountReply(Buffer& out, const Container& container, const RowLayout& layout, PerColumn per_column,
             bool subtracts, State& state);
  void failed(const Error& error) override;
  void begin_rows(size_t) override { came_to(Count::none); }
  void row_begins(size_t) override { row_begin_ = out().size(); }
  void row_ends() override;
  void missed(size_t) override {
    came_to(subtracts_ ? Count::decr_misses : Count::incr_misses);
    say("NOT_FOUND");
  }
  void end_rows() override {}

 private:
  RowLayout layout_;
  bool subtracts_;
  size_t row_begin_ = 0;
};

/// Of the `set` that names an account or the secret.
class AuthenticatedReply final : public CommonReply {
 public:
  AuthenticatedReply(Buffer& out, State& state) : CommonReply(out, nullptr, false, nullptr), state_(state) {}
  void done() override {
    state_.is_authenticated = true;
    say("STORED");
  }
  void failed(const Error& error) override {
    if (error.code == ErrorCode::too_many_connections) {
      append_error(out(), error, nullptr);  // whose password is right may know why he is refused
    } else {
      say("CLIENT_ERROR authentication failure");
    }
  }

 private:
  State& state_;
};

/// `get @@name`: keys that name no container are of this one from now on.
class ChosenReply final : public CommonReply {
 public:
  ChosenReply(Buffer& out, const Container& container, State& state)
      : CommonReply(out, &container, false, &state), state_(state) {}
  void opened(std::span<const std::string_view>) override;

 private:
  State& state_;
};

/// stats.
class StatsReply final : public CommonReply {
 public:
  StatsReply(Buffer& out, State& state, const Settings& settings, const ServerFigures* figures,
             uint64_t unix_time_s)
      : CommonReply(out, nullptr, false, &state),
        settings_(settings),
        figures_(figures),
        unix_time_s_(unix_time_s) {}
  void done() override;

 private:
  const Settings& settings_;
  const ServerFigures* figures_;
  uint64_t unix_time_s_;
};

}  // namespace rowsocket::wire::memcached
