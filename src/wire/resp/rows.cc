// SPDX-License-Identifier: GPL-2.0-only
//
// ROWS.FIND, ROWS.COUNT and ROWS.CHANGE: ranges of any index.
//
//   ROWS.FIND   table columns  operator n value...  [clause...]
//   ROWS.COUNT  table          operator n value...  [clause...]
//   ROWS.CHANGE table          operator n value...  [clause...]  change...
//
//   clauses  TO operator n value... | REVERSE | LIMIT n | OFFSET n | IN part n value... | KEYS n value...
//            | EACH n | WHERE column operator value | WHILE column operator value | NAMES
//            | NULLS text | NOW text
//   changes  SET column value | SETNULL column | ADD column n | SUB column n | APPEND column text
//            | PREPEND column text | DELETE | RETURN BEFORE|AFTER columns | MUST
#include <algorithm>

#include "base/limits.h"
#include "wire/resp/commands.h"
#include "wire/resp/rows_reader.h"
#include "wire/resp/rows_reply.h"

namespace rowsocket::wire::resp {
namespace {

struct ChangeWord {
  std::string_view word;
  Operation operation;
};
constexpr ChangeWord change_words[] = {
    {"SET", Operation::set},       {"ADD", Operation::add},         {"SUB", Operation::subtract},
    {"APPEND", Operation::append}, {"PREPEND", Operation::prepend},
};

/// One of the three commands, argument by argument.
class RowsParser : public RangeReader {
 public:
  using RangeReader::RangeReader;

  void find();
  void count();
  void change();

 private:
  // Each returns false where the plan refuses the command.
  [[nodiscard]] bool take_clauses(bool may_change);
  [[nodiscard]] bool take_change(std::string_view word, bool& taken);
  [[nodiscard]] bool make_room();
  void tell_rows(std::string_view columns, bool only_first);

