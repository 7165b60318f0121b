// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>

#include "base/limits.h"
#include "mariadb/patience.h"

namespace rowsocket::mariadb {

using RowPatience = ServerThread::RowPatience;

ulong Patience::for_tables_s(bool must_finish) const {
  const ulong timeout_s = global_system_variables.lock_wait_timeout;
  return is_patient_ || must_finish ? timeout_s
         : replays_in_cluster_      ? std::min<ulong>(timeout_s, limits::cluster_replay_patience_s)
                                    : 0;
}

RowPatience Patience::for_rows(bool must_finish, Instant now) const {
  return is_patient_ || must_finish ? RowPatience::full
         : now >= impatient_until_  ? RowPatience::second
                                    : RowPatience::none;
}

void Patience::note_row_kept(RowPatience waited) {
  if (waited == RowPatience::second) {
    impatient_until_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(limits::impatience_ms);
  }
}

void Patience::note_new_history(Instant began, Instant ended) {
  if (ended - began >= std::chrono::milliseconds(limits::new_history_long_ms)) {
    no_new_history_until_ = ended + std::chrono::milliseconds(limits::new_history_pause_ms);
  }
}

}  // namespace rowsocket::mariadb
