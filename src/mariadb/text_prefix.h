// SPDX-License-Identifier: GPL-2.0-only
//
// Texts that begin with a given one, as LIKE 'beginning%' decides it, and the range of an index that holds
// them.
#pragma once

#include <cstddef>
#include <vector>

#include "mariadb/server_headers.h"
#include "request/value.h"

namespace rowsocket::mariadb {

/// The beginning that a text column of the current row must have, as LIKE 'beginning%' decides it.
class TextPrefix {
 public:
  /// False if no row can match: `value` has a character that the column's character set lacks.
  [[nodiscard]] bool set(Field* field, const Value& value, bool raw);
  [[nodiscard]] bool matches_row() const;
  /// The least and the greatest text, in at most `byte_count` bytes each, between which all that match stand.
  /// False if there is no such range.
  [[nodiscard]] bool range(size_t byte_count, std::vector<char>& least, std::vector<char>& greatest) const;

 private:
  Field* field_ = nullptr;
  std::vector<char> pattern_;
  /// Of the pattern, what a range can go by: up to a last character that sorts elsewhere together with the
  /// next one (as Thai vowels do), and to one for which LIKE takes others that sort elsewhere.
  size_t ranged_bytes_ = 0;
};

}  // namespace rowsocket::mariadb
