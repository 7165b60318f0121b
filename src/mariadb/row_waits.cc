// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "mariadb/awake.h"
#include "mariadb/diagnostics.h"
#include "mariadb/row_waits.h"

namespace rowsocket::mariadb {
namespace {

/// innodb_lock_wait_timeout; nullptr in a server without InnoDB.
sys_var* find_timeout_variable() {
  mysql_prlock_rdlock(&LOCK_system_variables_hash);
  sys_var* const variable = intern_find_sys_var(STRING_WITH_LEN("innodb_lock_wait_timeout"));
  mysql_prlock_unlock(&LOCK_system_variables_hash);
  return variable;
}

/// Another session waits for a metadata lock that the THD holds: for one of a table, or that of backups,
/// which FLUSH TABLES WITH READ LOCK and read_only take, too.
bool is_waited_for(const THD* thd) {
  struct Search {
    const THD* holder;
    bool found;
  } search{thd, false};
  const auto look = [](MDL_ticket* ticket, void* argument, bool is_granted) -> int {
    auto& looking = *static_cast<Search*>(argument);
    looking.found |= is_granted && ticket->get_ctx()->get_thd() == looking.holder &&
                     ticket->has_pending_conflicting_lock();
    return looking.found ? 1 : 0;
  };
  static_cast<void>(mdl_iterate(look, &search));
  return search.found;
}

}  // namespace

RowWaits::RowWaits(THD* thd) : thd_(thd), variable_(find_timeout_variable()) {}

void RowWaits::take_over_settings() {
  patience_ = RowPatience::full;
  set_patience(RowPatience::second);
}

void RowWaits::set_patience(RowPatience patience, ulong rest_s) {
  if (variable_ == nullptr || (patience_ == patience && patience != RowPatience::rest)) {
    return;
  }
  const auto seconds = static_cast<longlong>(patience == RowPatience::full     ? timeout_s()
                                             : patience == RowPatience::rest   ? rest_s
                                             : patience == RowPatience::second ? 1
                                                                               : 0);
  set_var setting(thd_, OPT_SESSION, variable_, &null_clex_str, new (thd_->mem_root) Item_int(thd_, seconds));
  if (setting.check(thd_) == 0 && setting.update(thd_) == 0) {
    patience_ = patience;
  }
  thd_->free_items();
  clear_diagnostics(thd_);
}

ulong RowWaits::timeout_s() const {
  if (variable_ == nullptr) {
    return 0;
  }
  return *reinterpret_cast<const ulong*>(variable_->value_ptr(thd_, OPT_GLOBAL, &null_clex_str));
}

void RowWaits::note_wait(bool waits) {
  if (may_give_way_) {
    const MutexLock lock(wait_mutex_);
    waits_ = waits;
  }
}

/// While the wait lasts: its end waits for us, so that nothing else of the session is interrupted.
void RowWaits::give_way() {
  const MutexLock lock(wait_mutex_);
  if (waits_ && is_waited_for(thd_)) {
    gave_way_.store(true);
    try_awake(thd_, KILL_QUERY);
  }
}

}  // namespace rowsocket::mariadb
