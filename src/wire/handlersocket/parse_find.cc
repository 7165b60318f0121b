// SPDX-License-Identifier: GPL-2.0-only
//
// Finds, with what is done to the rows found.
//
//   operator count value... [limit offset [clause...] [modification]]
#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {
namespace {

struct Modification {
  Change::Kind kind;
  Operation operation;
};

std::optional<Modification> modification_of(char letter) {
  switch (letter) {
    case 'U':
      return Modification{Change::Kind::assign, Operation::set};
    case 'D':
      return Modification{Change::Kind::remove, Operation::set};
    case '+':
      return Modification{Change::Kind::assign, Operation::add};
    case '-':
      return Modification{Change::Kind::assign, Operation::subtract};
    default:
      return std::nullopt;
  }
}

/// What a find with a modification tells: the mark after the modification's letter says so. None if the mark
/// can not stand there.
std::optional<Tell> tell_of(Change::Kind kind, std::string_view suffix) {
  if (suffix.empty()) {
    return Tell::count;
  }
  if (suffix == "?") {
    return Tell::rows;
  }
  if (suffix == "!" && kind != Change::Kind::remove) {
    return Tell::rows_after;
  }
  return std::nullopt;
}

/// The values for the first columns, as many as there are tokens left.
void parse_assignments(Operation operation, TokenReader& reader, Scope& scope, Find& find) {
  const size_t count = reader.tokens_left(size_t{limits::value_count_max} + 1);
  if (count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
  }
  const bool is_amount = operation != Operation::set;
  const auto assignments = take_room_for_values<Assignment>(reader, scope, count);
  for (uint32_t column = 0; column < assignments.size(); ++column) {
    Value value = reader.value();
    if (is_amount && !scope.settings.strict && value.view().empty() && !value.is_null() && !value.is_now()) {
      value = Value();  // clients send empty tokens for columns that they leave alone
      find.is_lenient = true;
    }
    if (is_amount && value.is_now()) {
      reader.fail(ErrorCode::syntax);
    }
    assignments[column] = {column, operation, value};
  }
  find.change.assignments = assignments;
  find.change.keeps_signs = operation == Operation::subtract;
  find.drops_surplus = !scope.settings.strict && !find.selection.has_columns;
}

/// modification value... False if there is no such modification.
bool parse_modification(TokenReader& reader, Scope& scope, Find& find) {
  const std::string_view token = reader.token();
  if (token.empty()) {
    return true;  // none: the original takes this for a plain find, and ignores what follows
  }
  if (token == "#") {
    find.tell = Tell::count;
    return true;
  }
  const std::optional<Modification> modification = modification_of(token[0]);
  if (!modification) {
    return false;
  }
  const std::optional<Tell> tell = tell_of(modification->kind, token.substr(1));
  if (!tell) {
    return false;
  }
  find.change.kind = modification->kind;
  find.tell = *tell;
  if (modification->kind == Change::Kind::assign) {
    parse_assignments(modification->operation, reader, scope, find);
  }
  return true;
}

/// What follows a find's key values.
void parse_options(TokenReader& reader, Scope& scope, Find& find, Mistakes& mistakes) {
  const uint64_t limit = reader.number();
  find.offset = std::min(reader.number(), row_count_max);
  while (!reader.at_end() && parse_clause(reader, scope, find, mistakes)) {
  }
  if (find.list.row_limit_per_key != 0 && !find.list.is_given) {
    reader.fail(ErrorCode::syntax);
  }
  if (!reader.at_end()) {
    mistakes.bad_modification = !parse_modification(reader, scope, find);
  }
  const bool counts_rows = find.change.kind == Change::Kind::none && find.tell == Tell::count;
  find.limit = counts_rows && limit == 0 ? row_count_max : std::clamp(limit, uint64_t{1}, row_count_max);
}

/// The mistakes that the original notices when it has read the whole line, in its order.
void report(const Mistakes& mistakes, bool is_sql, const KeyRange& range, TokenReader& reader) {
  const bool is_wrong = mistakes.bad_operator || mistakes.no_key_values || mistakes.bad_modification;
  // If the ends do not face each other, exec refuses the request. In a line that has another mistake, too,
  // the ends are the mistake that is answered.
  if (!is_sql && is_wrong && (mistakes.bad_operator || !ends_face(range))) {
    reader.fail(ErrorCode::bad_operator);
  } else if (mistakes.no_key_values) {
    reader.fail(ErrorCode::no_key_values);
  } else if (is_sql) {
    reader.fail(ErrorCode::not_implemented);
  } else if (mistakes.bad_modification) {
    reader.fail(ErrorCode::bad_modification);
  }
}

void parse_rest(std::string_view operator_token, TokenReader& reader, Scope& scope, Find& find) {
  const bool is_sql = operator_token == "S";  // reserved by the original, and never built
  const std::optional<KeyOperator> key_operator = key_operator_of(operator_token);
  find.range.key_operator = key_operator.value_or(KeyOperator::equal);
  const uint64_t value_count = reader.number();
  if (value_count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
    return;
  }
  find.range.key = take_values(reader, scope, static_cast<size_t>(value_count));
  Mistakes mistakes{.bad_operator = !key_operator, .no_key_values = value_count == 0};
  if (!reader.at_end()) {
    parse_options(reader, scope, find, mistakes);
  }
  report(mistakes, is_sql, find.range, reader);
}

}  // namespace

Request* parse_find(uint32_t id, std::string_view operator_token, TokenReader& reader, Scope& scope) {
  auto* const find = make_request<Find>(scope);
  if (find == nullptr) [[unlikely]] {
    return nullptr;
  }
  find->selection.id = id;
  if (reader.ok()) {
    parse_rest(operator_token, reader, scope, *find);
  }
  find->mistake = reader.error();
  return find;
}

}  // namespace rowsocket::wire::handlersocket
