// SPDX-License-Identifier: GPL-2.0-only
#include "exec/table_statistics.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <set>

#include "base/limits.h"
#include "exec/table_ledger.h"

namespace rowsocket::exec {
namespace {

using Part = TableStatistics::Part;

constexpr uint64_t epoch_step(Part part) { return part == Part::figures ? uint64_t{1} << 32U : 1; }

template <typename Number>
void add_part(Part part, const TableRecordOf<Number>& from, TableRecord& to) {
  if (part == Part::figures) {
    to.figures.add_all(from.figures);
    return;
  }
  for (size_t work = 0; work < work_count; ++work) {
    if (from.latencies[work] == nullptr) {
      continue;
    }
    if (to.latencies[work] == nullptr) {
      to.latencies[work] = std::make_unique<Histogram>();
    }
    to.latencies[work]->add_all(*from.latencies[work]);
  }
}

bool is_empty(Part part, const TableRecord& record) {
  return part == Part::figures
             ? record.figures.request_count() == 0
             : std::all_of(record.latencies.begin(), record.latencies.end(),
                           [](const auto& one) { return one == nullptr || one->count() == 0; });
}

}  // namespace

std::string_view name_of(Work work) {
  constexpr std::array<std::string_view, work_count> names{"find", "insert", "update", "delete", "increment"};
  return names[static_cast<size_t>(work)];
}

bool TableStatistics::counts(Part part, uint64_t epochs, uint64_t epochs_now) {
  const uint64_t differences = epochs ^ epochs_now;
  return (part == Part::figures ? differences >> 32U : differences & UINT32_MAX) == 0;
}

std::vector<TableStatistics::Place> TableStatistics::places_behind(const std::optional<Place>& last) const {
  const auto is_before = [](const Place* one, const Place* other) { return *one < *other; };
  std::set<const Place*, decltype(is_before)> found;
  /// False where it, and so all behind it, stand behind those that were found.
  const auto consider = [&](const Place& place) {
    if (found.size() < limits::statistics_places_per_look) {
      found.insert(&place);
      return true;
    }
    if (!is_before(&place, *found.rbegin())) {
      return false;
    }
    if (found.insert(&place).second) {
      found.erase(std::prev(found.end()));
    }
    return true;
  };
  const auto consider_next_of = [&](const auto& by_place) {
    auto next = last.has_value() ? by_place.upper_bound(*last) : by_place.begin();
    while (next != by_place.end() && consider(next->first)) {
      ++next;
    }
  };
  const Place nowhere;
  const MutexLock lock(mutex_);  // places of ledgers do not go meanwhile, either
  if (!last.has_value()) {
    found.insert(&nowhere);
  }
  consider_next_of(by_place_);
  for (TableLedger* const ledger : ledgers_) {
    const MutexLock ledger_lock(ledger->mutex_);
    consider_next_of(ledger->by_place_);
  }
  std::vector<Place> places;
  places.reserve(found.size());
  for (const Place* const place : found) {
    places.push_back(*place);
  }
  return places;
}

TableStatistics::Records TableStatistics::read(Part part, std::span<const Place> places) const {
  Records records;
  for (const Place& place : places) {
    records.try_emplace(place);
  }
  {
    const MutexLock lock(mutex_);
    add_retired(part, records);
    for (TableLedger* const ledger : ledgers_) {
      const MutexLock ledger_lock(ledger->mutex_);
      if (!counts(part, ledger->epochs_, epochs())) {
        continue;
      }
      for (auto& [place, record] : records) {
        if (const auto known = ledger->by_place_.find(place); known != ledger->by_place_.end()) {
          add_part(part, ledger->entries_[known->second]->record, record);
        }
      }
    }
  }
  std::erase_if(records, [part](const auto& one) { return is_empty(part, one.second); });
  return records;
}

void TableStatistics::add_retired(Part part, Records& records) const {
  for (auto& [place, record] : records) {
    if (place == Place{}) {
      add_part(part, others_, record);
    }
    if (const auto known = by_place_.find(place); known != by_place_.end()) {
      add_part(part, known->second->second, record);
    }
  }
}

void TableStatistics::reset(Part part) {
  const MutexLock lock(mutex_);
  epochs_.store(epochs() + epoch_step(part), std::memory_order_release);
  const auto clear = [part](TableRecord& record) {
    if (part == Part::figures) {
      record.figures.clear();
    } else {
      record.latencies = {};
    }
  };
  clear(others_);
  for (auto& [place, record] : retired_) {
    clear(record);
  }
}

void TableStatistics::retire(const Place& place, const PublishedTableRecord& record, uint64_t record_epochs) {
  try {
    TableRecord& kept = retired(place);
    for (const Part part : {Part::figures, Part::latencies}) {
      if (counts(part, record_epochs, epochs())) {
        add_part(part, record, kept);
      }
    }
  } catch (const std::bad_alloc&) {
    return;
  }
}

TableRecord& TableStatistics::retired(const Place& place) {
  if (const auto known = by_place_.find(place); known != by_place_.end()) {
    retired_.splice(retired_.begin(), retired_, known->second);
    return known->second->second;
  }
  if (retired_.size() >= limits::statistics_places_max) {
    auto& [oldest, record] = retired_.back();
    for (const Part part : {Part::figures, Part::latencies}) {
      add_part(part, record, others_);
    }
    by_place_.erase(oldest);
    retired_.pop_back();
  }
  retired_.emplace_front(place, TableRecord{});
  try {
    by_place_.emplace(place, retired_.begin());
  } catch (...) {
    retired_.pop_front();
    throw;
  }
  return retired_.front().second;
}

}  // namespace rowsocket::exec
