// SPDX-License-Identifier: GPL-2.0-only
//
// What a client asks, in no protocol's words: the vocabulary between src/wire (which makes requests from
// bytes) and src/exec (which executes them). A request is one of the structures below. It is in the turn's
// arena, as its reply is. It views the connection's input and the arena, owns nothing, and is good until the
// end of the turn.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "request/error.h"
#include "request/reply.h"
#include "request/value.h"

namespace rowsocket {

enum class RequestKind : uint8_t {
  refused,  ///< no request, or one that may not stand here: it has a mistake
  nothing,  ///< it is answered that it is done
  open,
  find,
  insert,
  group,
  authenticate
};

/// What all requests have. `kind` says which structure it is.
struct Request {
  constexpr Request() = default;
  constexpr explicit Request(RequestKind request_kind) : kind(request_kind) {}

  RequestKind kind = RequestKind::refused;
  /// What the parser found wrong. Other errors are answered before it: authentication, an unknown id.
  ErrorCode mistake = ErrorCode::none;
  bool is_lenient = false;  ///< it holds what a strict parser would refuse
  /// Its reply changes what the parser remembers of the connection: what was asked before is made final
  /// first, so that it is never parsed again behind that change.
  bool changes_state = false;
  /// Of `refused` and `nothing`: a client that may not read is answered that it has not logged in. So it is
  /// by all other requests but `authenticate`.
  bool for_readers = false;
  Reply* reply = nullptr;  ///< never nullptr where a request is executed
};

// ---- which rows

/// What an opened selection is about: an index of a table, and columns.
struct SelectionNames {
  std::string_view database;
  std::string_view table;
  std::string_view index;           ///< name, ordinal (begins with a digit), or empty for PRIMARY
  std::string_view columns;         ///< comma-separated, may be empty
  std::string_view filter_columns;  ///< comma-separated, may be empty
  bool raw = false;                 ///< text travels as the column's own bytes, unconverted
  /// Comma-separated; where it is not empty, the index is unique, and over exactly these columns.
  std::string_view unique_columns = {};
  /// Where it is not 0, the index is unique, and over exactly so many whole columns.
  uint32_t unique_key_parts = 0;
  /// The columns of the index stand before `columns`. It is unique, and over whole columns.
  bool key_columns_first = false;
  bool integer_filters = false;  ///< the filter columns hold integers
  /// A walk goes on behind the text of a row's key, in a later request: a row stands in the index where that
  /// text does.
  bool walked_in_steps = false;
  /// In place of `columns`: those that SELECT * gives. Each value is told with its column's name (see
  /// ValueWriter::name). For reading only.
  bool all_columns = false;
};

/// The selection that a request is about: one that was opened under an id, or one in full.
struct SelectionName {
  uint32_t id = 0;
  const SelectionNames* names = nullptr;  ///< nullptr: the id counts
  bool has_columns = false;  ///< these columns (comma-separated) take the place of the opened ones
  std::string_view columns;
};

/// Which rows of the index, relative to the key. `starts_with`: all parts but the last are equal, and the
/// text of the last part begins with the value.
enum class KeyOperator : uint8_t { equal, after, at_or_after, before, at_or_before, starts_with };

[[nodiscard]] constexpr bool goes_up(KeyOperator key_operator) {
  return key_operator == KeyOperator::after || key_operator == KeyOperator::at_or_after;
}
[[nodiscard]] constexpr bool goes_down(KeyOperator key_operator) {
  return key_operator == KeyOperator::before || key_operator == KeyOperator::at_or_before;
}

/// Rows of an index between two ends, in an order. Parts that have no value in a key are open.
struct KeyRange {
  KeyOperator key_operator = KeyOperator::equal;
  std::span<const Value> key = {};
  /// The other end: it goes down where key_operator goes up, and the other way round.
  bool has_end = false;
  KeyOperator end_operator = KeyOperator::at_or_before;
  std::span<const Value> end_key = {};
  /// The rows in the opposite order: from the end, or from where the index ends.
  bool reverse = false;
  /// The key may have no values: then the rows begin where the index does.
  bool may_be_open = false;
  /// A value that no row can have finds nothing. Else it finds what SQL's comparison finds: letters in a
  /// number's place find 0.
  bool exact_values = false;
};

/// True if the other end, where there is one, goes against the key's direction.
[[nodiscard]] constexpr bool ends_face(const KeyRange& range) {
  return !range.has_end || (goes_up(range.key_operator) && goes_down(range.end_operator)) ||
         (goes_down(range.key_operator) && goes_up(range.end_operator));
}

/// Keys: the rows of one key after the other are found. They are values for one part of the range's key, or
/// whole keys.
struct KeyList {
  bool is_given = false;
  bool holds_whole_keys =
      false;          ///< `values` holds keys of as many values as the range's key has, one after the other
  uint32_t part = 0;  ///< else the key part that takes each value in turn
  std::span<const Value> values = {};
  uint64_t row_limit_per_key = 0;  ///< 0 = see exec/walk.h
};

enum class Comparison : uint8_t {
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  greater_or_unset  ///< greater, or 0, or NULL: an expiry time that is not over
};

/// What becomes of a row that does not match.
enum class Mismatch : uint8_t {
  skip,    ///< as if it were not there
  stop,    ///< the same, and so are those behind it
  refuse,  ///< it was found, but is neither told nor changed
};

/// A condition on one of the selection's filter columns.
struct Filter {
  Mismatch mismatch = Mismatch::skip;
  Comparison comparison = Comparison::equal;
  uint32_t filter_column = 0;  ///< position in the selection's filter columns
  Value value;                 ///< NULL sorts before every value; NULL = NULL is true
};

// ---- what is done with them

/// What is done to one column of a row.
enum class Operation : uint8_t {
  set,
  add,       ///< exact over the column's type; out of range is an error; NULL columns and NULL amounts stay
  subtract,  ///< the same
  add_from_zero,  ///< as `add`, and a column that is NULL counts as 0
  add_whole,      ///< the same; what was there and what comes of it are whole numbers of 64 bits with a sign
  add_wrapping,   ///< over 64 bits without a sign, as memcached's incr
  subtract_to_zero,  ///< the same, and not below 0, as memcached's decr
  append,            ///< text or bytes behind what is there
  prepend            ///< the same, before it
};

struct Assignment {
  uint32_t column = 0;  ///< position in the selection's columns
  Operation operation = Operation::set;
  Value value = {};
};

/// What is done to each row found.
struct Change {
  enum class Kind : uint8_t { none, assign, remove };
  Kind kind = Kind::none;
  std::span<const Assignment> assignments = {};  ///< each column at most once
  bool keeps_signs = false;  ///< a row stays as it is if one of its columns would change its sign
  /// The client asks for an increment or a decrement; what its protocol sets beside it only goes with that.
  bool is_increment = false;
};

/// What is told of the rows.
enum class Tell : uint8_t {
  rows,        ///< as they were found, before a change
  rows_after,  ///< as a change left them
  count        ///< how many were found, or changed
};

struct Insert;

struct Find : Request {
  constexpr Find() : Request(RequestKind::find) {}

