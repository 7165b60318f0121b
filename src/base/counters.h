// SPDX-License-Identifier: GPL-2.0-only
//
// What a worker counts. Each worker writes its own set and nobody else's, so the hot path shares no cache line; a reader (SHOW
// STATUS) sums over the workers. Relaxed atomics: a sum may be a moment old, never torn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace rowsocket {

enum class Counter : uint8_t {
  connections_accepted,
  connections_closed,
  connections_refused,  ///< over rowsocket_max_connections, or out of memory
  connections_timed_out,
  requests_open_index,
  requests_find,
  requests_in_list,  ///< of the finds, those with an IN list
  requests_insert,
  requests_update,
  requests_delete,
  requests_increment,  ///< increments and decrements
  requests_group,      ///< their members are counted as well
  requests_authenticate,
  requests_unknown,
  requests_lenient,  ///< served though a strict server would refuse them
  rows_read,
  rows_inserted,
  rows_updated,
  rows_deleted,
  errors_request,  ///< malformed, or asking for what does not exist
  errors_authentication,
  errors_table,     ///< cannot be opened or locked
  errors_engine,    ///< refused by the storage engine or by a conversion
  errors_internal,  ///< commit failed, out of memory, shutting down
  bytes_received,
  bytes_sent,
  turns,
  turn_requests,  ///< requests executed; divided by turns: requests per turn
  commits,
  commit_failures,
  replays,  ///< transactions executed again request by request
  parked,   ///< requests that had to wait for a lock
  table_opens,
  metadata_lock_releases,
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
  [[nodiscard]] uint64_t read(Counter counter) const {
    return slots_[static_cast<size_t>(counter)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Counter::count_)> slots_{};
};

}  // namespace rowsocket
