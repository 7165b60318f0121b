// SPDX-License-Identifier: GPL-2.0-only
//
// What requests did, by table and index, over all threads:
//
//   TableLedger ───── of one thread, which alone writes it; no lock is taken per request
//       │ an index falls out, or the thread ends
//       ▼
//   TableStatistics ─ the sums of what fell out. A reader adds what the ledgers hold
//
// All of it is bounded. A ledger holds the indexes that its thread has used lately; the sums hold those that
// fell out lately, and all others together (without names).
//
// A reset costs the threads nothing but a look at `epochs`: a ledger of an earlier epoch counts for nothing,
// and is emptied by its thread with the next request.
//
// Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/ticks.h"
#include "engine/engine.h"
#include "exec/table_figures.h"

namespace rowsocket::exec {

class TableLedger;

class TableStatistics {
 public:
  /// What is read and reset apart.
  enum class Part : uint8_t { figures, latencies };
  using Place = engine::TablePlace;
  using Records = std::map<Place, TableRecord>;

  TableStatistics() = default;
  TableStatistics(const TableStatistics&) = delete;
  TableStatistics& operator=(const TableStatistics&) = delete;

  // Reading takes little memory, and little time under the lock, however many indexes there are: a reader
  // asks for some names, and for the records of some of these, and so on. So records are of different
  // moments. Both may throw std::bad_alloc.

  /// The next places behind `last`, in their order; the first ones where there is none. A place without names
  /// is the first: it stands for all places whose names are forgotten.
  [[nodiscard]] std::vector<Place> places_behind(const std::optional<Place>& last) const;
  /// The one part of what was counted since it was last reset, of those of the places that have something.
  [[nodiscard]] Records read(Part part, std::span<const Place> places) const;
  /// What begins to be answered from now on is counted from 0.
  void reset(Part part);

 private:
  friend class TableLedger;
  using Retired = std::list<std::pair<Place, TableRecord>>;

  [[nodiscard]] uint64_t epochs() const { return epochs_.load(std::memory_order_acquire); }
  /// Whether what was counted in these epochs still counts.
  [[nodiscard]] static bool counts(Part part, uint64_t epochs, uint64_t epochs_now);
  /// Where memory is refused, what is retired is not counted any more.
  void retire(const Place& place, const PublishedTableRecord& record, uint64_t record_epochs)
      ROWSOCKET_REQUIRES(mutex_);
  void add_retired(Part part, Records& records) const ROWSOCKET_REQUIRES(mutex_);
  [[nodiscard]] TableRecord& retired(const Place& place) ROWSOCKET_REQUIRES(mutex_);

  TickRate rate_;
  mutable Mutex mutex_;  ///< held before that of a ledger
  std::vector<TableLedger*> ledgers_ ROWSOCKET_GUARDED_BY(mutex_);
  Retired retired_ ROWSOCKET_GUARDED_BY(mutex_);  ///< what something was added to last comes first
  std::map<Place, Retired::iterator> by_place_ ROWSOCKET_GUARDED_BY(mutex_);
  TableRecord others_ ROWSOCKET_GUARDED_BY(mutex_);
  std::atomic<uint64_t> epochs_{0};  ///< of the figures in the upper half; written under the mutex
};

}  // namespace rowsocket::exec
