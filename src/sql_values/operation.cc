// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/operation.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace rowsocket::sql_values {
namespace {

template <typename Number>
bool crosses_zero(const Number& before, const Number& after) {
  return (before < 0 && after > 0) || (before > 0 && after < 0);
}

}  // namespace

bool parse_amount(std::string_view text, Wide& amount) {
  constexpr size_t digits_max = 30;
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text.empty() || text.size() > digits_max) {
    return false;
  }
  amount = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') {
      return false;
    }
    amount = amount * 10 + (digit - '0');
  }
  amount = is_negative ? -amount : amount;
  return true;
}

Sum add(Wide before, Wide amount, SumRules rules, Wide& after) {
  after = rules.subtracts ? before - amount : before + amount;
  if (rules.keeps_signs && crosses_zero(before, after)) {
    return Sum::crosses_zero;
  }
  return after >= INT64_MIN && after <= static_cast<Wide>(UINT64_MAX) ? Sum::fits : Sum::out_of_range;
}

Sum add(double before, double amount, SumRules rules, double& after) {
  after = rules.subtracts ? before - amount : before + amount;
  if (rules.keeps_signs && crosses_zero(before, after)) {
    return Sum::crosses_zero;
  }
  return std::isfinite(after) ? Sum::fits : Sum::out_of_range;
}

bool parse_counter(std::string_view text, uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

}  // namespace rowsocket::sql_values
