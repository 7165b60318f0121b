// SPDX-License-Identifier: GPL-2.0-only
//
// One request's way through an index of an open table, over the handler API. A session owns one and uses it
// for every request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "mariadb/binding.h"
#include "mariadb/comparand.h"
#include "mariadb/generated_ids.h"
#include "mariadb/key_bound.h"
#include "mariadb/open_table.h"
#include "mariadb/text_prefix.h"

namespace rowsocket::mariadb {

class Cursor final : public engine::Cursor {
 public:
  /// Serve the next request. `open` is open and locked, `binding` resolved against it. The id of a row that
  /// an insert keeps is told as 0 where it `hides_kept_id`.
  void begin(THD* thd, OpenTable& open, const Binding& binding, bool raw, bool hides_kept_id);
  /// Of the request that has begun: no walk ends by an equal key, where the open table would show what the
  /// transaction has removed.
  void avoid_removed_entries() { avoids_removed_entries_ = open_->shows_removed_entries(); }
  /// After the request's last change, while its table is locked.
  void end_changes();

  /// Of the inserts of a request that may run again.
  [[nodiscard]] GeneratedIds& ids() { return ids_; }
  [[nodiscard]] const GeneratedIds& ids() const { return ids_; }

  /// True if the engine said that only a new transaction can go on: a table was altered after the
  /// transaction's snapshot was taken, or the engine has rolled the transaction back.
  [[nodiscard]] bool needs_new_transaction() const { return needs_new_transaction_; }
  void forget_transaction() { needs_new_transaction_ = false; }
  /// True if the request failed for a row that another transaction has locked.
  [[nodiscard]] bool found_row_locked() const { return found_row_locked_; }
  /// A call of the engine failed, and what it was to write may be there all the same.
  [[nodiscard]] bool may_have_left_row() const { return may_have_left_row_; }

  /// The request may have removed entries from an index of a table that `shows_removed_entries`.
  [[nodiscard]] bool has_removed_entries() const { return has_removed_entries_; }

  Error set_filters(std::span<const Filter> filters) override;
  engine::Step seek(const KeyRange& range) override;
  engine::Step next() override;
  [[nodiscard]] engine::Verdict verdict() override;
  void write_row(ValueWriter& writer) override;
  [[nodiscard]] uint64_t key_shape() const override { return binding_->key_shape(); }
  [[nodiscard]] bool change_moves_rows(std::span<const Assignment> assignments) const override;
  [[nodiscard]] bool save_position() override;
  engine::Step fetch_position(size_t number) override;
  Error change_row(std::span<const Assignment> assignments, bool keeps_signs, bool& changed) override;
  Error delete_row(bool& deleted) override;
  Error insert_row(const engine::RowToInsert& row, RowOutcome& outcome) override;
  [[nodiscard]] const Error& error() const override { return error_; }

 protected:
  void order_by_key(std::span<const Value> values, size_t value_count, std::span<uint32_t> order) override;

 private:
  enum class Change : uint8_t { none, insert, update, remove };
  /// Where a walk starts and how it goes on, once the key is converted.
  enum class Course : uint8_t { same_key, forward, backward, first_row_only };

  struct FilterState {
    Comparand comparand;
    Comparison comparison;
    Mismatch mismatch;
  };

  [[nodiscard]] static bool satisfied_by_row(const FilterState& filter);
  [[nodiscard]] bool set_bounds(const KeyRange& range);
  [[nodiscard]] bool set_exact_bounds(const KeyRange& range, bool& is_near);
  [[nodiscard]] bool set_both_bounds(const KeyRange& range);
  [[nodiscard]] bool set_bound(KeyBound& bound, KeyOperator key_operator, std::span<const Value> key);
  [[nodiscard]] int start();
  [[nodiscard]] int advance();
  engine::Step come_to_row(int handler_code);
  [[nodiscard]] engine::Verdict check_row() const;
  [[nodiscard]] bool is_version_of_other_time() const;
  engine::Step fail(Error error);
  engine::Step fail(int handler_code);
  [[nodiscard]] Error noted(Error error);
  [[nodiscard]] Error prepare(Change change);
  void note_removal();
  [[nodiscard]] bool stands_on_row() const;
  engine::Step stand(engine::Step step);

  THD* thd_ = nullptr;
  OpenTable* open_ = nullptr;
  const Binding* binding_ = nullptr;
  TABLE* table_ = nullptr;
  bool raw_ = false;
  bool hides_kept_id_ = false;
  Change change_ = Change::none;
  OnDuplicate on_duplicate_ = OnDuplicate::fail;
  GeneratedIds ids_;

  std::vector<FilterState> filters_;
  size_t filter_count_ = 0;

  Course course_ = Course::same_key;
  KeyBound first_;     ///< where the walk begins
  KeyBound last_;      ///< where it ends, if `has_last_`
  TextPrefix prefix_;  ///< what its rows' text begins with, if `has_prefix_`
  bool has_last_ = false;
  bool has_prefix_ = false;
  bool checks_rows_ = false;  ///< not every row that the index gives is one of the range

  std::vector<uchar> positions_;
  bool is_fetching_positions_ = false;
  bool stands_ = false;  ///< on a row, since the last seek or fetch_position; told when the walk ends
  bool calls_for_ranges_ = false;  ///< the walk uses read_range_first and read_range_next
  bool needs_new_transaction_ = false;
  bool found_row_locked_ = false;
  bool may_have_left_row_ = false;
  bool avoids_removed_entries_ = false;
  bool has_removed_entries_ = false;
  Error error_;
};

}  // namespace rowsocket::mariadb
