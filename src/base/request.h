// SPDX-License-Identifier: GPL-2.0-only
//
// What a client asks, in no protocol's words: the vocabulary between src/wire (which makes requests from bytes) and src/exec
// (which executes them). A request owns nothing: it views the connection's receive buffer and the turn's arena, and is good
// until the end of the turn.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/value.h"

namespace rowsocket {

enum class RequestKind : uint8_t { unknown, open_index, find, insert, authenticate };

/// Which rows of the index, relative to the key.
enum class KeyOperator : uint8_t { equal, after, at_or_after, before, at_or_before };

enum class Comparison : uint8_t { equal, not_equal, less, less_or_equal, greater, greater_or_equal };

/// What to do with the rows found.
enum class Modification : uint8_t { none, update, remove, increment, decrement };

/// A condition on one of the index's filter columns.
struct Filter {
  bool stop_at_mismatch = false;  ///< stop at the first row that does not match, instead of skipping it
  Comparison comparison = Comparison::equal;
  uint32_t filter_column = 0;  ///< position in the open_index's filter columns
  Value value;                 ///< NULL sorts before every value; NULL = NULL is true
};

struct OpenIndexRequest {
  std::string_view database;
  std::string_view table;
  std::string_view index;           ///< name, ordinal (begins with a digit), or empty for PRIMARY
  std::string_view columns;         ///< comma-separated, may be empty
  std::string_view filter_columns;  ///< comma-separated, may be empty
  bool raw = false;                 ///< text travels as the column's own bytes, unconverted
};

struct Request {
  RequestKind kind = RequestKind::unknown;
  /// Set where the parse failed; exec answers it, after what must be answered first (authentication, unknown id).
  ErrorCode parse_error = ErrorCode::none;

  uint32_t index_id = 0;  ///< open_index, find, insert
  OpenIndexRequest open;  ///< open_index

  KeyOperator key_operator = KeyOperator::equal;   ///< find
  Modification modification = Modification::none;  ///< find
  bool return_rows_before = false;                 ///< find with modification: reply with the rows as they were
  bool has_in_list = false;                        ///< find
  uint32_t in_key_part = 0;                        ///< find: the key part that takes each IN value in turn
  uint64_t limit = 1;                              ///< find: rows, after filters and offset
  uint64_t offset = 0;                             ///< find: rows skipped first
  std::span<const Value> values;                   ///< find: key values; insert: column values
  std::span<const Value> in_values;                ///< find
  std::span<const Filter> filters;                 ///< find
  std::span<const Value> new_values;               ///< find with modification: for the first columns of the open_index

  uint32_t authentication_type = 0;  ///< authenticate: 1 = plain secret
  Value secret;                      ///< authenticate

  [[nodiscard]] bool writes() const {
    return kind == RequestKind::insert || (kind == RequestKind::find && modification != Modification::none);
  }
};

}  // namespace rowsocket
