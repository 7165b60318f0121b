// SPDX-License-Identifier: GPL-2.0-only
//
// How many rows requests read and changed.
#pragma once

#include <cstdint>

namespace rowsocket::exec {

struct RowCounts {
  uint64_t read = 0;  ///< rows stood on, those that a filter or the offset skipped included
  uint64_t told = 0;  ///< by finds and inserts that tell rows, once they are done
  uint64_t inserted = 0;
  uint64_t updated = 0;
  uint64_t deleted = 0;

  [[nodiscard]] uint64_t changed() const { return inserted + updated + deleted; }
  void add_changes(const RowCounts& other) {
    inserted += other.inserted;
    updated += other.updated;
    deleted += other.deleted;
  }
};

}  // namespace rowsocket::exec
