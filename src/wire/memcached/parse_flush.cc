// SPDX-License-Identifier: GPL-2.0-only
//
// flush_all: deletes the rows of one container, in steps that are committed one by one, so that other clients
// are served between two of them, and no transaction grows with the table. Each step begins behind the last
// row of the one before. Its line stays in the input until the last step: see Parsed::is_step.
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "wire/memcached/parse_parts.h"

namespace rowsocket::wire::memcached {
namespace {

/// Told the keys of the rows that a step deletes.
class FlushReply final : public CommonReply {
 public:
  FlushReply(Buffer& out, const Container& container, bool is_silent, State& state, size_t line_bytes,
             std::span<ColumnEnd> ends)
      : CommonReply(out, &container, is_silent, &state), state_(state), line_bytes_(line_bytes), ends_(ends) {
    tells_rows_ = true;
    counts_ = true;
    per_column_.ends = ends.data();
  }
  void failed(const Error& error) override {
    CommonReply::failed(error);
    end();
  }
  void begin_rows(size_t) override { row_count_ = 0; }
  void row_begins(size_t) override { row_begin_ = out().size(); }
  void row_ends() override {
    if (++row_count_ < limits::flush_rows_per_step && !out().failed()) {
      out().truncate(row_begin_);  // of the last one the key is looked at
    }
  }
  void end_rows() override {
    if (is_last_step()) {
      say("OK");
      end();
    } else if (!out().failed()) {
      remember_row();
    }
  }

  void count() override { state_.tally.add(is_last_step() ? Count::cmd_flush : Count::none); }

 private:
  [[nodiscard]] bool is_last_step() const { return row_count_ < limits::flush_rows_per_step; }
  void end() {
    state_.flushed.clear();
    state_.skip_bytes = line_bytes_;
  }
  void remember_row() {
    try {
      std::vector<std::string> key;
      size_t begin = row_begin_;
      for (const ColumnEnd& end : ends_) {
        if (end.is_null) {
          key.clear();  // many rows can have this key: the next step begins at the front
          break;
        }
        key.emplace_back(out().view().substr(begin, end.bytes - begin));
        begin = end.bytes;
      }
      state_.flushed = std::move(key);
      state_.skip_bytes = 0;
      out().truncate(row_begin_);
    } catch (const std::bad_alloc&) {
      end();
      out().fail();
    }
  }

  State& state_;
  size_t line_bytes_;
  std::span<ColumnEnd> ends_;
  size_t row_begin_ = 0;
  uint32_t row_count_ = 0;
};

/// nullptr where memory is refused.
Find* make_step(const Scope& scope, const Container& container) {
  auto* const find = scope.arena().make<Find>();
  const auto key = scope.arena().array<Value>(scope.state.flushed.size());
  if (find == nullptr || key.size() != scope.state.flushed.size()) {
    return nullptr;
  }
  for (size_t part = 0; part < key.size(); ++part) {
    const std::string_view copy = scope.arena().copy_of_text(scope.state.flushed[part]);
    if (copy.data() == nullptr) {
      return nullptr;
    }
    key[part] = Value(copy);
  }
  find->selection.names = &container.keys;
  find->range = {.key_operator = key.empty() ? KeyOperator::at_or_after : KeyOperator::after,
                 .key = key,
                 .may_be_open = true};
  find->limit = limits::flush_rows_per_step;
  find->change.kind = Change::Kind::remove;
  find->changes_state = true;
  return find;
}

}  // namespace

Parsed parse_flush(const Scope& scope, Words words, const Input& input) {
  int64_t delay_s = 0;
  const size_t word_count = words.count_left();
  const bool is_silent = words.end_with_noreply();
  const bool has_delay = word_count > (is_silent ? 1 : 0);
  const bool is_right = !has_delay || parse_number(words.next(), delay_s);
  // A flush that is refused between two steps is over. The next one begins at the front.
  const auto ended_by = [&](Request* refusal) {
    scope.state.flushed.clear();
    return parsed_request(refusal, input.line_bytes);
  };
  const auto refused = [&](std::string_view line) { return ended_by(refuse(scope, line, is_silent)); };
  if (word_count > 2) {
    return ended_by(refuse(scope, "ERROR"));
  }
  if (!scope.parsing.settings.allows_flush) {
    return refused("CLIENT_ERROR flush_all not allowed");
  }
  if (!is_right) {
    return refused("CLIENT_ERROR invalid exptime argument");
  }
  if (delay_s > 0) {
    return refused("CLIENT_ERROR flush_all is done at once: a delay is not served");
  }
  Key key;
  Request* refusal = nullptr;
  if (!take_container(scope, {}, is_silent, key, refusal)) {
    return ended_by(refusal);
  }
  Find* const step = make_step(scope, *key.container);
  const auto ends = scope.arena().array<ColumnEnd>(key.container->key_part_count);
  if (step == nullptr || ends.empty()) {
    return parsed_request(nullptr, input.line_bytes);
  }
  step->reply = scope.arena().make<FlushReply>(scope.out(), *key.container, is_silent, scope.state,
                                               input.line_bytes, ends);
  if (step->reply == nullptr) {
    return parsed_request(nullptr, input.line_bytes);
  }
  return {.status = Parsed::Status::request, .request = step, .is_step = true};
}

}  // namespace rowsocket::wire::memcached
