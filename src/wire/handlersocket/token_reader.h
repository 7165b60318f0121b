// SPDX-License-Identifier: GPL-2.0-only
//
// Reads one line's tokens front to back, each byte once. Tokens are separated by one TAB; reading past the
// last one gives empty tokens, as HandlerSocket clients expect. The first error stays and ends the line. So a
// parser reads on as if all were well, and looks at `error()` only before it allocates, and at the end.
//
// Views the line, and the arena for values that had to be unescaped. A parser copies the reader to look
// ahead: this is cheap.
//
//   value on the wire                       read as
//   (no byte)                               empty string
//   00                                      NULL
//   01 't'                                  now
//   01 40..4F                               the byte 00..0F
//   10..FF, and 02..08 0B..0F unescaped     themselves
//   00 beside other bytes, any other 01 xx  error: syntax
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/arena.h"
#include "request/error.h"
#include "request/value.h"

namespace rowsocket::wire::handlersocket {

/// The token that stands for NULL.
inline constexpr std::string_view null_token{"\0", 1};
/// The token that stands for the time of the request. No value: 't' is no escaped byte.
inline constexpr std::string_view now_token = "\x01t";

/// The first byte below 0x10 of [from, end): a TAB, an escape, a NUL or a stray control byte. `end` if there
/// is none.
inline const char* find_control(const char* from, const char* end) {
#if defined(__SSE2__)
  const __m128i first_plain = _mm_set1_epi8(0x10);
  while (end - from >= 16) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const int plain = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(chunk, first_plain), chunk));
    if (plain != 0xFFFF) {
      return from + __builtin_ctz(~static_cast<unsigned>(plain));
    }
    from += 16;
  }
#endif
  while (from != end && static_cast<unsigned char>(*from) >= 0x10) {
    ++from;
  }
  return from;
}

class TokenReader {
 public:
  /// `line` without its line end; its data is not nullptr.
  TokenReader(std::string_view line, Arena& arena)
      : next_(line.data()), end_(line.data() + line.size()), arena_(&arena) {}

  [[nodiscard]] ErrorCode error() const { return error_; }
  [[nodiscard]] bool ok() const { return error_ == ErrorCode::none; }
  void fail(ErrorCode code) {
    if (ok()) {
      error_ = code;
    }
    next_ = nullptr;
  }

  /// Whether a token is left, be it empty.
  [[nodiscard]] bool has_token() const { return next_ != nullptr; }
  /// Whether nothing is left but, at most, one empty token: a TAB at the end of a line asks for nothing.
  [[nodiscard]] bool at_end() const { return next_ == nullptr || next_ == end_; }
  /// The first byte of the next token, be it the TAB behind an empty one; '\0' at the end.
  [[nodiscard]] char next_byte() const { return at_end() ? '\0' : *next_; }
  /// The next token, which is not taken.
  [[nodiscard]] std::string_view peek() const { return TokenReader(*this).token(); }
  /// More tokens than this can not be left. Costs nothing.
  [[nodiscard]] size_t tokens_left_max() const {
    return next_ == nullptr ? 0 : static_cast<size_t>(end_ - next_) + 1;
  }
  /// How many tokens are left; counts no further than `count_max`.
  [[nodiscard]] size_t tokens_left(size_t count_max) const;

  /// The next token's bytes as they came.
  std::string_view token() {
    if (next_ == nullptr) {
      return {};
    }
    const char* const begin = next_;
    const char* stop = find_control(begin, end_);
    if (stop != end_ && *stop != '\t') [[unlikely]] {
      stop = find_separator(stop);
    }
    next_ = stop == end_ ? nullptr : stop + 1;
    return {begin, static_cast<size_t>(stop - begin)};
  }

  /// The next token as a decimal number of 64 bits; an empty or missing one is 0.
  uint64_t number() {
    uint64_t number = 0;
    if (next_ == nullptr) {
      return 0;
    }
    const char* from = next_;
    for (; from != end_ && *from != '\t'; ++from) {
      const auto digit = static_cast<unsigned char>(*from - '0');
      if (digit > 9 || __builtin_mul_overflow(number, uint64_t{10}, &number) ||
          __builtin_add_overflow(number, uint64_t{digit}, &number)) [[unlikely]] {
        fail(ErrorCode::syntax);
        return 0;
      }
    }
    next_ = from == end_ ? nullptr : from + 1;
    return number;
  }

  /// The next token as a value; a missing one is the empty string.
  Value value() {
    if (next_ == nullptr) {
      return Value("", 0);
    }
    const char* const begin = next_;
    const char* const stop = find_control(begin, end_);
    if (stop == end_ || *stop == '\t') [[likely]] {
      next_ = stop == end_ ? nullptr : stop + 1;
      return {begin, static_cast<size_t>(stop - begin)};
    }
    return decode(token());
  }

 private:
  [[nodiscard]] const char* find_separator(const char* from) const;
  /// The value of a token that has a byte below 0x10.
  Value decode(std::string_view token);

  const char* next_;  ///< where the next token begins; nullptr after the last
  const char* end_;
  Arena* arena_;
  ErrorCode error_ = ErrorCode::none;
};

}  // namespace rowsocket::wire::handlersocket
