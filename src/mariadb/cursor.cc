// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "mariadb/cursor.h"
#include "mariadb/diagnostics.h"
#include "mariadb/row_rules.h"
#include "mariadb/row_text.h"
#include "mariadb/server_thread.h"
#include "sql_values/order.h"

namespace rowsocket::mariadb {

using engine::Step;
using engine::Verdict;

namespace {

bool is_end(int handler_code) {
  return handler_code == HA_ERR_KEY_NOT_FOUND || handler_code == HA_ERR_END_OF_FILE;
}

}  // namespace

void Cursor::begin(THD* thd, OpenTable& open, const Binding& binding, bool raw, bool hides_kept_id) {
  thd_ = thd;
  open_ = &open;
  binding_ = &binding;
  table_ = open.table();
  raw_ = raw;
  hides_kept_id_ = hides_kept_id;
  change_ = Change::none;
  filter_count_ = 0;
  is_fetching_positions_ = false;
  stands_ = false;
  found_row_locked_ = false;
  may_have_left_row_ = false;
  avoids_removed_entries_ = false;
  has_removed_entries_ = false;
  positions_.clear();
  if (table_->vfield != nullptr) [[unlikely]] {
    enter_database(table_);
  }
}

Step Cursor::fail(Error error) {
  error_ = std::move(error);
  return Step::failed;
}

Step Cursor::fail(int handler_code) { return fail(noted(engine_error(thd_, table_->file, handler_code))); }

Error Cursor::noted(Error error) {
  if (error.code == ErrorCode::sql && waited_for_row(thd_, error)) {
    error.reason = Reason::row_locked;
  }
  needs_new_transaction_ = needs_new_transaction_ ||
                           (error.code == ErrorCode::engine &&
                            (error.number == HA_ERR_TABLE_DEF_CHANGED || error.number == HA_ERR_ROLLBACK));
  found_row_locked_ = error.reason == Reason::row_locked;
  return error;
}

Error Cursor::set_filters(std::span<const Filter> filters) {
  if (filters_.size() < filters.size()) {
    filters_.resize(filters.size());
  }
  filter_count_ = filters.size();
  for (size_t i = 0; i < filters.size(); ++i) {
    if (!invariant(filters[i].filter_column < binding_->filter_columns.size(),
                   "a filter's column is one of the selection's")) {
      return ErrorCode::bad_filter_column;
    }
    filters_[i].comparison = filters[i].comparison;
    filters_[i].mismatch = filters[i].mismatch;
    Field* const field = binding_->filter_columns[filters[i].filter_column];
    if (Error error = filters_[i].comparand.prepare(thd_, field, filters[i].value, raw_); !error.ok()) {
      return error;
    }
    const bool is_equality =
        filters[i].comparison == Comparison::equal || filters[i].comparison == Comparison::not_equal;
    if (!is_equality && !filters_[i].comparand.has_place()) {
      return no_order(field);
    }
  }
  return {};
}

bool Cursor::satisfied_by_row(const FilterState& filter) {
  return (filter.comparand.has_order() &&
          sql_values::satisfies(filter.comparand.compare_row(), filter.comparison)) ||
         (filter.comparison == Comparison::greater_or_unset && filter.comparand.row_is_unset());
}

Verdict Cursor::verdict() {
  for (size_t i = 0; i < filter_count_; ++i) {
    if (!satisfied_by_row(filters_[i])) {
      return engine::verdict_of(filters_[i].mismatch);
    }
  }
  return Verdict::match;
}

bool Cursor::set_bound(KeyBound& bound, KeyOperator key_operator, std::span<const Value> key) {
  return bound.set(thd_, table_, *binding_, key_operator, key, raw_, error_);
}

/// Where the walk begins, ends and goes. False if a value is malformed.
bool Cursor::set_bounds(const KeyRange& range) {
  has_last_ = false;
  has_prefix_ = false;
  const bool needs_range_calls = binding_->goes_up_only && range.key_operator == KeyOperator::equal &&
                                 range.key.size() < binding_->key_parts.size();
  if (range.has_end || range.reverse || range.key_operator == KeyOperator::starts_with || needs_range_calls)
      [[unlikely]] {
    return set_both_bounds(range);
  }
  if (!set_bound(first_, range.key_operator, range.key)) {
    return false;
  }
  if (first_.has_two_ends()) [[unlikely]] {
    return set_both_bounds(range);
  }
  checks_rows_ = first_.rechecks();
  course_ = goes_up(range.key_operator)     ? Course::forward
            : goes_down(range.key_operator) ? Course::backward
            : first_.is_of_one_row()        ? Course::first_row_only
                                            : Course::same_key;
  // As a range, which ends here instead of in RocksDB. The price is the row behind it, which is read, too,
  // and locked where the walk locks.
  if (course_ == Course::same_key && avoids_removed_entries_) [[unlikely]] {
    return set_both_bounds(range);
  }
  return true;
}

/// `is_near`: a value is none that its column takes. SQL would compare it all the same.
bool Cursor::set_exact_bounds(const KeyRange& range, bool& is_near) {
  ServerThread& thread = ServerThread::of(thd_);
  const bool was_lenient = thread.take_lenience();
  const bool is_set = set_bounds(range);
  is_near = thread.take_lenience();
  if (was_lenient) {
    thread.note_lenience();
  }
  return is_set;
}

bool Cursor::set_both_bounds(const KeyRange& range) {
  if (range.end_key.size() > binding_->key_parts.size()) {
    error_ = Error(ErrorCode::too_many_key_parts,
                   "the index has fewer parts than the end of the range has values");
    return false;
  }
  const bool forward = goes_down(range.key_operator) == range.reverse;
  course_ = forward ? Course::forward : Course::backward;
  has_last_ = true;
  checks_rows_ = true;
  KeyBound& low = forward ? first_ : last_;
  KeyBound& high = forward ? last_ : first_;
  if (range.key_operator == KeyOperator::starts_with) {
    has_prefix_ = true;
    return KeyBound::set_prefix(thd_, table_, *binding_, range.key, raw_, low, high, prefix_, error_);
  }
  if (range.key_operator == KeyOperator::equal) {
    if (!set_bound(low, KeyOperator::equal, range.key)) {
      return false;
    }
    KeyBound::open_between(low, high);
    return true;
  }
  KeyBound& given = goes_up(range.key_operator) ? low : high;
  KeyBound& other = goes_up(range.key_operator) ? high : low;
  if (!range.has_end) {
    other.set_open(goes_up(range.key_operator) ? KeyOperator::at_or_before : KeyOperator::at_or_after);
  } else if (!set_bound(other, range.end_operator, range.end_key)) {
    return false;
  }
  return set_bound(given, range.key_operator, range.key);
}

/// Whether the index's current row belongs to the range: a match, one to pass over, or the first beyond its
/// end.
Verdict Cursor::check_row() const {
  if (has_last_ && !last_.admits_row()) {
    return binding_->is_merged_loosely ? Verdict::skip : Verdict::stop;
  }
  if ((first_.rechecks() && !first_.passes_recheck()) ||
      (has_last_ && last_.rechecks() && !last_.passes_recheck()) || (has_prefix_ && !prefix_.matches_row())) {
    return Verdict::skip;
  }
  return Verdict::match;
}

/// Of a partitioned table, a walk upwards uses the calls that SQL's ranges use. With index_read, a partition
/// that has nothing behind the key would be asked to go on from there, and not every engine has kept its
/// place then. And on the other calls virtual columns are not computed when partitions are merged.
int Cursor::start() {
  handler* const file = table_->file;
  calls_for_ranges_ = course_ == Course::forward && table_->part_info != nullptr;
  uchar* const row = table_->record[0];
  if (first_.is_open()) {
    if (calls_for_ranges_) {
      return file->read_range_first(nullptr, nullptr, false, true);
    }
    return course_ == Course::backward ? file->ha_index_last(row) : file->ha_index_first(row);
  }
  ha_rkey_function position = HA_READ_KEY_EXACT;
  switch (first_.key_operator()) {
    case KeyOperator::after:
      position = HA_READ_AFTER_KEY;
      break;
    case KeyOperator::at_or_after:
      position = HA_READ_KEY_OR_NEXT;
      break;
    case KeyOperator::before:
      position = HA_READ_BEFORE_KEY;
      break;
    case KeyOperator::at_or_before:
      position = HA_READ_PREFIX_LAST_OR_PREV;
      break;
    case KeyOperator::equal:
    case KeyOperator::starts_with:
      break;
  }
  if (calls_for_ranges_) {
    const key_range from = {first_.image(), static_cast<uint>(first_.image_bytes()), first_.map(), position};
    return file->read_range_first(&from, nullptr, false, true);
  }
  return file->ha_index_read_map(row, first_.image(), first_.map(), position);
}

int Cursor::advance() {
  handler* const file = table_->file;
  switch (course_) {
    case Course::same_key:
      return file->ha_index_next_same(table_->record[0], first_.image(), first_.image_bytes());
    case Course::forward:
      return calls_for_ranges_ ? file->read_range_next() : file->ha_index_next(table_->record[0]);
    case Course::backward:
      return file->ha_index_prev(table_->record[0]);
    case Course::first_row_only:
      return HA_ERR_END_OF_FILE;
  }
  return HA_ERR_END_OF_FILE;
}

/// SQL compares with the past by what the clock shows. This is exact also where the clock is put back.
bool Cursor::is_version_of_other_time() const {
  if (binding_->row_start == nullptr) {
    return !binding_->row_end->is_max();
  }
  const vers_asof_timestamp_t& moment = thd_->variables.vers_asof_timestamp;
  const auto is_later = [&](const Field* field) {
    ulong fraction = 0;
    const my_time_t second = field->get_timestamp(&fraction);
    return second != moment.unix_time ? second > moment.unix_time : fraction > moment.second_part;
  };
  return is_later(binding_->row_start) || !is_later(binding_->row_end);
}

/// From where a movement of the handler has ended, with this code, to the next row of the range.
Step Cursor::come_to_row(int handler_code) {
  for (uint32_t passed = 1;; ++passed) {
    if (handler_code == 0) [[likely]] {
      const bool is_of_other_time = binding_->row_end != nullptr && is_version_of_other_time();
      const Verdict verdict = checks_rows_ ? check_row() : Verdict::match;
      if (verdict == Verdict::match && !is_of_other_time) [[likely]] {
        return Step::row;
      }
      if (verdict == Verdict::stop) {
        return Step::end;
      }
    } else if (is_end(handler_code)) {
      return Step::end;
    } else if (handler_code != HA_ERR_RECORD_DELETED) {
      return fail(handler_code);
    }
    if (thd_->killed) [[unlikely]] {
      return fail(interruption_error(thd_));
    }
    if (passed == limits::rows_passed_per_step) {
      return Step::passing;
    }
    handler_code = advance();
  }
}

Step Cursor::seek(const KeyRange& range) {
  stands_ = false;
  if (range.key.size() > binding_->key_parts.size()) {
    return fail(Error(ErrorCode::too_many_key_parts, "the index has fewer parts than the key has values"));
  }
  if (binding_->whole_key_only) {
    if (range.key_operator != KeyOperator::equal || range.reverse) {
      return fail(Error(ErrorCode::bad_operator, "a hash index has no order"));
    }
    if (range.key.size() != binding_->key_parts.size()) {
      return fail(Error(ErrorCode::too_many_key_parts, "a hash index needs its whole key"));
    }
  }
  bool is_near = false;
  if (!(range.exact_values ? set_exact_bounds(range, is_near) : set_bounds(range))) {
    return Step::failed;
  }
  if (course_ == Course::backward && binding_->goes_up_only) {
    return fail(Error(ErrorCode::bad_operator,
                      "the server merges the partitions of an index over a virtual column upwards only"));
  }
  if (is_near || first_.finds_nothing() || (has_last_ && last_.finds_nothing())) {
    course_ = Course::first_row_only;
    return Step::end;
  }
  // A row is compared with the key: by a check of whole values, and by the server's index_next_same, which
  // serves the engines that have none of their own.
  const bool reads_key =
      has_last_ || first_.rechecks() || (course_ == Course::same_key && !open_->is_innodb());
  if (const int handler_code = open_->activate(*binding_, reads_key); handler_code != 0) {
    return fail(handler_code);
  }
  return stand(come_to_row(start()));
}

Step Cursor::next() {
  if (thd_->killed) [[unlikely]] {
    return fail(interruption_error(thd_));
  }
  return stand(come_to_row(advance()));
}

/// Where a movement has ended.
Step Cursor::stand(Step step) {
  stands_ = step == Step::row;
  return step;
}

void Cursor::write_row(ValueWriter& writer) {
  writer.begin_row();
  if (binding_->tells_names) [[unlikely]] {
    write_named_columns(binding_->columns, writer);
  } else {
    write_columns(binding_->columns, writer);
  }
}

}  // namespace rowsocket::mariadb
