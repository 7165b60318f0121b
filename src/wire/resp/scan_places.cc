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

uint64_t ScanPlaces::remember(std::string_view rows, std::span<const Value> key, uint64_t key_shape,
                              uint64_t unix_time_us, Own& own) {
  size_t bytes = rows.size();
  for (const Value& part : key) {
    bytes += part.size;
  }
  if (bytes > limits::scan_place_bytes_max) {
    return 0;
  }
  try {
    Place place{.rows = std::string(rows), .key = {}, .key_shape = key_shape};
    place.key.reserve(key.size());
    for (const Value& part : key) {
      place.key.push_back(part.is_null() ? std::nullopt : std::optional<std::string>(part.view()));
    }
    const MutexLock lock(mutex_);
    last_cursor_ = std::max(last_cursor_, unix_time_us) + 1;
    places_.emplace_hint(places_.end(), last_cursor_, std::move(place));
    places_.erase(own.replace_oldest(last_cursor_));
    if (places_.size() > limits::scan_places_max) {
      places_.erase(places_.begin());
    }
    return last_cursor_;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void ScanPlaces::clear() {
  const MutexLock lock(mutex_);
  places_.clear();
  last_cursor_ = 0;
}

std::optional<ScanPlaces::Place> ScanPlaces::find(uint64_t cursor) const {
  const MutexLock lock(mutex_);
  const auto place = places_.find(cursor);
  return place != places_.end() ? std::optional(place->second) : std::nullopt;
}

}  // namespace rowsocket::wire::resp
