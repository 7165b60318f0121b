// SPDX-License-Identifier: GPL-2.0-only
//
// The server's performance schema sees our threads as threads of its own, and so what they do in tables, wait
// for, and take of the server's memory. Of the memory that we take ourselves it is told (base/memory.h).
//
// A client is a thread to it, too, as it is where the server's own pool of threads serves SQL: of that kind
// is everything that the performance schema knows by account, user and host. A worker measures for the client
// whose request it runs.
#pragma once

#include <string>

struct PSI_thread;
struct PSI_transaction_locker;

namespace rowsocket::mariadb {

/// Once, when the plugin is loaded, before the first thread.
void register_with_performance_schema();

/// The calling thread is a worker, until `leave_thread`.
void instrument_thread(unsigned long long connection_id);
void leave_thread();

/// For whom the calling thread measures. nullptr: the performance schema is off, or has no room.
[[nodiscard]] PSI_thread* measured_thread();
/// The calling thread is to measure for this one.
void measure_for(PSI_thread* thread);
/// The transaction is measured no further: its commit may come after the end of the client for which it was.
void end_measured_transaction(PSI_transaction_locker* transaction);

/// A client in the performance schema, while it lives. No thread measures for it when it ends.
class MeasuredClient {
 public:
  /// `connection_id` is its number in the server's logs.
  MeasuredClient(unsigned long long connection_id, const std::string& user, const std::string& host);
  ~MeasuredClient();
  MeasuredClient(const MeasuredClient&) = delete;
  MeasuredClient& operator=(const MeasuredClient&) = delete;

  /// nullptr: as of `measured_thread`.
  [[nodiscard]] PSI_thread* thread() const { return thread_; }

 private:
  PSI_thread* thread_;
};

}  // namespace rowsocket::mariadb
