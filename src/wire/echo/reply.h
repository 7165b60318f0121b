// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: what the requests of echo.h are answered.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "request/reply.h"

namespace rowsocket::wire::echo {

/// A space stands before each value, and a dash for NULL.
inline constexpr ValueFormat echo_format = {.separator = ' ', .null_token = "-"};

/// A number in ten digits.
inline void write_digits(uint32_t number, char* to) {
  constexpr ptrdiff_t digit_count = 10;
  char digits[digit_count];
  const ptrdiff_t written = std::to_chars(digits, digits + digit_count, number).ptr - digits;
  std::fill_n(to, digit_count - written, '0');
  std::copy_n(digits, written, to + digit_count - written);
}

/// To what is wrong, be it the line, the table or the row.
class ErrorReply : public Reply {
 public:
  explicit ErrorReply(Buffer& out) : Reply(out, echo_format) {}

  void failed(const Error& error) override {
    out().append("ERROR ");
    out().append(error_name(error.code));
    out().append('\n');
  }

 protected:
  ~ErrorReply() = default;

  void append_number(uint64_t number) {
    char digits[20];
    out().append(
        {digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof(digits), number).ptr - digits)});
    out().append('\n');
  }
};

/// To what is no request.
class RefusedReply final : public ErrorReply {
 public:
  using ErrorReply::ErrorReply;
};

/// OPEN.
class OpenedReply final : public ErrorReply {
 public:
  using ErrorReply::ErrorReply;
  void opened(std::span<const std::string_view>) override { out().append("OPENED\n"); }
};

/// GET: each row with its key, and with the length of its values in front, which is known when they are
/// written.
class RowsReply final : public ErrorReply {
 public:
  RowsReply(Buffer& out, std::span<const Value> keys) : ErrorReply(out), keys_(keys) {
    tells_rows_ = true;
    tells_misses_ = true;
  }

  void begin_rows(size_t) override {}
  void row_begins(size_t key_number) override {
    append_key("ROW ", key_number);
    out().append(' ');
    length_at_ = out().size();
    out().append("??????????\n");
    values_at_ = out().size();
  }
  void row_ends() override {
    if (!out().failed()) {
      write_digits(static_cast<uint32_t>(out().size() - values_at_), out().data() + length_at_);
    }
    out().append('\n');
  }
  void missed(size_t key_number) override {
    append_key("MISS ", key_number);
    out().append('\n');
  }
  void end_rows() override { out().append("END\n"); }

 private:
  void append_key(std::string_view word, size_t key_number) {
    out().append(word);
    out().append(keys_[key_number].view());
  }

  std::span<const Value> keys_;
  size_t length_at_ = 0;
  size_t values_at_ = 0;
};

/// MISSES: how many keys have no row.
class MissesReply final : public ErrorReply {
 public:
  explicit MissesReply(Buffer& out) : ErrorReply(out) { tells_misses_ = true; }

  void begin_rows(size_t) override { misses_ = 0; }
  void missed(size_t) override { ++misses_; }
  void end_rows() override { append_number(misses_); }

 private:
  uint64_t misses_ = 0;
};

/// DROP: how many rows are gone.
class ChangedReply final : public ErrorReply {
 public:
  using ErrorReply::ErrorReply;
  void changed(const Changes& changes) override { append_number(changes.rows_changed); }
};

/// noreply: nothing, whatever happens.
class SilentReply final : public ErrorReply {
 public:
  using ErrorReply::ErrorReply;
  void failed(const Error&) override {}
  void changed(const Changes&) override {}
};

}  // namespace rowsocket::wire::echo
