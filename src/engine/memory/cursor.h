// SPDX-License-Identifier: GPL-2.0-only
//
// One request's way through an index of a memory table. It remembers the key where it stands, not an iterator, so rows may come,
// go and move under it, as under a real engine's cursor.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/memory/table.h"

namespace rowsocket::engine::memory {

class MemorySession;

/// An opened index and the table it was resolved against.
class MemoryIndex final : public Index {
 public:
  explicit MemoryIndex(IndexDescription description) : Index(std::move(description)) {}
  /// Find the names of the description in `table`.
  Error resolve(const std::shared_ptr<Table>& table);
  [[nodiscard]] bool resolved_against(const std::shared_ptr<Table>& table) const { return table_ == table; }

  [[nodiscard]] const std::shared_ptr<Table>& table() const { return table_; }
  [[nodiscard]] size_t key_index() const { return key_index_; }
  [[nodiscard]] const std::vector<size_t>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<size_t>& filter_columns() const { return filter_columns_; }

 private:
  std::shared_ptr<Table> table_;
  size_t key_index_ = 0;
  std::vector<size_t> columns_;
  std::vector<size_t> filter_columns_;
};

class MemoryCursor final : public Cursor {
 public:
  explicit MemoryCursor(MemorySession& session) : session_(session) {}
  void start(const MemoryIndex& index);  ///< the mutex is held

  Error set_filters(std::span<const Filter> filters) override;
  Step seek(KeyOperator key_operator, std::span<const Value> key) override;
  Step next() override;
  [[nodiscard]] Verdict verdict() override;
  void write_row(ValueWriter& writer) override;
  [[nodiscard]] bool update_moves_rows(size_t new_value_count) const override;
  [[nodiscard]] bool save_position() override;
  Step fetch_position(size_t number) override;
  Error update_row(std::span<const Value> new_values) override;
  Error add_to_row(std::span<const Value> amounts, bool decrement, bool& changed) override;
  Error delete_row() override;
  Error insert_row(std::span<const Value> values, bool& has_id, uint64_t& id) override;
  [[nodiscard]] const Error& error() const override { return error_; }

 private:
  struct Condition {
    bool stop_at_mismatch;
    Comparison comparison;
    size_t column;
    Cell value;
  };
  using Iterator = std::set<Entry, EntryLess>::const_iterator;

  [[nodiscard]] const KeyIndex& key_index() const { return index_->table()->key_index(index_->key_index()); }
  [[nodiscard]] bool convert_key(std::span<const Value> key);
  [[nodiscard]] bool goes_back() const;
  Step stand_at(Iterator place);
  Step stand_before(Iterator place);
  Error complete(Row& row, std::span<const Value> values);
  Error write(RowNumber number, Row row);

  MemorySession& session_;
  const MemoryIndex* index_ = nullptr;
  std::vector<Condition> conditions_;
  KeyOperator key_operator_ = KeyOperator::equal;
  std::vector<Cell> key_;  ///< of the last seek
  Entry current_ = {};
  bool stands_ = false;  ///< at `current_`
  std::vector<RowNumber> positions_;
  Error error_;
};

}  // namespace rowsocket::engine::memory
