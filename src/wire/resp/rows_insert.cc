// SPDX-License-Identifier: GPL-2.0-only
//
// ROWS.INSERT: many rows in one step, all of them or none.
//
//   ROWS.INSERT table columns n value... [clause...]
//
//   clauses  KEEP | REPLACE | UPDATE columns | ADD columns | ALONE | IDS | NULLS text | NOW text | MUST
#include <algorithm>

#include "base/limits.h"
#include "wire/resp/commands.h"
#include "wire/resp/rows_reader.h"
#include "wire/resp/rows_reply.h"

namespace rowsocket::wire::resp {
namespace {

/// A column of the rows.
struct NamedColumn {
  std::string_view name = {};
  uint32_t position = 0;
  bool is_changed = false;  ///< UPDATE or ADD has named it
};

/// Of the list with commas, the part in front of the first one. The list goes on behind that.
std::string_view take_name(std::string_view& list) {
  const std::string_view name = list.substr(0, list.find(','));
  list.remove_prefix(std::min(name.size() + 1, list.size()));
  return name;
}

constexpr std::string_view no_changed_columns = "-ERR UPDATE and ADD name columns of the rows, each once";

class RowsInserter : public ArgumentReader {
 public:
  using ArgumentReader::ArgumentReader;

  void insert();

 private:
  // Each returns false where the plan refuses the command.
  [[nodiscard]] bool begin();
  [[nodiscard]] bool take_names(std::string_view list);
  [[nodiscard]] bool take_clause(std::string_view word);
  [[nodiscard]] bool take_changes(Operation operation);
  [[nodiscard]] bool choose(OnDuplicate on_duplicate);

  SelectionNames* names_ = nullptr;
  Insert* insert_ = nullptr;
  std::span<NamedColumn> columns_;  ///< in the order of their names, so that one is found among thousands
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
  at_ = 3;
  if (!take_table(scope_, arguments_[1], *names_, plan_) || !take_values(values_) ||
      !take_names(names_->columns)) {
    return false;
  }
  if (values_.size() % columns_.size() != 0) {
    return refuse("-ERR there are as many values as columns, for each row");
  }
  if (values_.size() / columns_.size() > limits::insert_rows_max) {
    return refuse("-ERR too many rows");
  }
  changes_ = scope_.arena().array<DuplicateChange>(columns_.size());
  insert_->selection.names = names_;
  insert_->values = values_;
  insert_->row_count = static_cast<uint32_t>(values_.size() / columns_.size());
  return !changes_.empty() || out_of_memory();
}

bool RowsInserter::take_names(std::string_view list) {
  const size_t count = column_count_of(list);
  if (count == 0 || count > limits::value_count_max) {
    return refuse(count == 0 ? "-ERR columns are a list with commas" : too_many_columns);
  }
  columns_ = scope_.arena().array<NamedColumn>(count);
  for (size_t position = 0; position < columns_.size(); ++position) {
    columns_[position] = {.name = take_name(list), .position = static_cast<uint32_t>(position)};
  }
  std::sort(columns_.begin(), columns_.end(), [](const NamedColumn& one, const NamedColumn& other) {
    return is_less_but_for_case(one.name, other.name);
  });
  const auto twice = std::adjacent_find(
      columns_.begin(), columns_.end(),
      [](const NamedColumn& one, const NamedColumn& other) { return is_same_column(one.name, other.name); });
  if (twice != columns_.end()) {
    return refuse("-ERR a column is named twice");
  }
  return !columns_.empty() || out_of_memory();
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
  if (columns.empty()) {
    return refuse(no_changed_columns);
  }
  for (size_t left = column_count_of(columns); left > 0; --left) {
    const std::string_view name = take_name(columns);
    const auto found = std::lower_bound(columns_.begin(), columns_.end(), name,
                                        [](const NamedColumn& one, std::string_view wanted) {
                                          return is_less_but_for_case(one.name, wanted);
                                        });
    if (found == columns_.end() || !is_same_column(found->name, name) || found->is_changed) {
      return refuse(no_changed_columns);
    }
    found->is_changed = true;
    changes_[change_count_++] = {.position = found->position, .operation = operation};
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
  if (is_word(word, "MUST")) {
    plan_.demand_changes();
    return true;
  }
  bool taken = false;
  return take_stand_in(word, taken) && (taken || refuse(syntax_error));
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
  replace_stand_ins(values_);
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
