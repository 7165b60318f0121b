// SPDX-License-Identifier: GPL-2.0-only
//
// What the server counts of each account and host while `userstat` is on. What turns share is counted for
// none.
#pragma once

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class UserStatistics {
 public:
  explicit UserStatistics(THD* thd) : thd_(thd) {}

  void begin_command() {
    thd_->userstat_running = opt_userstat_running;
    if (thd_->userstat_running) [[unlikely]] {
      begin();
    }
  }
  /// What was done since the command began, or since the last call, counts for the account that the THD acts
  /// as, and for its client's host.
  void count_for_account(handler* file, const char* host) {
    if (thd_->userstat_running) [[unlikely]] {
      add(file, host);
      begin();
    }
  }
  void end_command() {
    if (thd_->userstat_running) [[unlikely]] {
      add(nullptr, thd_->security_ctx->host_or_ip);
    }
  }

 private:
  void begin();
  void add(handler* file, const char* host);

  THD* thd_;
  ulonglong began_us_ = 0;  ///< of the server's clock
};

}  // namespace rowsocket::mariadb
