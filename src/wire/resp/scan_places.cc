// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/scan_places.h"

#include <algorithm>
#include <new>
#include <utility>

namespace rowsocket::wire::resp {

ScanPlaces& ScanPlaces::all() {
  static ScanPlaces places;
  return places;
}

uint64_t ScanPlaces::remember(std::string_view rows, std::span<const Value> key, uint64_t unix_time_us) {
  size_t bytes = rows.size();
  for (const Value& part : key) {
    bytes += part.size;
  }
  if (bytes > limits::scan_place_bytes_max) {
    return 0;
  }
  try {
    Place place{.rows = std::string(rows), .key = {}};
    place.key.reserve(key.size());
    for (const Value& part : key) {
      place.key.push_back(part.is_null() ? std::nullopt : std::optional<std::string>(part.view()));
    }
    const MutexLock lock(mutex_);
    last_cursor_ = std::max(last_cursor_, unix_time_us) + 1;
    place.cursor = last_cursor_;
    std::swap(places_[last_cursor_ % places_.size()], place);
    return last_cursor_;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void ScanPlaces::clear() {
  const MutexLock lock(mutex_);
  places_.fill({});
  last_cursor_ = 0;
}

ScanPlaces::Place ScanPlaces::find(uint64_t cursor) const {
  const MutexLock lock(mutex_);
  const Place& place = places_[cursor % places_.size()];
  return place.cursor == cursor ? place : Place{};
}

}  // namespace rowsocket::wire::resp