  SelectionName selection;
  KeyRange range;
  KeyList list;
  uint64_t limit = 1;   ///< rows, after filters and offset
  uint64_t offset = 0;  ///< rows skipped first
  std::span<const Filter> filters;
  Change change;
  Tell tell = Tell::rows;
  bool drops_surplus = false;  ///< assignments beyond the columns are dropped; else they are an error
  /// Where no row was found, this is done in the same step, with the find's selection, and the find's reply
  /// is told what came of it, as of an insert. nullptr: nothing. For a find of one row that changes it.
  const Insert* otherwise = nullptr;
};

/// What an insert does where a unique key has the row already.
enum class OnDuplicate : uint8_t {
  fail,     ///< an error
  keep,     ///< leave the row that is there
  replace,  ///< delete what is there first
  change    ///< `duplicate_changes` to the row that is there
};

/// What is done to the row that is there: `operation` with the value that the row to insert has at this
/// position.
struct DuplicateChange {
  uint32_t position = 0;
  Operation operation = Operation::set;
};

struct Insert : Request {
  constexpr Insert() : Request(RequestKind::insert) {}

  SelectionName selection;
  std::span<const Value> values;  ///< for the first columns of the selection, row after row
  uint32_t row_count = 1;         ///< at least 1, and a divisor of values.size()
  OnDuplicate on_duplicate = OnDuplicate::fail;
  std::span<const DuplicateChange> duplicate_changes;
  /// OnDuplicate::change: a row that is there and does not match gets `mismatch_changes` instead. Without any
  /// it is kept.
  std::span<const Filter> duplicate_filters;
  std::span<const DuplicateChange> mismatch_changes;
  /// The first values are the whole key of the selection's index, which is unique, and name the row: only a
  /// row that has this key is there already. It is an error where a row has another unique key of the new
  /// one, where the key's columns do not hold the key exactly, or where the row would get another key.
  bool names_row = false;
  /// Room for the number of each row: rows are inserted in the order of their keys, and what came of them is
  /// told so, that two such inserts lock rows in one order and do not meet in a deadlock. Rows of one key
  /// stay in their order. Needs names_row. Empty: in the order of the request.
  std::span<uint32_t> order = {};
  bool rows_alone = false;  ///< a row that fails does not undo the others
  bool tells_rows = false;  ///< tell the rows as they are afterwards, instead of what came of them; not where
                            ///< they stand alone
  bool drops_surplus = false;  ///< values beyond the columns are dropped; else they are an error
};

// ---- the others

struct Open : Request {
  constexpr Open() : Request(RequestKind::open) {}

