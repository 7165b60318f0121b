// SPDX-License-Identifier: GPL-2.0-only
//
// Rows that commands put into containers: the values of a row, and what an insert does where the row is
// there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wire/resp/parts.h"

namespace rowsocket::wire::resp {

/// What becomes of a row that is there.
enum class Existing : uint8_t {
  replace,
  replace_but_expiry,
  keep,
  combine  ///< the value's column takes the operation
};

/// What stands in a row behind its key, in a container's selection `whole`: values, flags, cas, expiry.
struct RowShape {
  uint32_t key_parts;
  uint32_t size;  ///< of a whole row
  bool writes_cas;

  explicit RowShape(const Container& container)
      : key_parts(container.key_part_count), writes_cas(container.writes_cas()) {
    size = key_parts + container.value_count + (container.has_flags ? 1U : 0U) + (writes_cas ? 1U : 0U) +
           (container.has_expiry ? 1U : 0U);
  }
};

/// The values of one row. False where memory is refused.
[[nodiscard]] bool fill_row(const Scope& scope, const Key& key, std::string_view value, uint64_t expires_s,
                            std::span<Value> row);
/// The same in the arena; empty where memory is refused.
[[nodiscard]] std::span<const Value> make_row(const Scope& scope, const Key& key, std::string_view value,
                                              uint64_t expires_s);
/// Some rows of one container; `values` are theirs. The reply is still to be made. nullptr where memory is
/// refused.
[[nodiscard]] Insert* make_insert(const Scope& scope, const Container& container,
                                  std::span<const Value> values, Existing existing,
                                  Operation operation = Operation::set);

}  // namespace rowsocket::wire::resp
