// SPDX-License-Identifier: GPL-2.0-only
//
// Has a replica acknowledged a commit? The server does not say so. A KILL, or a shutdown, ends the wait, and
// the commit is a success: in SQL the client of a killed session gets no reply. With AFTER_SYNC one session
// waits for the commits of others, too, and takes them with it when it is killed.
#pragma once

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class SemiSyncWait {
 public:
  explicit SemiSyncWait(THD* thd) : thd_(thd) {}

  /// A table without transactions commits, and waits, at the end of each statement.
  void begin_transaction();
  /// Behind a commit that wrote to the binlog: true if semi-synchronous replication is off, or a replica has
  /// the commit. If another session's wait was cut, this waits for the replica, as long as the server would.
  [[nodiscard]] bool is_acknowledged() const;

 private:
  [[nodiscard]] bool wait() const;

  THD* thd_;
  bool was_on_ = false;
  time_t began_at_s_ = 0;
  ulong without_replica_ = 0;  ///< commits of all sessions that were not acknowledged, when it began
};

}  // namespace rowsocket::mariadb
