// SPDX-License-Identifier: GPL-2.0-only
//
// How many rows requests read and changed.
#pragma once

#include <cstdint>

namespace rowsocket::exec {

struct RowCounts {
  uint64_t read = 0;  ///< rows stood on, those that a filter or the offset skipped included
  uint64_t told = 0;  ///< rows whose columns stand in the reply
  uint64_t inserted = 0;
  uint64_t updated = 0;
  uint64_t deleted = 0;

  [[nodiscard]] uint64_t changed() const { return inserted + updated + deleted; }
  /// What is left of them where the request failed: what it told and changed was undone.
  [[nodiscard]] RowCounts undone() const { return {.read = read}; }
  /// Of a request that succeeded.
  void add_all(const RowCounts& other) {
    read += other.read;
    told += other.told;
    add_changes(other);
  }
  void add_changes(const RowCounts& other) {
    inserted += other.inserted;
    updated += other.updated;
    deleted += other.deleted;
  }
};

}  // namespace rowsocket::exec
