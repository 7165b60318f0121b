// SPDX-License-Identifier: GPL-2.0-only
//
// What an operation makes of a number: sums that are exact or refused, and the counters of memcached.
#pragma once

#include <cstdint>
#include <string_view>

#include "request/request.h"

namespace rowsocket::sql_values {

/// What came of an operation on a column.
enum class Operated : uint8_t {
  done,
  refused,  ///< a sum would carry the value across zero: the whole row is to stay
  failed
};

[[nodiscard]] constexpr bool is_sum(Operation operation) {
  return operation == Operation::add || operation == Operation::subtract;
}

/// What is done to a column where NULL counts as 0: such a column takes the amount as it is.
[[nodiscard]] constexpr Operation without_null(Operation operation, bool column_is_null) {
  if (operation != Operation::add_from_zero && operation != Operation::add_whole) {
    return operation;
  }
  return column_is_null ? Operation::set : Operation::add;
}

/// NULL as the value changes nothing, unless it is set. No sum changes a column that is NULL.
[[nodiscard]] constexpr bool changes_nothing(Operation operation, bool value_is_null, bool column_is_null) {
  return (value_is_null && operation != Operation::set) || (is_sum(operation) && column_is_null);
}

/// Wide enough that no sum of two amounts wraps.
using Wide = __int128;

/// The amount of a sum, as a whole number of at most 30 digits, with or without a sign. False if the text is
/// none.
[[nodiscard]] bool parse_amount(std::string_view text, Wide& amount);

struct SumRules {
  bool subtracts;
  bool keeps_signs;  ///< a sum that carries its column across zero is refused
};

enum class Sum : uint8_t { fits, crosses_zero, out_of_range };

/// In range is what 64 bits can hold, with or without a sign.
[[nodiscard]] Sum add(Wide before, Wide amount, SumRules rules, Wide& after);
/// In range is what is finite.
[[nodiscard]] Sum add(double before, double amount, SumRules rules, double& after);

/// A counter, or what is counted by: a number from 0 to 2^64 - 1. False if the text is none.
[[nodiscard]] bool parse_counter(std::string_view text, uint64_t& number);

/// As memcached's incr and decr: up, a counter goes on at 0 behind 2^64 - 1; down, it stops at 0.
[[nodiscard]] constexpr uint64_t count(uint64_t before, uint64_t amount, bool down) {
  if (!down) {
    return before + amount;
  }
  return amount < before ? before - amount : 0;
}

}  // namespace rowsocket::sql_values
