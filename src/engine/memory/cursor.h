// SPDX-License-Identifier: GPL-2.0-only
//
// One request's way through an index of a memory table. It remembers the key where it stands, not an
// iterator, so rows may come, go and move under it, as under a real engine's cursor.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/memory/operation.h"
#include "engine/memory/table.h"
#include "engine/opened_selections.h"

namespace rowsocket::engine::memory {

class MemorySession;

/// A selection's names, resolved against a table.
class MemoryBinding {
 public:
  /// Find the names of the description in `table`.
  Error resolve(const SelectionDescription& description, const std::shared_ptr<Table>& table);

  [[nodiscard]] const std::shared_ptr<Table>& table() const { return table_; }
  [[nodiscard]] size_t key_index() const { return key_index_; }
  [[nodiscard]] const std::vector<size_t>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<size_t>& filter_columns() const { return filter_columns_; }
  [[nodiscard]] bool tells_names() const { return tells_names_; }
  /// Its first columns are the key, which no change alters.
  [[nodiscard]] bool keeps_key() const { return keeps_key_; }
  [[nodiscard]] bool column_types(ColumnTypes& types, size_t bytes_max) const;

  KeptBytes::Part kept;  ///< how much memory it is said to take

 private:
  std::shared_ptr<Table> table_;
  size_t key_index_ = 0;
  std::vector<size_t> columns_;
  std::vector<size_t> filter_columns_;
  bool tells_names_ = false;
  bool keeps_key_ = false;
};

class MemoryCursor final : public Cursor {
 public:
  explicit MemoryCursor(MemorySession& session) : session_(session) {}
  void start(const MemoryBinding& binding);  ///< the mutex is held

  Error set_filters(std::span<const Filter> filters) override;
  Step seek(const KeyRange& range) override;
  Step next() override;
  [[nodiscard]] Verdict verdict() override;
  void write_row(ValueWriter& writer) override;
  [[nodiscard]] uint64_t key_shape() const override;
  [[nodiscard]] bool change_moves_rows(std::span<const Assignment> assignments) const override;
  [[nodiscard]] bool save_position() override;
  Step fetch_position(size_t number) override;
  Error change_row(std::span<const Assignment> assignments, bool keeps_signs, bool& changed) override;
  Error delete_row(bool& deleted) override;
  Error insert_row(const RowToInsert& row, RowOutcome& outcome) override;
  [[nodiscard]] const Error& error() const override { return error_; }

 protected:
  void order_by_key(std::span<const Value> values, size_t value_count, std::span<uint32_t> order) override;

 private:
  struct Condition {
    Mismatch mismatch;
    Comparison comparison;
    size_t column;
    Cell value;
  };
  using Iterator = std::set<Entry, EntryLess>::const_iterator;

  [[nodiscard]] const KeyIndex& key_index() const {
    return binding_->table()->key_index(binding_->key_index());
  }
  /// One end of the range: the rows of its key belong to it, or not.
  struct End {
    std::vector<Cell> key;
    bool inclusive;
  };

  [[nodiscard]] Error check_range(const KeyRange& range) const;
  [[nodiscard]] bool set_end(std::optional<End>& end, std::span<const Value> key, bool inclusive);
  [[nodiscard]] bool set_ends(const KeyRange& range);
  [[nodiscard]] bool is_in_range(const Entry& entry) const;
  [[nodiscard]] bool has_prefix(const Entry& entry) const;
  Step stand_at(Iterator place);
  Step stand_before(Iterator place);
  Step advance();
  Step pass_over(Step step);
  [[nodiscard]] Verdict verdict_of_row(const Row& row) const;
  void stand_on(RowNumber number);
  [[nodiscard]] Value resolved(const Value& value) const;
  Operated assign(Row& row, const Assignment& assignment, bool keeps_signs, Error& error) const;
  [[nodiscard]] bool has_other_key(const Row& before, const Row& after) const;
  Error check_named_key(const Row& row, std::span<const Value> values) const;
  Error check_whole_numbers(const Row& row, std::span<const DuplicateChange> changes) const;
  Error complete(Row& row, std::span<const Value> values);
  Error generate_id(Row& row, RowOutcome& outcome);
  Error insert(const RowToInsert& insert, RowOutcome& outcome, RowNumber& number);
  Error change_duplicate(RowNumber number, const RowToInsert& insert, RowOutcome& outcome);
  void tell_id(const Row& row, RowOutcome& outcome) const;
  Error write(RowNumber number, Row row);
  Error run_trigger(const Cell& first_value);

  MemorySession& session_;
  const MemoryBinding* binding_ = nullptr;
  std::vector<Condition> conditions_;
  std::optional<End> low_;  ///< of the last seek; none = where the index ends
  std::optional<End> high_;
  std::optional<std::pair<size_t, std::string>> prefix_;  ///< a key part, and what its text begins with
  bool goes_back_ = false;
  Entry current_ = {};
  bool stands_ = false;  ///< at `current_`
  std::vector<RowNumber> positions_;
  Error error_;
};

}  // namespace rowsocket::engine::memory
