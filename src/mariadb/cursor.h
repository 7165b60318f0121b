// SPDX-License-Identifier: GPL-2.0-only
//
// One request's way through an index of an open table, over the handler API. A session owns one and uses it for every request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "mariadb/binding.h"
#include "mariadb/conversion.h"
#include "mariadb/open_table.h"

namespace rowsocket::mariadb {

class Cursor final : public engine::Cursor {
 public:
  /// Serve the next request. `open` is open and locked, `binding` resolved against it.
  void begin(THD* thd, OpenTable& open, const Binding& binding, bool raw);
  /// True if the request changed or may have changed rows.
  [[nodiscard]] bool is_prepared_to_change() const { return change_ != Change::none; }

  /// True if a table was altered after the transaction's snapshot was taken: only a new transaction can read it.
  [[nodiscard]] bool snapshot_is_stale() const { return snapshot_is_stale_; }
  void forget_snapshot() { snapshot_is_stale_ = false; }
  /// True if the request failed for a row that another transaction has locked.
  [[nodiscard]] bool found_row_locked() const { return found_row_locked_; }

  Error set_filters(std::span<const Filter> filters) override;
  engine::Step seek(KeyOperator key_operator, std::span<const Value> key) override;
  engine::Step next() override;
  [[nodiscard]] engine::Verdict verdict() override;
  void write_row(ValueWriter& writer) override;
  [[nodiscard]] bool update_moves_rows(size_t new_value_count) const override;
  [[nodiscard]] bool save_position() override;
  engine::Step fetch_position(size_t number) override;
  Error update_row(std::span<const Value> new_values) override;
  Error add_to_row(std::span<const Value> amounts, bool decrement, bool& changed) override;
  Error delete_row() override;
  Error insert_row(std::span<const Value> values, bool& has_id, uint64_t& id) override;
  [[nodiscard]] const Error& error() const override { return error_; }

 private:
  enum class Change : uint8_t { none, insert, update, remove };
  /// Where the walk starts and how it goes on, once the key is converted.
  enum class Walk : uint8_t { same_key, forward, backward, first_row_only };

  struct FilterState {
    Comparand comparand;
    Comparison comparison;
    bool stop_at_mismatch;
  };

  [[nodiscard]] bool convert_key(KeyOperator& key_operator, std::span<const Value> key, bool& finds_nothing);
  [[nodiscard]] bool prepare_recheck(KeyOperator key_operator, std::span<const Value> key);
  [[nodiscard]] bool passes_recheck() const;
  [[nodiscard]] int start(KeyOperator key_operator);
  [[nodiscard]] int advance();
  engine::Step settle(int handler_code);
  engine::Step fail(Error error);
  engine::Step fail(int handler_code);
  [[nodiscard]] Error noted(Error error);
  void prepare(Change change);

  THD* thd_ = nullptr;
  OpenTable* open_ = nullptr;
  const Binding* binding_ = nullptr;
  TABLE* table_ = nullptr;
  bool raw_ = false;
  Change change_ = Change::none;

  std::vector<FilterState> filters_;
  size_t filter_count_ = 0;

  Walk walk_ = Walk::same_key;
  std::vector<uchar> key_image_;
  uint32_t key_bytes_ = 0;
  key_part_map key_map_ = 0;
  bool at_most_one_row_ = false;

  // A key longer than an index prefix: rows are compared with the whole values.
  bool rechecks_ = false;
  KeyOperator recheck_operator_ = KeyOperator::equal;
  std::vector<Comparand> recheck_;
  size_t recheck_count_ = 0;

  std::vector<uchar> positions_;
  bool is_fetching_positions_ = false;
  bool snapshot_is_stale_ = false;
  bool found_row_locked_ = false;
  Error error_;
};

}  // namespace rowsocket::mariadb
