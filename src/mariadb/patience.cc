// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>

#include "base/limits.h"
#include "mariadb/patience.h"

namespace rowsocket::mariadb {
namespace {

constexpr ulong patient_for_table_s = limits::table_wait_ms / 1000;

}  // namespace

ulong Patience::for_tables_s(bool goes_on) const {
  const ulong timeout_s = global_system_variables.lock_wait_timeout;
  return goes_on               ? std::min<ulong>(timeout_s, patient_for_table_s)
         : is_patient_         ? std::min<ulong>(left_s(timeout_s), patient_for_table_s)
         : replays_in_cluster_ ? std::min<ulong>(timeout_s, limits::cluster_replay_patience_s)
                               : 0;
}

ulong Patience::left_s(ulong timeout_s) const {
  const uint64_t timeout_ms = uint64_t{timeout_s} * 1000;
  return static_cast<ulong>((timeout_ms - std::min(timeout_ms, waited_ms_)) / 1000);
}

RowPatience Patience::for_rows(bool must_finish, bool others_wait, Instant now) const {
  return must_finish                             ? RowPatience::full
         : is_patient_                           ? RowPatience::rest
         : others_wait || now < impatient_until_ ? RowPatience::none
                                                 : RowPatience::second;
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
