// SPDX-License-Identifier: GPL-2.0-only
//
// What the requests of one thread did, by table and index; see table_statistics.h. Its thread adds, and takes
// its lock only where an index is new to it, or after a reset. Others read under the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "engine/engine.h"
#include "exec/table_figures.h"
#include "exec/table_statistics.h"

namespace rowsocket::exec {

class TableLedger {
 public:
  /// Both outlive it. May throw std::bad_alloc.
  TableLedger(TableStatistics& all, engine::Session& session);
  ~TableLedger();  ///< what it holds is kept with the sums
  TableLedger(const TableLedger&) = delete;
  TableLedger& operator=(const TableLedger&) = delete;

  // For its thread.

  /// A request for this selection was answered. Where memory is refused, it is not counted.
  void add(const engine::Selection& selection, const Done& done, const TimeTaken& time = {}) {
    if (all_.epochs() != epochs_) [[unlikely]] {
      begin_epochs();
    }
    Entry* const entry = entry_of(selection);
    if (entry != nullptr) [[likely]] {
      entry->record.figures.add(done);
      if (time.is_known) {
        add_time(*entry, done.work, time);
      }
    }
  }

 private:
  friend class TableStatistics;

  struct Entry {
    engine::TablePlace place;
    PublishedTableRecord record;
    uint64_t requests_seen = 0;  ///< when it was last looked for one to fall out
  };
  /// Of a selection, by its slot.
  struct SlotEntry {
    uint64_t serial = 0;
    Entry* entry = nullptr;
  };

  [[nodiscard]] Entry* entry_of(const engine::Selection& selection) {
    if (selection.slot() < slots_.size()) [[likely]] {
      const SlotEntry& known = slots_[selection.slot()];
      if (known.serial == selection.serial() && known.entry != nullptr) [[likely]] {
        return known.entry;
      }
    }
    return find_entry(selection);
  }
  void add_time(Entry& entry, Work work, const TimeTaken& time) {
    if (adds_to_next_look_-- == 0) [[unlikely]] {
      look_at_rate();
    }
    const uint64_t ns = time.waited_ns + TickRate::to_ns(time.ticks, ns_per_mebitick_);
    entry.record.figures.total_ns += ns;
    if (PublishedHistogram* const latencies = latencies_of(entry, work)) [[likely]] {
      latencies->add(ns);
    }
  }
  [[nodiscard]] PublishedHistogram* latencies_of(Entry& entry, Work work) {
    auto& latencies = entry.record.latencies[static_cast<size_t>(work)];
    return latencies != nullptr ? latencies.get() : make_latencies(latencies);
  }

  [[nodiscard]] Entry* find_entry(const engine::Selection& selection);
  [[nodiscard]] Entry& entry_at(const engine::TablePlace& place);
  [[nodiscard]] size_t one_to_fall_out();
  void replace(size_t number, std::unique_ptr<Entry> added);
  // Without the lock: only this thread changes the list.
  [[nodiscard]] size_t entry_count() const {
    mutex_.assume_held();
    return entries_.size();
  }
  [[nodiscard]] Entry& entry(size_t number) const {
    mutex_.assume_held();
    return *entries_[number];
  }
  [[nodiscard]] std::optional<size_t> number_of(const engine::TablePlace& place) const {
    mutex_.assume_held();
    const auto known = by_place_.find(place);
    return known == by_place_.end() ? std::nullopt : std::optional(known->second);
  }
  void remember(const engine::Selection& selection, Entry& entry);
  [[nodiscard]] PublishedHistogram* make_latencies(std::unique_ptr<PublishedHistogram>& place);
  void begin_epochs();
  void look_at_rate();

  TableStatistics& all_;
  engine::Session& session_;
  Mutex mutex_;  ///< of its thread and readers; the thread reads without it what it alone writes
  std::vector<std::unique_ptr<Entry>> entries_ ROWSOCKET_GUARDED_BY(mutex_);
  std::map<engine::TablePlace, size_t> by_place_ ROWSOCKET_GUARDED_BY(mutex_);  ///< numbers of entries
  uint64_t epochs_;  ///< of what it holds; written under the mutex

  // The thread's own.
  std::vector<SlotEntry> slots_;
  size_t looked_at_last_ = 0;  ///< when one had to fall out
  uint32_t adds_to_next_look_ = 0;
  uint64_t ns_per_mebitick_ = 0;
};

}  // namespace rowsocket::exec
