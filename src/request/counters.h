// SPDX-License-Identifier: GPL-2.0-only
//
// What a worker counts. Each worker writes only its own set, so the hot path shares no cache line. A reader
// (SHOW STATUS) sums over the workers. The atomics are relaxed: a sum may be a moment old, but never torn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "request/error.h"

/// The table of counters: name, what it counts. `Rowsocket_<name>` in SHOW STATUS.
#define ROWSOCKET_COUNTERS                                                                                  \
  ROWSOCKET_COUNTER(connections_accepted, "connections that came")                                          \
  ROWSOCKET_COUNTER(connections_closed, "connections that went")                                            \
  ROWSOCKET_COUNTER(connections_refused, "connections over rowsocket_max_connections, or out of memory")    \
  ROWSOCKET_COUNTER(account_connections_refused, "connections over rowsocket_max_account_connections")      \
  ROWSOCKET_COUNTER(account_connections_closed, "connections closed for rowsocket_max_account_bytes")       \
  ROWSOCKET_COUNTER(connections_timed_out, "connections closed for rowsocket_idle_timeout")                 \
  ROWSOCKET_COUNTER(connections_killed, "connections closed by rowsocket_kill")                             \
  ROWSOCKET_COUNTER(requests_open_index, "opened selections")                                               \
  ROWSOCKET_COUNTER(requests_find, "finds")                                                                 \
  ROWSOCKET_COUNTER(requests_in_list, "of the finds and modifications, those with a list of keys")          \
  ROWSOCKET_COUNTER(requests_insert, "inserts")                                                             \
  ROWSOCKET_COUNTER(requests_update, "updates")                                                             \
  ROWSOCKET_COUNTER(requests_delete, "deletes")                                                             \
  ROWSOCKET_COUNTER(requests_increment, "changes that only count up or down")                               \
  ROWSOCKET_COUNTER(requests_group, "groups; their members are counted as well")                            \
  ROWSOCKET_COUNTER(requests_authenticate, "authentications")                                               \
  ROWSOCKET_COUNTER(requests_unknown, "requests that are none")                                             \
  ROWSOCKET_COUNTER(requests_lenient, "requests that a strict server would refuse")                         \
  ROWSOCKET_COUNTER(rows_read, "rows that finds stood on, skipped ones and each further try included")      \
  ROWSOCKET_COUNTER(rows_inserted, "rows inserted and committed")                                           \
  ROWSOCKET_COUNTER(rows_updated, "rows updated and committed")                                             \
  ROWSOCKET_COUNTER(rows_deleted, "rows deleted and committed")                                             \
  ROWSOCKET_COUNTER(errors_request, "error replies: malformed, or asking for what does not exist")          \
  ROWSOCKET_COUNTER(errors_authentication, "error replies: not authenticated")                              \
  ROWSOCKET_COUNTER(logins, "logins with an account")                                                       \
  ROWSOCKET_COUNTER(logins_refused, "logins that were refused by the server")                               \
  ROWSOCKET_COUNTER(tls_handshakes, "TLS handshakes that were done")                                        \
  ROWSOCKET_COUNTER(tls_handshakes_failed, "TLS handshakes that failed, or took too long")                  \
  ROWSOCKET_COUNTER(logins_untried, "logins that were refused unread: too many guesses, or no TLS")         \
  ROWSOCKET_COUNTER(errors_table, "error replies: a table cannot be opened or locked")                      \
  ROWSOCKET_COUNTER(errors_engine, "error replies: refused by the storage engine or by a conversion")       \
  ROWSOCKET_COUNTER(errors_internal, "error replies: commit failed, out of memory, shutting down")          \
  ROWSOCKET_COUNTER(bytes_received, "bytes received")                                                       \
  ROWSOCKET_COUNTER(bytes_sent, "bytes sent")                                                               \
  ROWSOCKET_COUNTER(turns, "turns that executed something")                                                 \
  ROWSOCKET_COUNTER(turn_requests, "requests executed; divided by turns: requests per turn")                \
  ROWSOCKET_COUNTER(commits, "transactions committed in which rows were inserted, updated or deleted")      \
  ROWSOCKET_COUNTER(commit_failures, "transactions whose commit failed")                                    \
  ROWSOCKET_COUNTER(replays, "transactions executed again request by request")                              \
  ROWSOCKET_COUNTER(parked, "requests that had to wait for a lock")                                         \
  ROWSOCKET_COUNTER(waited_alone, "of those, requests that waited on a thread of their own")                \
  ROWSOCKET_COUNTER(requests_held_back, "times that a request waited for rowsocket_max_account_requests")   \
  ROWSOCKET_COUNTER(requests_put_off, "requests of new clients that had to wait since such ones take long") \
  ROWSOCKET_COUNTER(commits_before_long, "commits before writes that were expected to take long")           \
  ROWSOCKET_COUNTER(requests_stopped, "requests that ended early: their client had gone")                   \
  ROWSOCKET_COUNTER(hand_overs, "times that a stand-in took over from a thread that was stuck")             \
  ROWSOCKET_COUNTER(connections_moved,                                                                      \
                    "times that a connection moved to another worker, since others waited for the disk, "   \
                    "or did not any more")                                                                  \
  ROWSOCKET_COUNTER(stand_ins_missed, "times that a thread was stuck and no other could be made")           \
  ROWSOCKET_COUNTER(table_opens, "tables opened")                                                           \
  ROWSOCKET_COUNTER(metadata_lock_releases, "tables given back")

namespace rowsocket {

enum class Counter : uint8_t {
#define ROWSOCKET_COUNTER(name, what) name,
  ROWSOCKET_COUNTERS
#undef ROWSOCKET_COUNTER
      count_
};

/// Lower-case name of a counter, as it stands after `Rowsocket_` in SHOW STATUS.
[[nodiscard]] std::string_view counter_name(Counter counter);

/// Which `errors_*` counter an error adds to.
[[nodiscard]] Counter counter_of(ErrorCode code);

class alignas(64) Counters {
 public:
  /// Only the owning thread calls this.
  void add(Counter counter, uint64_t amount = 1) {
    auto& slot = slots_[static_cast<size_t>(counter)];
    slot.store(slot.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  /// All of another set, which no thread writes any more.
  void add_all(const Counters& other) {
    for (size_t number = 0; number < slots_.size(); ++number) {
      add(static_cast<Counter>(number), other.read(static_cast<Counter>(number)));
    }
  }
  [[nodiscard]] uint64_t read(Counter counter) const {
    return slots_[static_cast<size_t>(counter)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Counter::count_)> slots_{};
};

}  // namespace rowsocket
