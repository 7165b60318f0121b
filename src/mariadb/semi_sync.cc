// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstring>
#include <ctime>

#include "mariadb/semi_sync.h"
#include "mariadb/server_differences.h"
#include "semisync_master.h"

namespace rowsocket::mariadb {
namespace {

constexpr ulong pause_us = 1000;

// What the server knows of its replicas is private. C++ lets an explicit instantiation name private members.

template <typename Tag, typename Tag::Member member>
struct Reveal {
  friend constexpr typename Tag::Member reveal(Tag) { return member; }
};

#define ROWSOCKET_REVEAL(name, type)              \
  struct name {                                   \
    using Member = type Repl_semi_sync_master::*; \
    friend constexpr Member reveal(name);         \
  };                                              \
  template struct Reveal<name, &Repl_semi_sync_master::name>

using FileName = char[FN_REFLEN];
ROWSOCKET_REVEAL(LOCK_binlog, mysql_mutex_t);
ROWSOCKET_REVEAL(m_state, bool);
ROWSOCKET_REVEAL(m_reply_file_name_inited, bool);
ROWSOCKET_REVEAL(m_reply_file_name, FileName);
ROWSOCKET_REVEAL(m_reply_file_pos, my_off_t);
ROWSOCKET_REVEAL(m_commit_file_name_inited, bool);
ROWSOCKET_REVEAL(m_commit_file_name, FileName);
ROWSOCKET_REVEAL(m_commit_file_pos, my_off_t);
#undef ROWSOCKET_REVEAL

template <typename Tag>
auto& of_server(Tag tag) {
  return repl_semisync_master.*reveal(tag);
}

class Locked {
 public:
  Locked() { mysql_mutex_lock(&of_server(LOCK_binlog{})); }
  ~Locked() { mysql_mutex_unlock(&of_server(LOCK_binlog{})); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

ulong without_replica() { return __atomic_load_n(&rpl_semi_sync_master_no_transactions, __ATOMIC_RELAXED); }

bool is_on() {
  if (!repl_semisync_master.get_master_enabled()) [[likely]] {
    return false;
  }
  const Locked locked;
  return of_server(m_state{});
}

}  // namespace

void SemiSyncWait::begin_transaction() {
  was_on_ = is_on();
  if (was_on_) [[unlikely]] {
    began_at_s_ = std::time(nullptr);
    without_replica_ = without_replica();
  }
}

bool SemiSyncWait::is_acknowledged() const {
  if (!is_on()) [[likely]] {
    return true;
  }
  // FLUSH STATUS begins to count anew, and could hide a wait that was cut.
  const bool counts = was_on_ && time_of_flush_status_s() < began_at_s_;
  return (counts && without_replica() == without_replica_) || wait();
}

/// For all that is committed by now, this commit with it.
bool SemiSyncWait::wait() const {
  FileName file;
  my_off_t position = 0;
  {
    const Locked locked;
    if (!of_server(m_commit_file_name_inited{})) {
      return true;  // it was off when this was written to the binlog
    }
    std::memcpy(file, of_server(m_commit_file_name{}), sizeof file);
    position = of_server(m_commit_file_pos{});
  }
  const ulonglong until_us = microsecond_interval_timer() + 1000ULL * rpl_semi_sync_master_timeout;
  THD_STAGE_INFO(thd_, stage_waiting_for_semi_sync_ack_from_slave);
  while (is_on() && (rpl_semi_sync_master_clients > 0 || rpl_semi_sync_master_wait_no_slave != 0)) {
    {
      const Locked locked;
      if (of_server(m_reply_file_name_inited{}) &&
          Active_tranx::compare(of_server(m_reply_file_name{}), of_server(m_reply_file_pos{}), file,
                                position) >= 0) {
        return true;
      }
    }
    if (thd_->killed != NOT_KILLED || microsecond_interval_timer() > until_us) {
      return false;
    }
    my_sleep(pause_us);
  }
  return true;
}

}  // namespace rowsocket::mariadb
