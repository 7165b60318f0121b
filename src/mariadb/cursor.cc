// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <new>
#include <utility>

#include "mariadb/cursor.h"
#include "mariadb/diagnostics.h"
#include "mariadb/row_change.h"
#include "mariadb/row_text.h"

namespace rowsocket::mariadb {

using engine::Step;
using engine::Verdict;

namespace {

/// The operator that gives the same rows when the key is replaced by the nearest one that a row can have.
KeyOperator shifted(KeyOperator key_operator, bool real_key_is_after) {
  const bool forward = key_operator == KeyOperator::after || key_operator == KeyOperator::at_or_after;
  if (forward) {
    return real_key_is_after ? KeyOperator::after : KeyOperator::at_or_after;
  }
  return real_key_is_after ? KeyOperator::at_or_before : KeyOperator::before;
}

bool stands_in_relation(int row_order, KeyOperator key_operator) {
  switch (key_operator) {
    case KeyOperator::equal:
      return row_order == 0;
    case KeyOperator::after:
      return row_order > 0;
    case KeyOperator::at_or_after:
      return row_order >= 0;
    case KeyOperator::before:
      return row_order < 0;
    case KeyOperator::at_or_before:
      return row_order <= 0;
  }
  return false;
}

bool is_end(int handler_code) { return handler_code == HA_ERR_KEY_NOT_FOUND || handler_code == HA_ERR_END_OF_FILE; }

}  // namespace

void Cursor::begin(THD* thd, OpenTable& open, const Binding& binding, bool raw) {
  thd_ = thd;
  open_ = &open;
  binding_ = &binding;
  table_ = open.table();
  raw_ = raw;
  change_ = Change::none;
  filter_count_ = 0;
  rechecks_ = false;
  is_fetching_positions_ = false;
  found_row_locked_ = false;
  positions_.clear();
}

Step Cursor::fail(Error error) {
  error_ = std::move(error);
  return Step::failed;
}

Step Cursor::fail(int handler_code) {
  snapshot_is_stale_ = snapshot_is_stale_ || handler_code == HA_ERR_TABLE_DEF_CHANGED;
  return fail(noted(engine_error(thd_, table_->file, handler_code)));
}

Error Cursor::noted(Error error) {
  found_row_locked_ = error.code == ErrorCode::engine && error.number == HA_ERR_LOCK_WAIT_TIMEOUT;
  return error;
}

Error Cursor::set_filters(std::span<const Filter> filters) {
  if (filters_.size() < filters.size()) {
    filters_.resize(filters.size());
  }
  filter_count_ = filters.size();
  for (size_t i = 0; i < filters.size(); ++i) {
    filters_[i].comparison = filters[i].comparison;
    filters_[i].stop_at_mismatch = filters[i].stop_at_mismatch;
    Field* const field = binding_->filter_columns[filters[i].filter_column];
    if (Error error = filters_[i].comparand.prepare(thd_, field, filters[i].value, raw_); !error.ok()) {
      return error;
    }
  }
  return {};
}

Verdict Cursor::verdict() {
  for (size_t i = 0; i < filter_count_; ++i) {
    if (!engine::satisfies(filters_[i].comparand.compare_row(), filters_[i].comparison)) {
      return filters_[i].stop_at_mismatch ? Verdict::stop : Verdict::skip;
    }
  }
  return Verdict::match;
}

bool Cursor::convert_key(KeyOperator& key_operator, std::span<const Value> key, bool& finds_nothing) {
  finds_nothing = false;
  key_image_.resize(binding_->key->key_length + 8);
  key_bytes_ = 0;
  key_map_ = 0;
  bool has_null = false;
  for (size_t i = 0; i < key.size(); ++i) {
    const KeyPart& part = binding_->key_parts[i];
    Error error;
    const Fit fit = write_key_part(thd_, table_, binding_->key, part, key[i], raw_, key_image_.data() + part.key_offset, error);
    if (fit == Fit::malformed) {
      error_ = std::move(error);
      return false;
    }
    if (fit != Fit::lower_end) {
      key_bytes_ = part.key_offset + part.info->store_length;
      key_map_ = (key_map_ << 1) | 1;
    }
    has_null = has_null || key[i].is_null();
    if (fit == Fit::exact) {
      continue;
    }
    if (part.is_prefix && fit == Fit::above) {
      return prepare_recheck(key_operator, key);
    }
    if (key_operator == KeyOperator::equal) {
      finds_nothing = true;
      return true;
    }
    key_operator = shifted(key_operator, (fit == Fit::above) != part.is_descending);
    finds_nothing = key_map_ == 0 && key_operator == KeyOperator::before;
    break;
  }
  at_most_one_row_ = binding_->whole_key_is_unique && !has_null && key.size() == binding_->key_parts.size();
  return true;
}

bool Cursor::prepare_recheck(KeyOperator key_operator, std::span<const Value> key) {
  rechecks_ = true;
  at_most_one_row_ = false;
  recheck_operator_ = key_operator;
  if (recheck_.size() < key.size()) {
    recheck_.resize(key.size());
  }
  recheck_count_ = key.size();
  for (size_t i = 0; i < key.size(); ++i) {
    if (Error error = recheck_[i].prepare(thd_, binding_->key_parts[i].field, key[i], raw_); !error.ok()) {
      error_ = std::move(error);
      return false;
    }
  }
  return true;
}

bool Cursor::passes_recheck() const {
  int order = 0;
  for (size_t i = 0; i < recheck_count_ && order == 0; ++i) {
    order = recheck_[i].compare_row();
    order = binding_->key_parts[i].is_descending ? -order : order;
  }
  return stands_in_relation(order, recheck_operator_);
}

int Cursor::start(KeyOperator key_operator) {
  // With a key cut to an index prefix, the rows that share the prefix are candidates whatever the operator.
  if (rechecks_ && key_operator == KeyOperator::after) {
    key_operator = KeyOperator::at_or_after;
  } else if (rechecks_ && key_operator == KeyOperator::before) {
    key_operator = KeyOperator::at_or_before;
  }
  ha_rkey_function position = HA_READ_KEY_EXACT;
  switch (key_operator) {
    case KeyOperator::equal:
      walk_ = at_most_one_row_ ? Walk::first_row_only : Walk::same_key;
      break;
    case KeyOperator::after:
      walk_ = Walk::forward;
      position = HA_READ_AFTER_KEY;
      break;
    case KeyOperator::at_or_after:
      walk_ = Walk::forward;
      position = HA_READ_KEY_OR_NEXT;
      break;
    case KeyOperator::before:
      walk_ = Walk::backward;
      position = HA_READ_BEFORE_KEY;
      break;
    case KeyOperator::at_or_before:
      walk_ = Walk::backward;
      position = HA_READ_PREFIX_LAST_OR_PREV;
      break;
  }
  handler* const file = table_->file;
  if (key_map_ == 0) {
    return walk_ == Walk::backward ? file->ha_index_last(table_->record[0]) : file->ha_index_first(table_->record[0]);
  }
  return file->ha_index_read_map(table_->record[0], key_image_.data(), key_map_, position);
}

int Cursor::advance() {
  handler* const file = table_->file;
  switch (walk_) {
    case Walk::same_key:
      return file->ha_index_next_same(table_->record[0], key_image_.data(), key_bytes_);
    case Walk::forward:
      return file->ha_index_next(table_->record[0]);
    case Walk::backward:
      return file->ha_index_prev(table_->record[0]);
    case Walk::first_row_only:
      return HA_ERR_END_OF_FILE;
  }
  return HA_ERR_END_OF_FILE;
}

Step Cursor::settle(int handler_code) {
  while (true) {
    if (handler_code == 0) [[likely]] {
      const bool is_history = binding_->row_end != nullptr && !binding_->row_end->is_max();
      if (!is_history && (!rechecks_ || passes_recheck())) [[likely]] {
        return Step::row;
      }
    } else if (is_end(handler_code)) {
      return Step::end;
    } else if (handler_code != HA_ERR_RECORD_DELETED) {
      return fail(handler_code);
    }
    if (thd_->killed) [[unlikely]] {
      return fail(interruption_error(thd_));
    }
    handler_code = advance();
  }
}

Step Cursor::seek(KeyOperator key_operator, std::span<const Value> key) {
  if (key.size() > binding_->key_parts.size()) {
    return fail(Error(ErrorCode::too_many_key_parts, "the index has fewer parts than the key has values"));
  }
  if (binding_->whole_key_only && (key_operator != KeyOperator::equal || key.size() != binding_->key_parts.size())) {
    return fail(key_operator != KeyOperator::equal ? Error(ErrorCode::bad_operator, "a hash index has no order")
                                                   : Error(ErrorCode::too_many_key_parts, "a hash index needs its whole key"));
  }
  rechecks_ = false;
  bool finds_nothing = false;
  if (!convert_key(key_operator, key, finds_nothing)) {
    return Step::failed;
  }
  if (finds_nothing) {
    walk_ = Walk::first_row_only;
    return Step::end;
  }
  if (const int handler_code = open_->activate(*binding_); handler_code != 0) {
    return fail(handler_code);
  }
  return settle(start(key_operator));
}

Step Cursor::next() { return settle(advance()); }

void Cursor::write_row(ValueWriter& writer) { write_columns(binding_->columns, writer); }

bool Cursor::update_moves_rows(size_t new_value_count) const {
  const uint32_t clustered_key = table_->s->primary_key;
  const bool is_clustered = clustered_key < MAX_KEY && table_->file->pk_is_clustering_key(clustered_key);
  for (size_t i = 0; i < new_value_count && i < binding_->columns.size(); ++i) {
    const Field* const field = binding_->columns[i].field;
    if (field->part_of_key_not_clustered.is_set(binding_->key_number) || field->key_start.is_set(binding_->key_number) ||
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
  return table_->part_info != nullptr;
}

bool Cursor::save_position() {
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
  uchar* const position = positions_.data() + number * table_->file->ref_length;
  const int handler_code = table_->file->ha_rnd_pos(table_->record[0], position);
  return handler_code == 0 ? Step::row : fail(handler_code);
}

void Cursor::prepare(Change change) {
  if (change_ != Change::none) {
    return;
  }
  change_ = change;
  switch (change) {
    case Change::none:
      return;
    case Change::insert:
      open_->deactivate();
      prepare_insert(table_);
      return;
    case Change::update:
      prepare_update(table_);
      return;
    case Change::remove:
      prepare_delete(table_);
      return;
  }
}

Error Cursor::update_row(std::span<const Value> new_values) {
  prepare(Change::update);
  return noted(mariadb::update_row(thd_, *binding_, table_, new_values, raw_));
}

Error Cursor::add_to_row(std::span<const Value> amounts, bool decrement, bool& changed) {
  prepare(Change::update);
  return noted(mariadb::add_to_row(thd_, *binding_, table_, amounts, decrement, changed));
}

Error Cursor::delete_row() {
  prepare(Change::remove);
  return noted(mariadb::delete_row(thd_, table_));
}

Error Cursor::insert_row(std::span<const Value> values, bool& has_id, uint64_t& id) {
  prepare(Change::insert);
  return noted(mariadb::insert_row(thd_, *binding_, table_, values, raw_, has_id, id));
}

}  // namespace rowsocket::mariadb
