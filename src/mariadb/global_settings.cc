// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstring>

#include "base/limits.h"
#include "mariadb/global_settings.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {

bool GlobalSettings::have_changed(ulonglong now_us) {
  // Both are copies of the same bytes, padding included.
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  return !is_taken_ || std::memcmp(&seen_, &global_system_variables, sizeof(seen_)) != 0 ||
         plugins_variables_changed(now_us);
}

bool GlobalSettings::plugins_variables_changed(ulonglong now_us) {
  // They may move when a plugin is installed, so they are looked at under the lock, and not by every turn.
  if (now_us - looked_at_us_ < limits::plugin_variables_interval_us) [[likely]] {
    return false;
  }
  looked_at_us_ = now_us;
  mysql_mutex_lock(&LOCK_global_system_variables);
  const size_t size = global_system_variables.dynamic_variables_size;
  const bool changed =
      size != seen_of_plugins_.size() ||
      std::memcmp(seen_of_plugins_.data(), global_system_variables.dynamic_variables_ptr, size) != 0;
  mysql_mutex_unlock(&LOCK_global_system_variables);
  return changed;
}

void GlobalSettings::take_over(THD* thd) {
  mysql_mutex_lock(&LOCK_global_system_variables);
  plugin_thdvar_init(thd);
  std::memcpy(&seen_, &global_system_variables, sizeof(seen_));
  const char* const of_plugins = global_system_variables.dynamic_variables_ptr;
  // No exception may leave here: without this lock nobody connects any more, and no shutdown ends.
  try {
    seen_of_plugins_.assign(of_plugins, of_plugins + global_system_variables.dynamic_variables_size);
  } catch (...) {
    seen_of_plugins_.clear();  // differs from what the server has, so it is taken over again soon
  }
  take_over_default_connection(thd);
  mysql_mutex_unlock(&LOCK_global_system_variables);
  is_taken_ = true;

  thd->variables.pseudo_thread_id = thd->thread_id;
  thd->open_options = ha_open_options;
  thd->update_lock_default = thd->variables.low_priority_updates ? TL_WRITE_LOW_PRIORITY : TL_WRITE;
  thd->tx_isolation = static_cast<enum_tx_isolation>(thd->variables.tx_isolation);
  thd->tx_read_only = thd->variables.tx_read_only;
  thd->update_charset();
  thd->set_binlog_bit();
}

void GlobalSettings::switch_off(THD* thd, std::string_view name) {
  mysql_prlock_rdlock(&LOCK_system_variables_hash);  // so the plugin stays
  const sys_var* const variable = intern_find_sys_var(name.data(), name.size());
  if (variable != nullptr) {
    // It tells where the session's own value is, which nobody else uses.
    *const_cast<uchar*>(variable->value_ptr(thd, OPT_SESSION, &null_clex_str)) = 0;
  }
  mysql_prlock_unlock(&LOCK_system_variables_hash);
}

}  // namespace rowsocket::mariadb
