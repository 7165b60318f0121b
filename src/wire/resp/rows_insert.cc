// SPDX-License-Identifier: GPL-2.0-only
//
// ROWS.INSERT: many rows in one step, all of them or none.
//
//   ROWS.INSERT table columns n value... [clause...]
//
//   clauses  KEEP | REPLACE | UPDATE columns | ADD columns | ALONE | IDS | NULLS text
#include <algorithm>

#include "base/limits.h"
#include "wire/resp/commands.h"
#include "wire/resp/rows_reader.h"
#include "wire/resp/rows_reply.h"

namespace rowsocket::wire::resp {
namespace {

/// Where the name stands in a list with commas; the list's size if it does not.
size_t position_of(std::string_view name, std::string_view list) {
  size_t position = 0;
  for (;; ++position) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == name) {
      return position;
    }
    if (comma == std::string_view::npos) {
      return position + 1;
    }
    list.remove_prefix(comma + 1);
  }
}

/// Of the list with commas, the part in front of the first one. The list goes on behind that.
std::string_view take_name(std::string_view& list) {
  const std::string_view name = list.substr(0, list.find(','));
  list.remove_prefix(std::min(name.size() + 1, list.size()));
  return name;
}

bool names_one_twice(std::string_view list) {
  while (!list.empty()) {
    const std::string_view name = take_name(list);
    for (std::string_view behind = list; !behind.empty();) {
      if (is_same_column(take_name(behind), name)) {
        return true;
      }
    }
  }
  return false;
}

class RowsInserter : public ArgumentReader {
 public:
  using ArgumentReader::ArgumentReader;

  void insert();

 private:
  // Each returns false where the plan refuses the command.
  [[nodiscard]] bool begin();
  [[nodiscard]] bool take_clause(std::string_view word);
  [[nodiscard]] bool take_changes(Operation operation);
  [[nodiscard]] bool choose(OnDuplicate on_duplicate);

  SelectionNames* names_ = nullptr;
  Insert* insert_ = nullptr;
  size_t column_count_ = 0;
  std::span<Value> values_;
  std::span<DuplicateChange> changes_;
  size_t change_count_ = 0;
  bool tells_ids_ = false;
};

bool RowsInserter::begin() {
  names_ = scope_.arena().make<SelectionNames>();
  insert_ = scope_.arena().make<Insert>();
  if (names_ == nullptr || insert_ == nullptr) {
    return out_of_memory();
  }
  names_->columns = arguments_[2];
  column_count_ = column_count_of(names_->columns);
  at_ = 3;
  if (!take_table(scope_, arguments_[1], *names_, plan_) || !take_values(values_)) {
    return false;
  }
  if (names_one_twice(names_->columns)) {
    return refuse("-ERR a column is named twice");
  }
  if (column_count_ == 0 || values_.size() % column_count_ != 0) {
    return refuse("-ERR there are as many values as columns, for each row");
  }
  if (values_.size() / column_count_ > limits::insert_rows_max) {
    return refuse("-ERR too many rows");
  }
  changes_ = scope_.arena().array<DuplicateChange>(column_count_);
  insert_->selection.names = names_;
  insert_->values = values_;
  insert_->row_count = static_cast<uint32_t>(values_.size() / column_count_);
  return !changes_.empty() || out_of_memory();
}

/// What is done where a row is there is said once; UPDATE and ADD go together.
bool RowsInserter::choose(OnDuplicate on_duplicate) {
  if (insert_->on_duplicate != OnDuplicate::fail &&
      (insert_->on_duplicate != on_duplicate || on_duplicate != OnDuplicate::change)) {
    return refuse("-ERR KEEP, REPLACE, and UPDATE or ADD exclude each other");
  }
  insert_->on_duplicate = on_duplicate;
  return true;
}

bool RowsInserter::take_changes(Operation operation) {
  std::string_view columns;
  if (!choose(OnDuplicate::change) || !take_text(columns)) {
    return false;
  }
  for (size_t left = column_count_of(columns); left > 0; --left) {
    const size_t position = position_of(take_name(columns), names_->columns);
    const auto stood_before = changes_.first(change_count_);
    if (position == column_count_ ||
        std::any_of(stood_before.begin(), stood_before.end(),
                    [position](const DuplicateChange& one) { return one.position == position; })) {
      return refuse("-ERR UPDATE and ADD name columns of the rows, each once");
    }
    changes_[change_count_++] = {.position = static_cast<uint32_t>(position), .operation = operation};
  }
  return true;
}

bool RowsInserter::take_clause(std::string_view word) {
  if (is_word(word, "KEEP")) {
    return choose(OnDuplicate::keep);
  }
  if (is_word(word, "REPLACE")) {
    return choose(OnDuplicate::replace);
  }
  if (is_word(word, "UPDATE")) {
    return take_changes(Operation::set);
  }
  if (is_word(word, "ADD")) {
    return take_changes(Operation::add);
  }
  if (is_word(word, "ALONE")) {
    insert_->rows_alone = true;
    return true;
  }
  if (is_word(word, "IDS")) {
    tells_ids_ = true;
    return true;
  }
  if (!is_word(word, "NULLS")) {
    return refuse(syntax_error);
  }
  std::string_view stands_for_null;
  if (!take_text(stands_for_null)) {
    return false;
  }
  for (Value& value : values_) {
    value = value.view() == stands_for_null ? Value() : value;
  }
  return true;
}

void RowsInserter::insert() {
  if (!begin()) {
    return;
  }
  while (!at_end()) {
    if (!take_clause(arguments_[at_++])) {
      return;
    }
  }
  insert_->duplicate_changes = changes_.first(change_count_);
  const InsertedReply::Tells tells = tells_ids_            ? InsertedReply::Tells::ids
                                     : insert_->rows_alone ? InsertedReply::Tells::outcomes
                                                           : InsertedReply::Tells::new_count;
  plan_.add(with_reply<InsertedReply>(scope_, insert_, scope_.version(), tells, insert_->row_count));
}

}  // namespace

void plan_rows_insert(const Scope& scope, Arguments arguments, Plan& plan) {
  RowsInserter(scope, arguments, plan).insert();
}

}  // namespace rowsocket::wire::resp
