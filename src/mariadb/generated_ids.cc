// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "mariadb/generated_ids.h"

namespace rowsocket::mariadb {
namespace {

/// auto_increment_increment and _offset may have changed since. Then the value would lead to others that the
/// server would not give.
bool fits_steps(const THD* thd, ulonglong id) {
  const ulonglong step = thd->variables.auto_increment_increment;
  return step <= 1 || id % step == thd->variables.auto_increment_offset % step;
}

/// Partitions give the last values again when their rows were not inserted, to the next request that comes.
/// An engine that locks tables gives the next behind the largest that is there.
bool takes_back_ids(const TABLE* table) {
  return table->part_info != nullptr || (table->file->ha_table_flags() & HA_NO_TRANSACTIONS) != 0;
}

}  // namespace

void GeneratedIds::begin(std::vector<engine::GeneratedId> earlier) {
  earlier_ = std::move(earlier);
  offered_ = 0;
  given_.clear();
}

ulonglong GeneratedIds::offer(THD* thd, const TABLE* table) {
  if (offered_ == earlier_.size()) [[likely]] {
    return 0;
  }
  const engine::GeneratedId& next = earlier_[offered_];
  if (next.table != table->s->get_table_def_version()) {
    return 0;
  }
  ++offered_;
  if (!fits_steps(thd, next.id)) {
    return 0;
  }
  // As SET INSERT_ID does, but for one value. The server looks for it only where nothing else is reserved.
  table->file->next_insert_id = 0;
  table->file->auto_inc_interval_for_cur_row.replace(0, 0, 0);
  return thd->auto_inc_intervals_forced.append(next.id, 1, 0) ? 0 : next.id;
}

void GeneratedIds::note(const TABLE* table, ulonglong id, bool is_written) {
  if (takes_back_ids(table) || given_.size() >= limits::insert_rows_max) {
    return;
  }
  if (!is_written) {
    table->file->info(HA_STATUS_AUTO);
    if (table->file->stats.auto_increment_value <= id) {
      return;  // innodb_autoinc_lock_mode=0 gives it again when the statement ends
    }
  }
  try {
    given_.push_back({table->s->get_table_def_version(), id});
  } catch (...) {
    given_.clear();  // the next run is given others
  }
}

void GeneratedIds::drop_last() {
  if (!given_.empty()) {
    given_.pop_back();
  }
}

std::vector<engine::GeneratedId> GeneratedIds::all() const {
  if (!invariant(offered_ <= earlier_.size(), "only values of the earlier run are offered again")) {
    return given_;
  }
  std::vector<engine::GeneratedId> found = given_;
  found.insert(found.end(), earlier_.begin() + static_cast<ptrdiff_t>(offered_), earlier_.end());
  return found;
}

void end_offer(THD* thd) { thd->auto_inc_intervals_forced.empty(); }

}  // namespace rowsocket::mariadb
