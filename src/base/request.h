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

enum class RequestKind : uint8_t { unknown, open_index, find, insert, authenticate, group };

/// Which rows of the index, relative to the key. `starts_with`: equal in all parts but the last, whose text begins with the
/// value.
enum class KeyOperator : uint8_t { equal, after, at_or_after, before, at_or_before, starts_with };

/// Rows of an index between two ends, in an order. Parts that have no value in a key are open.
struct KeyRange {
  KeyOperator key_operator = KeyOperator::equal;
  std::span<const Value> key = {};
  /// The other end: `before` or `at_or_before` where key_operator is `after` or `at_or_after`, and the other way round.
  bool has_end = false;
  KeyOperator end_operator = KeyOperator::at_or_before;
  std::span<const Value> end_key = {};
  /// The rows in the opposite order: from the end, or from where the index ends.
  bool reverse = false;
};

enum class Comparison : uint8_t { equal, not_equal, less, less_or_equal, greater, greater_or_equal };

/// What to do with the rows found.
enum class Modification : uint8_t { none, update, remove, increment, decrement };

/// What a find replies with.
enum class FindReply : uint8_t {
  rows,        ///< as they were found, before a modification
  rows_after,  ///< as a modification left them
  count        ///< how many were found, or changed
};

/// What an insert does where a unique key has the row already.
enum class OnDuplicate : uint8_t {
  fail,     ///< an error
  keep,     ///< leave the row that is there
  replace,  ///< delete what is there first
  update    ///< set and add to columns of the row that is there
};

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

/// What came of one row of an insert.
struct RowOutcome {
  Error error;                  ///< ok, or why the row is not there (only where rows stand alone)
  uint32_t rows_affected;       ///< 1 = inserted, 2 = another row replaced or updated, 0 = nothing changed
  bool has_id;                  ///< the table has an AUTO_INCREMENT column
  uint64_t id;                  ///< its value where it was generated, or of the row that was updated or kept; else 0
  bool id_is_negative = false;  ///< `id` is that of a signed column, and below 0: these bits as an int64_t
};

struct Request {
  RequestKind kind = RequestKind::unknown;
  /// Set where the parse failed; exec answers it, after what must be answered first (authentication, unknown id).
  ErrorCode parse_error = ErrorCode::none;

  uint32_t index_id = 0;  ///< open_index, find, insert
  OpenIndexRequest open;  ///< open_index

  /// find, insert: these columns (comma-separated) take the place of the open_index's for this request.
  bool has_columns = false;
  std::string_view columns;

  KeyOperator key_operator = KeyOperator::equal;   ///< find
  Modification modification = Modification::none;  ///< find
  FindReply reply = FindReply::rows;               ///< find
  bool reverse = false;                            ///< find: see KeyRange
  bool has_end = false;                            ///< find: see KeyRange
  KeyOperator end_operator = KeyOperator::equal;   ///< find: see KeyRange
  std::span<const Value> end_values;               ///< find: see KeyRange
  bool has_in_list = false;                        ///< find
  bool lists_whole_keys = false;      ///< find: in_values holds keys of values.size() values each, one after the other
  uint32_t in_key_part = 0;           ///< find: else the key part that takes each IN value in turn
  uint64_t limit = 1;                 ///< find: rows, after filters and offset
  uint64_t offset = 0;                ///< find: rows skipped first
  uint64_t limit_per_value = 0;       ///< find: rows of each IN value; 0 = see exec/walk.h
  std::span<const Value> values;      ///< find: key values; insert: column values, row after row
  std::span<const Value> in_values;   ///< find
  std::span<const Filter> filters;    ///< find
  std::span<const Value> new_values;  ///< find with modification: for the first columns of the open_index
  bool drops_surplus = false;         ///< find, insert: values beyond the columns are dropped; else they are an error
  bool is_lenient = false;            ///< find: it holds what a strict parser would refuse

  uint32_t row_count = 1;                        ///< insert: at least 1, and a divisor of values.size()
  OnDuplicate on_duplicate = OnDuplicate::fail;  ///< insert
  std::span<const uint32_t> set_on_duplicate;    ///< insert: positions in a row's values
  std::span<const uint32_t> add_on_duplicate;    ///< insert: positions in a row's values
  bool rows_alone = false;                       ///< insert: a row that fails does not undo the others
  bool reply_outcomes = false;                   ///< insert: reply what came of each row

  /// group: these commit together, or nothing of them is done. None is itself a group, an open_index or an authenticate.
  std::span<const Request> members;
  bool must_change = false;  ///< group: a write that changes no row fails it
  bool wants_gtid = false;   ///< group: the last reply says the GTID of the commit

  uint32_t authentication_type = 0;  ///< authenticate: 1 = plain secret
  Value secret;                      ///< authenticate

  /// True if it may change rows. Of a group: if one of its members may.
  [[nodiscard]] bool writes() const {
    if (kind == RequestKind::group) {
      for (const Request& member : members) {
        if (member.writes()) {
          return true;
        }
      }
      return false;
    }
    return kind == RequestKind::insert || (kind == RequestKind::find && modification != Modification::none);
  }

  /// Of a request that may change rows: true if it is one row at most, in one step. Where rows stand alone, of each of them.
  [[nodiscard]] bool changes_one_row() const {
    return kind == RequestKind::insert ? (row_count == 1 || rows_alone) && on_duplicate != OnDuplicate::replace
                                       : limit <= 1 && !has_in_list;
  }
};

}  // namespace rowsocket
