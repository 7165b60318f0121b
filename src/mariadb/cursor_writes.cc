// SPDX-License-Identifier: GPL-2.0-only
//
// What a cursor does to rows: change, delete and insert them, and remember where they are meanwhile. Its walk
// is in cursor.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <new>
#include <utility>

#include "base/invariant.h"
#include "mariadb/cursor.h"
#include "mariadb/diagnostics.h"
#include "mariadb/key_order.h"
#include "mariadb/row_change.h"
#include "mariadb/row_insert.h"

namespace rowsocket::mariadb {
namespace {

/// The engine refused the row itself, and took back what it had made of it.
bool is_of_row_itself(const Error& error) {
  switch (error.number) {
    case HA_ERR_NO_REFERENCED_ROW:
    case HA_ERR_TO_BIG_ROW:
    case HA_ERR_UNDO_REC_TOO_BIG:
    case HA_ERR_AUTOINC_ERANGE:
    case HA_ERR_AUTOINC_READ_FAILED:  // none was left; one that waited for the lock has another number by now
    case HA_ERR_NO_PARTITION_FOUND:
      return true;
    default:
      return error.reason == Reason::duplicate;
  }
}

/// InnoDB waits for the lock of a table's AUTO_INCREMENT when the row is there (innodb_autoinc_lock_mode 0
/// and 1), and does not take the row back where it can not have the lock, or is interrupted.
bool may_leave_row(const THD* thd, const Error& error) {
  if (error.ok()) [[likely]] {
    return false;
  }
  return thd->killed != NOT_KILLED || (error.code == ErrorCode::engine && !is_of_row_itself(error));
}

/// The row has other entries in the table's indexes (the first record) than it had (the second).
bool has_other_entries(const TABLE* table) {
  if (table->part_info != nullptr) {
    return true;  // each partition has indexes of its own
  }
  const my_ptrdiff_t distance = table->record[1] - table->record[0];
  for (Field* const* field = table->field; *field != nullptr; ++field) {
    if (((*field)->flags & PART_KEY_FLAG) != 0 &&
        ((*field)->vcol_info != nullptr || ((*field)->flags & BLOB_FLAG) != 0 ||
         (*field)->is_null() != (*field)->is_null_in_record(table->record[1]) ||
         (*field)->cmp_binary_offset(static_cast<uint>(distance)) != 0)) {
      return true;
    }
  }
  return false;
}

}  // namespace

using engine::Step;

/// Before a row is changed or remembered. Rows are told without this check, which would run for every row of
/// a find.
bool Cursor::stands_on_row() const {
  return invariant(stands_, "a row is changed where the cursor stands on one");
}

bool Cursor::change_moves_rows(std::span<const Assignment> assignments) const {
  const uint32_t clustered_key = table_->s->primary_key;
  const bool is_clustered = clustered_key < MAX_KEY && table_->file->pk_is_clustering_key(clustered_key);
  for (const Assignment& assignment : assignments) {
    const Field* const field = binding_->columns[assignment.column].field;
    if (field->part_of_key_not_clustered.is_set(binding_->key_number) ||
        field->key_start.is_set(binding_->key_number) ||
        (is_clustered && field->part_of_key.is_set(clustered_key) && (field->flags & PRI_KEY_FLAG) != 0)) {
      return true;
    }
  }
  for (const KeyPart& part : binding_->key_parts) {
    // Generated columns, ON UPDATE columns and prefixes of columns move as well.
    if (part.is_prefix || part.field->vcol_info != nullptr || part.field->has_update_default_function()) {
      return true;
    }
  }
  // So does what a BEFORE UPDATE trigger sets.
  return table_->part_info != nullptr || table_->triggers != nullptr;
}

bool Cursor::save_position() {
  if (!stands_on_row()) {
    return false;
  }
  try {
    table_->file->position(table_->record[0]);
    positions_.insert(positions_.end(), table_->file->ref, table_->file->ref + table_->file->ref_length);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Step Cursor::fetch_position(size_t number) {
  if (!is_fetching_positions_) {
    open_->deactivate();
    binding_->use_columns(table_);
    if (const int handler_code = table_->file->ha_rnd_init(false); handler_code != 0) {
      return fail(handler_code);
    }
    is_fetching_positions_ = true;
  }
  const size_t position_bytes = table_->file->ref_length;
  if (!invariant((number + 1) * position_bytes <= positions_.size(),
                 "a position is fetched that was saved")) {
    return stand(Step::end);
  }
  uchar* const position = positions_.data() + number * position_bytes;
  const int handler_code = table_->file->ha_rnd_pos(table_->record[0], position);
  stands_ = handler_code == 0;
  if (stands_) [[likely]] {
    return Step::row;
  }
  // A change before this one has moved the row, or removed it.
  const bool is_gone = handler_code == HA_ERR_KEY_NOT_FOUND || handler_code == HA_ERR_END_OF_FILE ||
                       handler_code == HA_ERR_RECORD_DELETED;
  return is_gone ? Step::end : fail(handler_code);
}

Error Cursor::prepare(Change change) {
  if (change_ != Change::none) {
    return {};
  }
  change_ = change;
  int handler_code = 0;
  switch (change) {
    case Change::none:
      break;
    case Change::insert:
      open_->deactivate();
      handler_code = prepare_insert(table_, on_duplicate_);
      break;
    case Change::update:
      handler_code = prepare_update(table_);
      break;
    case Change::remove:
      handler_code = prepare_delete(table_);
      break;
  }
  return handler_code == 0 ? Error() : engine_error(thd_, table_->file, handler_code);
}

void Cursor::end_changes() {
  if (change_ != Change::none) {  // updates and deletes insert as well: rows of history
    end_inserts(table_, change_ == Change::insert ? on_duplicate_ : OnDuplicate::fail);
  }
}

Error Cursor::change_row(std::span<const Assignment> assignments, bool keeps_signs, bool& changed) {
  if (!stands_on_row()) {
    return ErrorCode::engine;
  }
  if (Error error = prepare(Change::update); !error.ok()) {
    return error;
  }
  Error error = noted(mariadb::change_row(thd_, *binding_, table_, assignments, keeps_signs, raw_, changed));
  if (changed && open_->shows_removed_entries() && has_other_entries(table_)) [[unlikely]] {
    note_removal();
  }
  return error;
}

Error Cursor::delete_row(bool& deleted) {
  if (!stands_on_row()) {
    return ErrorCode::engine;
  }
  if (Error error = prepare(Change::remove); !error.ok()) {
    return error;
  }
  Error error = noted(mariadb::delete_row(thd_, table_, deleted));
  if (deleted && open_->shows_removed_entries()) [[unlikely]] {
    note_removal();
  }
  return error;
}

/// A row has left a place that it had in an index.
void Cursor::note_removal() {
  has_removed_entries_ = true;
  avoid_removed_entries();
}

void Cursor::order_by_key(std::span<const Value> values, size_t value_count, std::span<uint32_t> order) {
  mariadb::order_by_key(thd_, *binding_, table_, values, value_count, raw_, order);
}

Error Cursor::insert_row(const engine::RowToInsert& row, RowOutcome& outcome) {
  if (!invariant(row.values.size() <= binding_->columns.size(), "a row has no more values than columns")) {
    return ErrorCode::too_many_values;
  }
  on_duplicate_ = row.on_duplicate;
  if (Error error = prepare(Change::insert); !error.ok()) {
    return error;
  }
  Error error = noted(mariadb::insert_row(thd_, *binding_, table_, row, raw_, *this, ids_, outcome));
  may_have_left_row_ = may_have_left_row_ || (outcome.has_id && may_leave_row(thd_, error));
  if (outcome.rows_affected > 1 && open_->shows_removed_entries() &&
      (row.on_duplicate != OnDuplicate::change || has_other_entries(table_))) [[unlikely]] {
    note_removal();
  }
  if (hides_kept_id_ && row.on_duplicate == OnDuplicate::keep && outcome.rows_affected == 0) {
    outcome.id = 0;
    outcome.id_is_negative = false;
  }
  thd_->get_stmt_da()->inc_current_row_for_warning();
  return error;
}

}  // namespace rowsocket::mariadb