  // Room for as many as there can be.
  std::span<std::string_view> columns_;  ///< that are changed
  std::span<Assignment> assignments_;
  size_t assignment_count_ = 0;
  bool removes_ = false;
  std::string_view returned_ = {};
};

bool RowsParser::make_room() {
  const size_t room = std::min(arguments_.size(), size_t{limits::value_count_max});
  columns_ = scope_.arena().array<std::string_view>(room);
  assignments_ = scope_.arena().array<Assignment>(room);
  return (!columns_.empty() && !assignments_.empty()) || out_of_memory();
}

bool RowsParser::take_change(std::string_view word, bool& taken) {
  taken = true;
  if (is_word(word, "DELETE")) {
    removes_ = true;
    return true;
  }
  if (is_word(word, "MUST")) {
    plan_.demand_changes();
    return true;
  }
  if (is_word(word, "RETURN")) {
    std::string_view when;
    if (!take_text(when) || !take_text(returned_)) {
      return false;
    }
    find_->tell = is_word(when, "AFTER") ? Tell::rows_after : Tell::rows;
    return is_word(when, "AFTER") || is_word(when, "BEFORE") || refuse(syntax_error);
  }
  const bool sets_null = is_word(word, "SETNULL");
  const ChangeWord* const found = sets_null ? &change_words[0] : find_word(change_words, word);
  if (found == nullptr) {
    taken = false;
    return true;
  }
  std::string_view column;
  std::string_view value;
  if (!take_text(column) || (!sets_null && !take_text(value))) {
    return false;
  }
  if (assignment_count_ == assignments_.size()) {
    return refuse("-ERR too many changes");
  }
  columns_[assignment_count_] = column;
  assignments_[assignment_count_++] = {.operation = found->operation,
                                       .value = sets_null ? Value() : Value(value)};
  return true;
}

bool RowsParser::take_clauses(bool may_change) {
  while (!at_end()) {
    const std::string_view word = arguments_[at_++];
    bool taken = false;
    if (may_change && !take_change(word, taken)) {
      return false;
    }
    if (!taken && !take_clause(word)) {
      return false;
    }
  }
  for (Assignment& one : assignments_.first(assignment_count_)) {
    if (one.operation == Operation::set) {
      replace_stand_ins({&one.value, 1});
    }
  }
  return finish();
}

/// The rows' columns are `columns`; with `only_first` others of the selection stand behind them.
void RowsParser::tell_rows(std::string_view columns, bool only_first) {
  RowsReply::Shape shape{.has_names = has_names_};
  std::span<std::string_view> prefixes;
  if (names_->all_columns) {
    shape.has_names = true;
    shape.told_count = scope_.arena().make<uint32_t>(0);
    if (shape.told_count == nullptr) {
      plan_.add(nullptr);
      return;
    }
  } else {
    const size_t all_count = column_count_of(names_->columns);
    shape.column_count = static_cast<uint32_t>(column_count_of(columns));
    shape.ends = only_first ? scope_.arena().array<ColumnEnd>(all_count) : std::span<ColumnEnd>();
    prefixes = has_names_ ? scope_.arena().array<std::string_view>(all_count) : std::span<std::string_view>();
    if ((only_first && shape.ends.empty()) || (has_names_ && prefixes.empty())) {
      plan_.add(nullptr);
      return;
    }
    for (size_t number = 0; has_names_ && number < shape.column_count; ++number) {
      const std::string_view name = columns.substr(0, columns.find(','));
      const Value size = number_value(scope_, static_cast<int64_t>(name.size()));
      const std::string_view parts[] = {"$", size.view(), line_end, name, line_end};
      prefixes[number] = joined(scope_, parts, {});
      columns.remove_prefix(std::min(name.size() + 1, columns.size()));
      if (size.is_null() || prefixes[number].empty()) {
        plan_.add(nullptr);
        return;
      }
    }
  }
  plan_.add(with_reply<RowsReply>(scope_, find_, scope_.version(), shape,
                                  has_names_ && !prefixes.empty() ? prefixes.data() : nullptr));
}

void RowsParser::find() {
  if (!begin(3) || !take_clauses(false)) {
    return;
  }
  const std::string_view columns = arguments_[2];
  if (columns == "*") {
    names_->all_columns = true;
  } else if (columns.empty()) {
    plan_.refuse("-ERR columns are a list with commas, or *");
    return;
  } else if (column_count_of(columns) > limits::value_count_max) {
    plan_.refuse(too_many_columns);
    return;
  }
  names_->columns = names_->all_columns ? std::string_view() : columns;
  tell_rows(columns, false);
}

void RowsParser::count() {
  if (!begin(2) || !take_clauses(false)) {
    return;
  }
  find_->tell = Tell::count;
  auto* const sum = scope_.arena().make<uint64_t>(0);
  plan_.add(sum == nullptr ? nullptr : with_reply<SumReply>(scope_, find_, nullptr, sum, true, true));
}

void RowsParser::change() {
  if (!begin(2) || !make_room()) {
    return;
  }
  find_->limit = 1;
  find_->tell = Tell::count;
  if (!take_clauses(true)) {
    return;
  }
  if (removes_ == (assignment_count_ > 0)) {
    plan_.refuse("-ERR either DELETE, or at least one of SET, SETNULL, ADD, SUB, APPEND and PREPEND");
    return;
  }
  std::string_view changed;
  if (assignment_count_ > 0 && !take_columns(scope_, columns_.first(assignment_count_), changed, plan_)) {
    return;
  }
  if (column_count_of(returned_) > limits::value_count_max) {
    plan_.refuse(too_many_columns);
    return;
  }
  const auto told_count = static_cast<uint32_t>(column_count_of(returned_));
  for (size_t number = 0; number < assignment_count_; ++number) {
    assignments_[number].column = told_count + static_cast<uint32_t>(number);
  }
  const std::string_view parts[] = {returned_, changed};
  names_->columns = returned_.empty() ? changed : changed.empty() ? returned_ : joined(scope_, parts, ",");
  find_->change = {.kind = removes_ ? Change::Kind::remove : Change::Kind::assign,
                   .assignments = assignments_.first(assignment_count_)};
  if (find_->tell != Tell::count) {
    if (told_count == 0 || (removes_ && find_->tell == Tell::rows_after)) {
      plan_.refuse("-ERR RETURN BEFORE columns, or RETURN AFTER columns of rows that are not deleted");
      return;
    }
    tell_rows(returned_, !changed.empty());
    return;
  }
  auto* const sum = scope_.arena().make<uint64_t>(0);
  plan_.add(sum == nullptr ? nullptr : with_reply<SumReply>(scope_, find_, nullptr, sum, true, true));
}

}  // namespace

void plan_rows_find(const Scope& scope, Arguments arguments, Plan& plan) {
  RowsParser(scope, arguments, plan).find();
}
void plan_rows_count(const Scope& scope, Arguments arguments, Plan& plan) {
  RowsParser(scope, arguments, plan).count();
}
void plan_rows_change(const Scope& scope, Arguments arguments, Plan& plan) {
  RowsParser(scope, arguments, plan).change();
}

}  // namespace rowsocket::wire::resp
