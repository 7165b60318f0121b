// SPDX-License-Identifier: GPL-2.0-only
//
// Inserts: of one row, as the original has it, and of many.
//
//   +  count value...
//   ++ count rows value... [C columns] [I | R | [U positions] [+ positions]] [E]
#include <algorithm>
#include <span>
#include <utility>

#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {
namespace {

/// What the clauses of one insert have said so far.
struct Clauses {
  size_t value_count;  ///< of a row
  std::span<bool>
      is_changed;  ///< of each value of a row, whether a change names it; none while there is no change
  bool has_set = false;
  bool has_add = false;
};

/// The changes of one clause are written behind the changes of an earlier clause.
std::span<DuplicateChange> take_changes(TokenReader& reader, Scope& scope, Insert& insert, size_t count) {
  const auto before = insert.duplicate_changes;
  const auto changes = take_array<DuplicateChange>(reader, scope.arena, before.size() + count);
  if (changes.empty()) {
    return {};
  }
  std::copy(before.begin(), before.end(), changes.begin());
  insert.duplicate_changes = changes;
  return changes.subspan(before.size());
}

/// positions: numbers below the count of values, with one comma between each two. They are added to the
/// insert's changes.
void require_changes(Operation operation, TokenReader& reader, Scope& scope, Insert& insert,
                     Clauses& clauses) {
  require_token(reader);
  std::string_view list = reader.token();
  const auto position_count = static_cast<size_t>(std::count(list.begin(), list.end(), ',')) + 1;
  if (position_count > clauses.value_count) {
    reader.fail(ErrorCode::syntax);
  }
  if (clauses.is_changed.empty()) {
    clauses.is_changed = take_array<bool>(reader, scope.arena, clauses.value_count);
    std::fill(clauses.is_changed.begin(), clauses.is_changed.end(), false);
  }
  for (DuplicateChange& change : take_changes(reader, scope, insert, position_count)) {
    const std::string_view digits = list.substr(0, list.find(','));
    list.remove_prefix(std::min(digits.size() + 1, list.size()));
    TokenReader number(digits, scope.arena);
    const uint64_t position = number.number();
    if (digits.empty() || !number.ok() || position >= clauses.value_count ||
        std::exchange(clauses.is_changed[position], true)) {
      reader.fail(ErrorCode::syntax);
      return;
    }
    change = {static_cast<uint32_t>(position), operation};
  }
}

/// What is done to the row that a unique key has already. A second, other choice is a mistake. U and + count
/// as one choice.
void choose(TokenReader& reader, Insert& insert, OnDuplicate on_duplicate, bool was_there) {
  if (was_there || (insert.on_duplicate != OnDuplicate::fail && insert.on_duplicate != on_duplicate)) {
    reader.fail(ErrorCode::syntax);
  }
  insert.on_duplicate = on_duplicate;
}

void parse_clause(TokenReader& reader, Scope& scope, Insert& insert, Clauses& clauses) {
  if (reader.peek() == "C") {
    if (insert.selection.has_columns) {
      reader.fail(ErrorCode::syntax);
    }
    parse_columns(reader, insert.selection);
    return;
  }
  const std::string_view clause = reader.token();
  if (clause == "I") {
    choose(reader, insert, OnDuplicate::keep, insert.on_duplicate == OnDuplicate::keep);
  } else if (clause == "R") {
    choose(reader, insert, OnDuplicate::replace, insert.on_duplicate == OnDuplicate::replace);
  } else if (clause == "U") {
    choose(reader, insert, OnDuplicate::change, std::exchange(clauses.has_set, true));
    require_changes(Operation::set, reader, scope, insert, clauses);
  } else if (clause == "+") {
    choose(reader, insert, OnDuplicate::change, std::exchange(clauses.has_add, true));
    require_changes(Operation::add, reader, scope, insert, clauses);
  } else if (clause == "E" && !insert.rows_alone) {
    insert.rows_alone = true;
  } else {
    reader.fail(ErrorCode::syntax);
  }
}

void parse_row(TokenReader& reader, Scope& scope, Insert& insert) {
  const uint64_t count = reader.number();
  if (count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
    return;
  }
  insert.values = take_values(reader, scope, static_cast<size_t>(count));
  insert.drops_surplus = !scope.settings.strict;
  if (count == 0) {
    reader.fail(ErrorCode::no_key_values);
  }
}

void parse_rows(TokenReader& reader, Scope& scope, Insert& insert) {
  const uint64_t count = require_number(reader);
  const uint64_t row_count = require_number(reader);
  if (count > limits::value_count_max || row_count > limits::insert_rows_max) {
    reader.fail(ErrorCode::too_many_values);
  } else if (count == 0 || row_count == 0) {
    reader.fail(ErrorCode::no_key_values);
  }
  if (!reader.ok()) {
    return;
  }
  insert.row_count = static_cast<uint32_t>(row_count);
  insert.values = require_values(reader, scope, static_cast<size_t>(count * row_count));
  Clauses clauses{.value_count = static_cast<size_t>(count), .is_changed = {}};
  while (!reader.at_end()) {
    parse_clause(reader, scope, insert, clauses);
  }
}

template <typename KindOfReply>
Request* make_insert(uint32_t id, TokenReader& reader, Scope& scope,
                     void (*parse)(TokenReader&, Scope&, Insert&)) {
  auto* const insert = make_request<Insert, KindOfReply>(scope);
  if (insert == nullptr) [[unlikely]] {
    return nullptr;
  }
  insert->selection.id = id;
  if (reader.ok()) {
    parse(reader, scope, *insert);
  }
  insert->mistake = reader.error();
  return insert;
}

}  // namespace

Request* parse_insert(uint32_t id, TokenReader& reader, Scope& scope) {
  return make_insert<InsertReply>(id, reader, scope, parse_row);
}

Request* parse_insert_rows(uint32_t id, TokenReader& reader, Scope& scope) {
  return make_insert<OutcomesReply>(id, reader, scope, parse_rows);
}

}  // namespace rowsocket::wire::handlersocket
