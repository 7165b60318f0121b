// SPDX-License-Identifier: GPL-2.0-only
//
// One run of the generator: a single thread drives all connections over epoll, first to warm up, then measured, then until every
// request is answered (so that afterwards a write run's rows can be counted).
//
// The loop is closed: a connection sends its next request when an earlier one is answered. `refill` alone decides that; an open
// loop would be another `refill`, and would count latency from the time at which a request was due.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/connection.h"
#include "bench/histogram.h"
#include "bench/keys.h"
#include "bench/options.h"

namespace rowsocket::bench {

struct Measurement {
  uint64_t requests = 0;  ///< answered in the measured time
  uint64_t keys = 0;
  double seconds = 0;
  Histogram latency_ns;
  uint64_t server_cpu_ns = 0;  ///< 0 = not measured
  uint64_t generator_cpu_ns = 0;
  uint64_t requests_in_all = 0;  ///< answered, warm-up and the end included
};

class Run {
 public:
  /// `options` and `protocol` outlive the run.
  Run(const Options& options, const Protocol& protocol);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Throws std::runtime_error at the first wrong answer or lost connection, and when nothing is answered for ten seconds.
  [[nodiscard]] Measurement execute();

 private:
  void connect_all();
  void drive_until(uint64_t deadline_ns);
  void drain();
  void turn();
  void serve(Connection& connection, uint32_t events);
  void check_replies(Connection& connection);
  void refill(Connection& connection);
  void next_operation(Operation& operation);
  void flush(Connection& connection);

  const Options& options_;
  const Protocol& protocol_;
  KeySource keys_;
  uint32_t next_insert_key_;
  Descriptor epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Buffer right_reply_;
  Measurement measured_;
  uint64_t last_answer_ns_ = 0;
  bool measuring_ = false;
  bool draining_ = false;
};

}  // namespace rowsocket::bench
