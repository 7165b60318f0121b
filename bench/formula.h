// SPDX-License-Identifier: GPL-2.0-only
//
// Values that follow from a number: what stands in a column of row n, which row answers key k. A formula is text with
// placeholders; it is parsed once, and evaluated for every reply without allocating.
//
//   user{n}@example.com                     n = 1234: user1234@example.com
//   2026-01-01 {n/3600%24:2}:{n/60%60:2}    expressions are evaluated from left to right; `:2` = at least two digits
//   entry {n} {fill 1000}                   brought to 1,000 bytes
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"

namespace rowsocket::bench {

void append_number(Buffer& out, int64_t number);

/// A variable and what is done to it: `k*20+19`. Only whole numbers.
class Expression {
 public:
  /// The variable alone.
  Expression() = default;
  /// Throws std::runtime_error with a text for people.
  static Expression parse(std::string_view text, std::string_view variable);

  [[nodiscard]] int64_t at(int64_t value) const {
    for (const Step& step : steps_) {
      value = apply(step, value);
    }
    return value;
  }
  [[nodiscard]] std::string sql(std::string_view variable) const;

 private:
  struct Step {
    char operation;
    int64_t operand;  ///< not 0 for / and %
  };
  static int64_t apply(const Step& step, int64_t value);

  std::vector<Step> steps_;
};

class Formula {
 public:
  /// Throws std::runtime_error with a text for people.
  static Formula parse(std::string_view text, std::string_view variable);

  void append(Buffer& out, int64_t value) const;
  /// The same as an SQL expression over a column or variable of that name.
  [[nodiscard]] std::string sql(std::string_view variable) const;

 private:
  struct Part {
    std::string literal;  ///< comes first
    bool has_number = false;
    Expression number;
    unsigned digits_min = 1;
  };

  std::vector<Part> parts_;
  size_t fill_bytes_ = 0;  ///< 0 = as long as it is
};

}  // namespace rowsocket::bench
