// SPDX-License-Identifier: GPL-2.0-only
//
// Did a commit go on without the replica that it had to wait for? The server says nothing of it: a KILL, or a
// shutdown, ends the wait, and the commit is a success. In SQL the client of a killed session gets no reply.
#pragma once

#include "mariadb/server_headers.h"
// The server's headers come first.
#include "semisync_master.h"

namespace rowsocket::mariadb {

class SemiSyncWait {
 public:
  explicit SemiSyncWait(THD* thd) : thd_(thd) {}

  /// A table without transactions commits, and waits, at the end of each statement.
  void begin_transaction() {
    is_on_ = repl_semisync_master.get_master_enabled();
    if (is_on_) [[unlikely]] {
      repl_semisync_master.set_export_stats();  // the only way to ask
      is_on_ = rpl_semi_sync_master_status != 0;
      before_ = figures();
    }
  }
  /// Behind a commit that wrote to the binlog. With AFTER_SYNC the wait may have been another session's,
  /// which commits a group and waits for all of it; so any commit that went on without its replica meanwhile
  /// may have been this one. One that waited for too long has switched semi-synchronous replication off, and
  /// none has to wait where the last replica may go.
  [[nodiscard]] bool was_cut() const {
    if (!is_on_) [[likely]] {
      return false;
    }
    const Figures now = figures();
    if (now.without_replica == before_.without_replica) {
      return false;
    }
    const bool may_go_on = now.switched_off != before_.switched_off ||
                           !repl_semisync_master.get_master_enabled() ||
                           (rpl_semi_sync_master_clients == 0 && rpl_semi_sync_master_wait_no_slave == 0);
    const bool others_wait_for_it =
        rpl_semi_sync_master_wait_point == SEMI_SYNC_MASTER_WAIT_POINT_AFTER_BINLOG_SYNC;
    return thd_->killed != NOT_KILLED || (others_wait_for_it && !may_go_on);
  }

 private:
  struct Figures {
    ulong without_replica = 0;  ///< commits of all sessions, as the others
    ulong switched_off = 0;     ///< times
  };
  static Figures figures() {
    return {__atomic_load_n(&rpl_semi_sync_master_no_transactions, __ATOMIC_RELAXED),
            __atomic_load_n(&rpl_semi_sync_master_off_times, __ATOMIC_RELAXED)};
  }

  THD* thd_;
  bool is_on_ = false;
  Figures before_;
};

}  // namespace rowsocket::mariadb
