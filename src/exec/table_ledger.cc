// SPDX-License-Identifier: GPL-2.0-only
#include "exec/table_ledger.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace rowsocket::exec {

TableLedger::TableLedger(TableStatistics& all, engine::Session& session)
    : all_(all), session_(session), epochs_(all.epochs()) {
  const MutexLock lock(all_.mutex_);
  all_.ledgers_.push_back(this);
}

TableLedger::~TableLedger() {
  const MutexLock lock(all_.mutex_);
  std::erase(all_.ledgers_, this);
  const MutexLock own_lock(mutex_);
  for (const auto& entry : entries_) {
    all_.retire(entry->place, entry->record, epochs_);
  }
}

/// Where the host does not know the selection's place yet, its names are the client's, and are asked for
/// again.
TableLedger::Entry* TableLedger::find_entry(const engine::Selection& selection) {
  try {
    engine::TablePlace place;
    const bool is_known = session_.find_place(selection, place);
    Entry& entry = entry_at(place);
    if (is_known) {
      remember(selection, entry);
    }
    return &entry;
  } catch (...) {
    return nullptr;
  }
}

TableLedger::Entry& TableLedger::entry_at(const engine::TablePlace& place) {
  if (const std::optional<size_t> known = number_of(place); known.has_value()) {
    return entry(*known);
  }
  auto added = std::make_unique<Entry>();
  added->place = place;
  const size_t number = entry_count() < limits::ledger_places_max ? entry_count() : one_to_fall_out();
  if (number < entry_count()) {
    replace(number, std::move(added));
    return entry(number);
  }
  const MutexLock lock(mutex_);
  entries_.push_back(std::move(added));
  try {
    by_place_.emplace(place, number);
  } catch (...) {
    entries_.pop_back();
    throw;
  }
  return *entries_.back();
}

void TableLedger::replace(size_t number, std::unique_ptr<Entry> added) {
  const Entry& old = entry(number);
  for (SlotEntry& known : slots_) {
    if (known.entry == &old) {
      known = {};
    }
  }
  const MutexLock all_lock(all_.mutex_);
  const MutexLock lock(mutex_);
  by_place_.emplace(added->place, number);
  by_place_.erase(old.place);
  all_.retire(old.place, old.record, epochs_);
  entries_[number] = std::move(added);
}

/// One that has not been used since the last look at it, if there is one.
size_t TableLedger::one_to_fall_out() {
  for (size_t looks = 0; looks <= entry_count(); ++looks) {
    looked_at_last_ = (looked_at_last_ + 1) % entry_count();
    Entry& looked_at = entry(looked_at_last_);
    const uint64_t requests = looked_at.record.figures.request_count();
    if (std::exchange(looked_at.requests_seen, requests) == requests) {
      break;
    }
  }
  return looked_at_last_;
}

void TableLedger::remember(const engine::Selection& selection, Entry& entry) {
  if (selection.slot() >= slots_.size()) {
    slots_.resize(selection.slot() + 1);
  }
  slots_[selection.slot()] = {selection.serial(), &entry};
}

PublishedHistogram* TableLedger::make_latencies(std::unique_ptr<PublishedHistogram>& place) {
  try {
    auto latencies = std::make_unique<PublishedHistogram>();
    const MutexLock lock(mutex_);
    place = std::move(latencies);
  } catch (...) {
    return nullptr;
  }
  return place.get();
}

/// What was reset since it is counted anew.
void TableLedger::begin_epochs() {
  const MutexLock lock(mutex_);
  const uint64_t before = std::exchange(epochs_, all_.epochs());
  const bool keeps_figures = TableStatistics::counts(TableStatistics::Part::figures, before, epochs_);
  const bool keeps_latencies = TableStatistics::counts(TableStatistics::Part::latencies, before, epochs_);
  for (const auto& entry : entries_) {
    if (!keeps_figures) {
      entry->record.figures.clear();
      entry->requests_seen = 0;
    }
    if (!keeps_latencies) {
      for (const auto& latencies : entry->record.latencies) {
        if (latencies != nullptr) {
          latencies->clear();
        }
      }
    }
  }
}

void TableLedger::look_at_rate() {
  adds_to_next_look_ = limits::requests_per_look_at_ticks;
  ns_per_mebitick_ = all_.rate_.ns_per_mebitick();
}

}  // namespace rowsocket::exec
