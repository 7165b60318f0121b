// SPDX-License-Identifier: GPL-2.0-only
//
// How long a session waits in place, where all clients of its worker wait with it. What it remembers lasts
// longer than a transaction.
//
//   tables ............. not at all, but for a request that can not be run again
//   rows ............... a second; not at all for a while after a row was kept for that long
//   new partitions ..... a second; none is tried for a while after one was not to be had soon
//
// A session that was told to be patient waits for tables and rows as long as the server's settings say.
#pragma once

#include <chrono>

#include "mariadb/server_headers.h"
#include "mariadb/server_thread.h"

namespace rowsocket::mariadb {

class Patience {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  /// See engine::Session::set_patient.
  void set_patient(bool is_patient) { is_patient_ = is_patient; }

  /// How long opening and locking a table waits, in seconds. `must_finish`: the request has done what no
  /// rollback takes back, so it can not be run again.
  [[nodiscard]] ulong for_tables_s(bool must_finish) const;
  /// How long a request that changes rows waits for one. `must_finish`: it may do what no rollback takes
  /// back.
  [[nodiscard]] ServerThread::RowPatience for_rows(bool must_finish, Instant now) const;
  /// A request has waited for a row, and in vain. The next requests for the row poll for a while, instead of
  /// holding up all clients for a second each.
  void note_row_kept(ServerThread::RowPatience waited);

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
  Instant impatient_until_;  ///< for rows
  Instant no_new_history_until_;
  bool replays_in_cluster_ = false;
};

}  // namespace rowsocket::mariadb
