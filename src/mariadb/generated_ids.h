// SPDX-License-Identifier: GPL-2.0-only
//
// AUTO_INCREMENT values of a request that may have to wait for a lock, and to run again then. InnoDB
// and RocksDB take no value back that they gave. So a request that runs again takes the values that its
// earlier run was given, as a statement of SQL keeps its value while it waits.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class GeneratedIds {
 public:
  /// A request begins. `earlier` are the values of its earlier run, if it had one.
  void begin(std::vector<engine::GeneratedId> earlier);
  /// Makes the server give the next row of the table a value of the earlier run, and returns it; 0 if there
  /// is none.
  [[nodiscard]] ulonglong offer(THD* thd, const TABLE* table);
  /// The server gave a row this value. The row may not have been written.
  void note(const TABLE* table, ulonglong id, bool is_written);
  /// What was noted last is no good any more.
  void drop_last();
  /// What the request's next run begins with. May throw std::bad_alloc.
  [[nodiscard]] std::vector<engine::GeneratedId> all() const;

 private:
  std::vector<engine::GeneratedId> earlier_;
  size_t offered_ = 0;  ///< of earlier_, counted from its begin
  std::vector<engine::GeneratedId> given_;
};

/// What is offered is offered no more.
void end_offer(THD* thd);

}  // namespace rowsocket::mariadb
