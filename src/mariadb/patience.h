// SPDX-License-Identifier: GPL-2.0-only
//
// How long a session waits in place. A stand-in takes its worker meanwhile; without stand-ins all clients of
// the worker wait with it. What this remembers lasts longer than a transaction.
//
//   tables ............. not at all, but for a request that goes on behind a commit: a second at a time
//   rows ............... a second; not at all for a while after a row was kept for that long, or where other
//                        sessions wait in the place of this one
//   new partitions ..... a second; none is tried for a while after one was not to be had soon
//
// A session that was told to be patient waits for a row as long as the server's settings say, less the time
// for which the request has been tried already. It waits for a table for a second at most: meanwhile it may
// hold other tables, which DDL waits for.
#pragma once

#include <chrono>
#include <cstdint>

#include "mariadb/row_waits.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class Patience {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  /// See engine::Session::set_patient.
  void set_patient(bool is_patient) {
    is_patient_ = is_patient;
    waited_ms_ = 0;
  }
  /// See engine::Session::note_waited.
  void note_waited(uint64_t waited_ms) { waited_ms_ = waited_ms; }

  /// How long opening and locking a table waits, in seconds. `goes_on`: the request holds nothing, and
  /// tries again.
  [[nodiscard]] ulong for_tables_s(bool goes_on) const;
  /// How long a request that changes rows waits for one. `must_finish`: it may do, or has done, what no
  /// rollback takes back. `others_wait`: see engine::SessionOptions::others_wait_for_rows.
  [[nodiscard]] RowPatience for_rows(bool must_finish, bool others_wait, Instant now) const;
  /// What is left of a time-out for a session that is patient, in whole seconds.
  [[nodiscard]] ulong left_s(ulong timeout_s) const;
  /// A request has waited for a row, and in vain. The next requests for the row poll for a while, instead of
  /// holding up all clients for a second each.
  void note_row_kept(RowPatience waited);

  /// Whether a new partition for history is tried at this time.
  [[nodiscard]] bool tries_new_history(Instant now) const { return now >= no_new_history_until_; }
  void note_new_history(Instant began, Instant ended);

  /// The cluster aborted a transaction: its requests run again, and wait for the tables of the DDL that
  /// mostly was the reason. They hold nothing, and the DDL holds up writes on the whole cluster.
  void note_cluster_abort() { replays_in_cluster_ = true; }
  /// The turn is over: nothing of it runs again.
  void forget_cluster_abort() { replays_in_cluster_ = false; }

 private:
  bool is_patient_ = false;
  uint64_t waited_ms_ = 0;
  Instant impatient_until_;  ///< for rows
  Instant no_new_history_until_;
  bool replays_in_cluster_ = false;
};

}  // namespace rowsocket::mariadb
