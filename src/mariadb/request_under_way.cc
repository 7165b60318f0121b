// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "base/invariant.h"
#include "mariadb/diagnostics.h"
#include "mariadb/request_under_way.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {
namespace {

/// Rows that the session has deleted or updated, by triggers, too.
ulong removals(const THD* thd) { return thd->status_var.ha_delete_count + thd->status_var.ha_update_count; }

}  // namespace

bool RequestUnderWay::begin(const BoundSelection::Side& side, bool changes, bool raw, uint64_t own_us_max) {
  if (!invariant(side.open->is_locked(), "a request runs on a table that is locked") ||
      !invariant(side.binding.generation == side.open->generation(),
                 "the columns of a request belong to the open table")) {
    return false;
  }
  THD* const thd = thread_.thd();
  table_ = side.open.get();
  changes_ = changes;
  began_killed_ = thread_.is_killed();
  rows_changed_before_ = rows_changed(table_->table()->file);
  removals_before_ = removals(thd);
  if (table_->needs_own_statement()) {
    thread_.begin_code();
  }
  forget_conditions(thd);
  thd->get_stmt_da()->reset_current_row_for_warning(1);
  thread_.limit_time(own_us_max);
  thd->set_query_timer();
  thread_.limit_memory(true);
  cursor_.begin(thd, *table_, side.binding, raw, side.allowed.hides_kept_id);
  return true;
}

bool RequestUnderWay::may_have_removed_entries() const {
  return cursor_.has_removed_entries() ||
         (table_->triggers_show_removed_entries() && removals(thread_.thd()) != removals_before_);
}

void RequestUnderWay::end(bool is_cluster_client) {
  end_limits(is_cluster_client);
  if (changes_) {
    cursor_.end_changes();
    table_->deactivate();
  }
  table_ = nullptr;
}

bool RequestUnderWay::abandon(bool is_cluster_client) {
  end_limits(is_cluster_client);
  if (changes_) {
    cursor_.end_changes();
  }
  OpenTable& table = *std::exchange(table_, nullptr);
  table.deactivate();
  clear_diagnostics(thread_.thd());
  return changes_ &&
         (cursor_.may_have_left_row() || rows_changed(table.table()->file) != rows_changed_before_);
}

/// From here on nothing of the request is a matter of the server's limits, or of a KILL QUERY that came while
/// the request ran; `table_` is still its table.
void RequestUnderWay::end_limits(bool is_cluster_client) {
  THD* const thd = thread_.thd();
  thread_.end_code();
  thd->reset_query_timer();
  thread_.limit_memory(false);
  if (table_->runs_triggers() && !began_killed_) {
    thread_.weaken_kill();
  }
  const bool was_killed = thd->killed == KILL_QUERY || thd->killed == KILL_QUERY_HARD;
  if (thd->killed == KILL_TIMEOUT || took_too_much_memory(thd) || (was_killed && !is_cluster_client)) {
    thread_.forget_kill();
  }
}

}  // namespace rowsocket::mariadb
