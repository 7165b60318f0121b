// SPDX-License-Identifier: GPL-2.0-only
//
// One run of the generator: a single thread drives all connections over epoll, first to warm up, then measured, then until every
// request is answered (so that afterwards a write run's rows can be counted).
//
// Closed loop: a connection sends its next request when an earlier one is answered. Open loop: requests are due at a fixed rate,
// the longest free connection takes the next one, and latency counts from the time at which it was due.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/connection.h"
#include "bench/histogram.h"
#include "bench/operation_source.h"
#include "bench/options.h"
#include "bench/ring.h"
#include "bench/schedule.h"
#include "bench/server_process.h"

namespace rowsocket::bench {

struct Measurement {
  uint64_t requests = 0;  ///< answered in the measured time, as are the next two
  uint64_t keys = 0;
  uint64_t rows = 0;
  double seconds = 0;
  Histogram latency_ns;  ///< of the requests begun in the measured time
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  uint64_t backlog_max = 0;
  uint64_t generator_cpu_ns = 0;
  uint64_t server_cpu_ns = 0;  ///< 0 = not measured, as are the next two
  ProcessFacts server_before;
  ProcessFacts server_after;
  uint64_t requests_in_all = 0;  ///< answered, warm-up and the end included
  uint64_t writes_in_all = 0;
  uint32_t next_key = 0;
};

class Run {
 public:
  /// All three outlive the run.
  Run(const Options& options, const Workload& workload, Protocol& protocol);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Throws std::runtime_error at the first wrong answer or lost connection, and when nothing is answered for ten seconds.
  [[nodiscard]] Measurement execute();

 private:
  void connect_all();
  void begin_load();
  void measure();
  void drive_until(uint64_t deadline_ns);
  void drain();
  void turn();
  [[nodiscard]] uint64_t wait_ns() const;
  void serve(Connection& connection, uint32_t events);
  void check_replies(Connection& connection);
  void count(const Pending& answered, uint64_t received_ns);
  void take_up_work(Connection& connection);
  void dispatch_due();
  void queue(Connection& connection);
  void begin_request(Connection& connection, uint64_t begun_ns);
  void flush(Connection& connection);
  [[nodiscard]] bool all_begun() const { return options_.requests != 0 && begun_ >= options_.requests; }

  const Options& options_;
  const Workload& workload_;
  Protocol& protocol_;
  OperationSource operations_;
  Descriptor epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  bool open_loop_;
  Schedule schedule_;       ///< of the open loop
  Ring<Connection*> free_;  ///< in the open loop: those that can take a request, the longest free one first
  Measurement measured_;
  uint64_t begun_ = 0;
  uint64_t last_answer_ns_ = 0;
  uint64_t measured_from_ns_ = UINT64_MAX;
  uint64_t measured_to_ns_ = UINT64_MAX;
  bool measuring_ = false;
  bool draining_ = false;
};

}  // namespace rowsocket::bench
