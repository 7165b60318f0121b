// SPDX-License-Identifier: GPL-2.0-only
//
// Where scans stand. A cursor of SCAN is a number, and the place of a scan is a key: the keys of the last
// scans of all clients are remembered here under their numbers. A pool of connections may send the steps of
// one scan over several of them, so connections share the places. A number can be used more than once. The
// oldest place goes when there is no more room, and its scan has to begin again.
//
// Locking: one mutex for all places, held for as long as a key is copied. Scans are rare.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/mutex.h"
#include "request/value.h"

namespace rowsocket::wire::resp {

class ScanPlaces {
 public:
  /// What is remembered of a step: which rows are scanned, as text, and the values of the last row's key.
  struct Place {
    std::string rows = {};
    std::vector<std::optional<std::string>> key = {};  ///< nothing is NULL
    uint64_t key_shape = 0;                            ///< of the index: see Reply
  };

  /// The numbers of a connection's places, of which the oldest one is given up for a new one. (A client that
  /// begins scans and ends none does not end those of others.)
  class Own {
   public:
    /// The number that `cursor` takes the place of; 0 = none.
    uint64_t replace_oldest(uint64_t cursor) {
      next_ = (next_ + 1) % cursors_.size();
      return std::exchange(cursors_[next_], cursor);
    }

   private:
    std::array<uint64_t, limits::scan_places_per_connection> cursors_{};
    size_t next_ = 0;
  };

  /// The places of this process.
  [[nodiscard]] static ScanPlaces& all();

  /// The number of a new place; 0 where memory is refused, or the key is too long. `unix_time_us` is where
  /// numbers begin: none of them was given before the server was started.
  [[nodiscard]] uint64_t remember(std::string_view rows, std::span<const Value> key, uint64_t key_shape,
                                  uint64_t unix_time_us, Own& own);
  /// A copy of the place. Nothing where it is not known, or was forgotten. May throw std::bad_alloc.
  [[nodiscard]] std::optional<Place> find(uint64_t cursor) const;

  /// Forget all places, and the numbers that were given: for tests.
  void clear();

 private:
  mutable Mutex mutex_;
  uint64_t last_cursor_ ROWSOCKET_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Place> places_ ROWSOCKET_GUARDED_BY(mutex_);  ///< the oldest first
};

}  // namespace rowsocket::wire::resp
