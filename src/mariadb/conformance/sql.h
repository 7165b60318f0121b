// SPDX-License-Identifier: GPL-2.0-only
//
// An SQL connection to the server that this plugin lives in (its SQL service), on a thread of its own:
// somebody else than the sessions under test. Statements are run in their order.
#pragma once

#include <deque>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace rowsocket::mariadb {

class SqlConnection {
 public:
  using Row = std::vector<std::optional<std::string>>;

  SqlConnection();
  ~SqlConnection();
  SqlConnection(const SqlConnection&) = delete;
  SqlConnection& operator=(const SqlConnection&) = delete;

  /// The rows of the last statement. Throws std::runtime_error.
  std::vector<Row> run(std::vector<std::string> statements) { return begin(std::move(statements)).get(); }
  /// The same, without waiting for the end.
  std::future<std::vector<Row>> begin(std::vector<std::string> statements);

 private:
  using Task = std::packaged_task<std::vector<Row>(void* connection)>;
  void live();

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Task> tasks_ ROWSOCKET_GUARDED_BY(mutex_);
  bool leaves_ ROWSOCKET_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace rowsocket::mariadb
