// SPDX-License-Identifier: GPL-2.0-only
//
// Some requests of one connection that are parsed, and wait to be executed one after the other.
//
// The code that parses, and the code that executes, do not fit the processor's first cache together. So of a
// pipeline a few requests are parsed in one go, and then executed in one go: a third of the misses are left
// (docs/benchmarks/findings.md). Only what the protocol calls stateless is overtaken so (see
// Parsed::is_stateless).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/limits.h"
#include "request/protocol.h"

namespace rowsocket {

class ParsedAhead {
 public:
  [[nodiscard]] bool is_empty() const { return next_ == count_; }

  /// Parse the first request of `input`, which is not empty, and those behind it, as far as each one's
  /// predecessor is stateless; `count_max` (at least 1) at most. Only when it is empty. What it takes lives
  /// in the arena, and views the input.
  void parse(const Protocol& protocol, std::string_view input, Parsing parsing, size_t count_max);
  /// The next one. Only when it is not empty.
  [[nodiscard]] const Parsed& take() { return parsed_[next_++]; }
  /// What is left is not executed: it will be parsed again.
  void forget(size_t& scanned_bytes) {
    if (!is_empty()) {
      scanned_bytes = 0;
    }
    next_ = count_ = 0;
  }

 private:
  std::array<Parsed, limits::requests_ahead_max> parsed_{};
  size_t next_ = 0;
  size_t count_ = 0;
};

inline void ParsedAhead::parse(const Protocol& protocol, std::string_view input, Parsing parsing,
                               size_t count_max) {
  next_ = count_ = 0;
  const size_t end = std::min(count_max, parsed_.size());
  const size_t bytes_max = std::min(input.size(), limits::bytes_ahead_max);
  size_t bytes = 0;
  do {
    const Parsed parsed = protocol.parse(input.substr(bytes), parsing);
    if (parsed.status != Parsed::Status::need_more) {
      parsing.scanned_bytes = 0;
    }
    if (parsed.status == Parsed::Status::later) {
      return;
    }
    parsed_[count_++] = parsed;
    parsing.is_ahead = true;
    bytes += parsed.is_stateless ? parsed.consumed_bytes : bytes_max;
  } while (count_ < end && bytes < bytes_max);
}

}  // namespace rowsocket
