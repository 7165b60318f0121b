// SPDX-License-Identifier: GPL-2.0-only
//
// How a THD of ours waits for rows that other transactions have locked: how long, and whether the wait ends
// for another session's sake. Only for engines that have innodb_lock_wait_timeout.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// Not at all, a second, what is left of the time that the server's settings say, or all of that time.
enum class RowPatience : uint8_t { none, second, rest, full };

class RowWaits {
 public:
  explicit RowWaits(THD* thd);

  /// The server's settings were taken over: their time is the THD's.
  void take_over_settings();
  /// `rest_s` is for RowPatience::rest.
  void set_patience(RowPatience patience, ulong rest_s = 0);
  [[nodiscard]] RowPatience patience() const { return patience_; }
  /// innodb_lock_wait_timeout of the server, in seconds; 0 in a server without InnoDB.
  [[nodiscard]] ulong timeout_s() const;

  /// Whether a wait ends where another session waits for a metadata lock that this one holds. What is under
  /// way must not be of the kind that no rollback takes back.
  void may_give_way(bool may) {
    may_give_way_ = may;
    gave_way_.store(false);
  }
  /// That has happened, since it was allowed.
  [[nodiscard]] bool gave_way() const { return gave_way_.load(); }
  /// Look whether it is time for that. From any thread.
  void give_way();
  /// A wait begins or ends. InnoDB holds no latch then.
  void note_wait(bool waits);

 private:
  THD* thd_;
  sys_var* variable_;  ///< innodb_lock_wait_timeout; nullptr in a server without InnoDB
  RowPatience patience_ = RowPatience::full;
  bool may_give_way_ = false;
  Mutex wait_mutex_;  ///< the wait does not end while another thread decides that it should
  bool waits_ ROWSOCKET_GUARDED_BY(wait_mutex_) = false;
  std::atomic<bool> gave_way_{false};
};

}  // namespace rowsocket::mariadb