  uint32_t id = 0;
  SelectionNames names;
  bool tells_types = false;  ///< the reply says the columns' types
};

/// Requests that commit together, or of which nothing is done. None is itself a group, an open or an
/// authenticate.
struct Group : Request {
  constexpr Group() : Request(RequestKind::group) {}

  std::span<Request* const> members;
  bool must_change = false;  ///< a write that changes no row fails the group
  bool wants_gtid = false;   ///< the reply says the GTID of the commit
};

/// A client gives a secret, or the name and the password of an account.
struct Authenticate : Request {
  constexpr Authenticate() : Request(RequestKind::authenticate) {}

  enum class Method : uint8_t {
    port_secret,
    account,
    secret_or_account,  ///< the port's secret, whoever says it; else the account's password
    nobody              ///< the client is again what it was when it came in
  };
  Method method = Method::port_secret;
  Value user;      ///< account
  Value password;  ///< or the port's secret; empty or NULL where an account needs none
};

// ---- what can be asked of a request

namespace detail {
[[nodiscard]] bool has_member_that_writes(const Group& group);
}

/// It may change rows.
[[nodiscard]] inline bool writes(const Request& request) {
  switch (request.kind) {
    case RequestKind::find:
      return static_cast<const Find&>(request).change.kind != Change::Kind::none;
    case RequestKind::insert:
      return true;
    case RequestKind::group:
      return detail::has_member_that_writes(static_cast<const Group&>(request));
    case RequestKind::refused:
    case RequestKind::nothing:
    case RequestKind::open:
    case RequestKind::authenticate:
      return false;
  }
  return false;
}
/// The member of a group that failed says so in its own words: they know its container. False if the error is
/// not that of one member (see Reply::group_failed).
[[nodiscard]] inline bool tell_member(std::span<Request* const> members, size_t member, const Error& error) {
  if (member >= members.size()) {
    return false;
  }
  members[member]->reply->failed(error);
  return true;
}
/// Of a request that may change rows: true if it changes one row at most, in one step. If its rows stand
/// alone, this is about each of them.
[[nodiscard]] bool changes_one_row(const Request& request);
/// Of a find or an insert, which rows it is about.
[[nodiscard]] inline const SelectionName& selection_of(const Request& request) {
  return request.kind == RequestKind::insert ? static_cast<const Insert&>(request).selection
                                             : static_cast<const Find&>(request).selection;
}

/// A request behind it may mean something else than it would before it.
[[nodiscard]] inline bool changes_what_requests_mean(const Request& request) {
  return request.kind == RequestKind::open || request.kind == RequestKind::authenticate ||
         request.changes_state;
}

}  // namespace rowsocket
