// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstring>
#include <utility>

#include "mariadb/user_statistics.h"

namespace rowsocket::mariadb {

void UserStatistics::begin() {
  thd_->userstat_running = true;
  thd_->start_cpu_time = my_getcputime();
  began_us_ = microsecond_interval_timer();
  std::memcpy(&thd_->org_status_var, &thd_->status_var, sizeof(thd_->status_var));
  thd_->select_commands = thd_->update_commands = thd_->other_commands = 0;
}

/// The rows that were read are told to the session first, as at the end of a statement of SQL.
void UserStatistics::add(handler* file, const char* host) {
  if (file != nullptr) {
    file->update_global_table_stats();
    thd_->update_stats();
  }
  const char* const host_before = std::exchange(thd_->security_ctx->host_or_ip, host);
  const ulonglong start_before = std::exchange(thd_->start_utime, began_us_);
  thd_->utime_after_query = thd_->utime_after_lock;  // Query_time is of SQL's statements
  thd_->update_all_stats();
  thd_->start_utime = start_before;
  thd_->security_ctx->host_or_ip = host_before;
}

}  // namespace rowsocket::mariadb
