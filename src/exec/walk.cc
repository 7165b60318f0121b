// SPDX-License-Identifier: GPL-2.0-only
#include "exec/walk.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "exec/insertion.h"

namespace rowsocket::exec {
namespace {

using engine::Step;
using engine::Verdict;

constexpr uint64_t no_limit = std::numeric_limits<uint64_t>::max();

}  // namespace

Walk::Walk(engine::Cursor& cursor, const Find& find, size_t reply_bytes_max, RequestBounds& bounds,
           WalkScratch& scratch, RowCounts& counts, Error& error)
    : cursor_(cursor),
      find_(find),
      reply_(*find.reply),
      teller_(reply_, reply_bytes_max),
      bounds_(bounds),
      scratch_(scratch),
      counts_(counts),
      error_(error),
      tells_rows_(find.tell != Tell::count),
      tells_misses_(tells_rows_ && reply_.tells_misses()),
      reply_bytes_max_(reply_bytes_max),
      offset_left_(find.offset),
      question_at_(bounds.rows_to_next_question(0)) {}

void Walk::run(size_t column_count) {
  if (!find_.filters.empty()) {
    error_ = cursor_.set_filters(find_.filters);
    if (!error_.ok()) {
      return;
    }
  }
  if (find_.change.kind == Change::Kind::assign) {
    choose_assignments(column_count);
    begin_collecting();
  }
  if (tells_rows_) {
    reply_.begin_rows(column_count);
    if (reply_.asks_key_shape()) [[unlikely]] {
      reply_.key_shape(cursor_.key_shape());
    }
  }
  if (!walk_keys() || (collects_ && !change_collected_rows())) {
    return;
  }
  if (find_.otherwise == nullptr || rows_taken_ > 0) [[likely]] {
    tell_end();
  } else {
    error_ = Insertion(cursor_, *find_.otherwise, column_count, bounds_, counts_).run(reply_bytes_max_);
  }
}

/// Assignments beyond the columns are dropped. Admission has refused them where they may not be.
void Walk::choose_assignments(size_t column_count) {
  const auto fits = [column_count](const Assignment& one) { return one.column < column_count; };
  const auto& all = find_.change.assignments;
  assignments_ = all;
  if (!std::all_of(all.begin(), all.end(), fits)) [[unlikely]] {
    scratch_.assignments.clear();
    std::copy_if(all.begin(), all.end(), std::back_inserter(scratch_.assignments), fits);
    assignments_ = scratch_.assignments;
  }
}

void Walk::begin_collecting() {
  collects_ = find_.limit > 1 && cursor_.change_moves_rows(assignments_);
  if (collects_) {
    scratch_.keys.clear();
  }
}

// ---- which rows

bool Walk::walk_keys() {
  if (find_.limit == 0) {
    return true;
  }
  return find_.list.is_given ? walk_list() : walk_key(find_.range, no_limit);
}

bool Walk::walk_list() {
  const KeyList& list = find_.list;
  KeyRange range = find_.range;
  const size_t key_size = range.key.size();
  std::vector<Value>& key = scratch_.key;
  key.assign(range.key.begin(), range.key.end());
  key.insert(key.end(), range.end_key.begin(), range.end_key.end());
  range.key = std::span(key).first(key_size);
  range.end_key = std::span(key).subspan(key_size);

  const bool all_rows =
      range.key_operator == KeyOperator::equal || range.key_operator == KeyOperator::starts_with;
  const uint64_t usual_limit = all_rows ? no_limit : 1;
  const uint64_t row_limit = list.row_limit_per_key != 0 ? list.row_limit_per_key : usual_limit;
  const size_t stride = list.holds_whole_keys ? key_size : 1;
  for (size_t at = 0; at < list.values.size() && rows_taken_ < find_.limit; at += stride) {
    if (list.holds_whole_keys) {
      std::copy_n(list.values.begin() + static_cast<ptrdiff_t>(at), key_size, key.begin());
    } else {
      key[list.part] = list.values[at];
      if (list.part < range.end_key.size()) {
        key[key_size + list.part] = list.values[at];
      }
    }
    if (!walk_key(range, row_limit)) {
      return false;
    }
    ++key_number_;
  }
  return true;
}

bool Walk::walk_key(const KeyRange& range, uint64_t row_limit) {
  key_has_row_ = false;
  if (!walk_range(range, row_limit)) {
    return false;
  }
  if (collects_) [[unlikely]] {
    end_collected_key();
  } else if (tells_misses_ && !key_has_row_) [[unlikely]] {
    reply_.missed(key_number_);
  }
  return true;
}

/// `row_limit`: of the rows that no filter skips, those that the offset skips included.
bool Walk::walk_range(const KeyRange& range, uint64_t row_limit) {
  const bool is_filtered = !find_.filters.empty();
  uint64_t rows_left = row_limit;
  for (Step step = cursor_.seek(range);; step = cursor_.next()) {
    if (step == Step::passing) [[unlikely]] {
      counts_.read += limits::rows_passed_per_step;
      if (!may_go_on(false)) {
        return false;
      }
      continue;
    }
    if (!may_take_step(step == Step::row)) [[unlikely]] {
      return false;
    }
    if (step != Step::row) {
      return step == Step::end || fail(cursor_.error());
    }
    ++counts_.read;
    const Verdict verdict = is_filtered ? cursor_.verdict() : Verdict::match;
    if (verdict == Verdict::stop) {
      return true;
    }
    if (verdict == Verdict::skip) {
      continue;
    }
    key_has_row_ = true;
    if (offset_left_ > 0) {
      --offset_left_;
    } else if (!take_row(verdict == Verdict::refuse)) {
      return false;
    }
    if (--rows_left == 0 || rows_taken_ == find_.limit) {
      return true;
    }
  }
}

/// The bounds of the request are asked. A row that was found already is no further one when it is changed.
bool Walk::may_go_on(bool stands_on_row) {
  const ErrorCode reason = bounds_.reason_to_end(counts_.read + (stands_on_row ? 1 : 0));
  question_at_ = steps_ + bounds_.rows_to_next_question(counts_.read + (stands_on_row ? 1 : 0));
  return reason == ErrorCode::none || fail(reason);
}

bool Walk::take_row(bool is_refused) {
  ++rows_taken_;
  if (is_refused) [[unlikely]] {
    ++rows_refused_;
    return true;
  }
  if (collects_) [[unlikely]] {
    ++rows_collected_;
    return cursor_.save_position() || fail(ErrorCode::out_of_memory);
  }
  return finish_row();
}

// ---- what becomes of a row

bool Walk::finish_row() {
  return (find_.tell != Tell::rows || tell_row()) &&
         (find_.change.kind == Change::Kind::none || change_row());
}

bool Walk::tell_row() {
  ++counts_.told;
  return teller_.tell(cursor_, key_number_) || fail(ErrorCode::reply_too_large);
}

bool Walk::change_row() {
  const bool removes = find_.change.kind == Change::Kind::remove;
  bool changed = true;
  error_ = removes ? cursor_.delete_row(changed)
                   : cursor_.change_row(assignments_, find_.change.keeps_signs, changed);
  if (!error_.ok()) {
    return false;
  }
  if (!changed) {
    return true;
  }
  question_at_ = steps_ + 1;  // a trigger can make each change take long
  ++rows_changed_;
  ++(removes ? counts_.deleted : counts_.updated);
  return find_.tell != Tell::rows_after || tell_row();
}

// ---- rows that are collected first

/// Where the reply does not care for keys, all rows are remembered as those of one.
void Walk::end_collected_key() {
  const bool tells_keys = tells_misses_ || (tells_rows_ && reply_.tells_rows());
  if (tells_keys || scratch_.keys.empty()) {
    scratch_.keys.push_back({rows_collected_, tells_misses_ && !key_has_row_});
  } else {
    scratch_.keys.back().positions_end = rows_collected_;
  }
}

bool Walk::change_collected_rows() {
  size_t position = 0;
  for (key_number_ = 0; key_number_ < scratch_.keys.size(); ++key_number_) {
    const CollectedKey& key = scratch_.keys[key_number_];
    if (key.is_missed) {
      reply_.missed(key_number_);
    }
    for (; position < key.positions_end; ++position) {
      if (!may_take_step(false)) [[unlikely]] {
        return false;
      }
      const Step step = cursor_.fetch_position(position);
      if (step == Step::failed) {
        return fail(cursor_.error());
      }
      // A row can be gone: changing another one may have removed it (a cascade, a trigger).
      if (step == Step::row && still_passes() && !finish_row()) {
        return false;
      }
    }
  }
  return true;
}

/// Whether the filters take a collected row as it is now. The request itself may have changed the row since
/// it was found: a list may lead there twice, and a trigger may change other rows.
bool Walk::still_passes() {
  const Verdict verdict = find_.filters.empty() ? Verdict::match : cursor_.verdict();
  if (verdict == Verdict::match) [[likely]] {
    return true;
  }
  if (verdict == Verdict::refuse) {
    ++rows_refused_;
  } else {
    --rows_taken_;
  }
  return false;
}

// ---- the end

void Walk::tell_end() {
  const uint64_t rows_matched = rows_taken_ - rows_refused_;
  if (tells_rows_) {
    reply_.end_rows();
  } else if (find_.change.kind == Change::Kind::none) {
    reply_.counted(rows_matched);
  } else {
    reply_.changed({.rows_found = rows_taken_, .rows_matched = rows_matched, .rows_changed = rows_changed_});
  }
}

bool Walk::fail(ErrorCode code) {
  error_ = code;
  return false;
}

bool Walk::fail(const Error& error) {
  const bool is_told = invariant(!error.ok(), "a step that failed says why");
  error_ = is_told ? error : Error(ErrorCode::engine, "a step failed without an error");
  return false;
}

}  // namespace rowsocket::exec
