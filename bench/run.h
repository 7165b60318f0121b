// SPDX-License-Identifier: GPL-2.0-only
//
// One run of the player: a single thread drives all connections over epoll, first to warm up, then measured,
// then until every request is answered (so that afterwards the rows of a write run can be counted).
//
// Closed loop: a connection sends its next request when an earlier one is answered. Open loop: requests are
// due at a fixed rate, the connection that has been free for longest takes the next one, and latency counts
// from the time at which it was due. So a stall of the server is in the latency of all the requests that it
// held up.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/connection.h"
#include "bench/job.h"
#include "bench/keys.h"
#include "bench/ring.h"

namespace rowsocket::bench {

class Run {
 public:
  /// `job` outlives the run.
  explicit Run(const Job& job);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Throws std::runtime_error at the first wrong answer or lost connection, and after a long silence.
  [[nodiscard]] Measurement execute();

 private:
  void connect();
  void watch(Connection& connection, int operation, uint32_t events);
  void begin_load();
  void measure();
  void drive_until(uint64_t deadline_ns);
  void drain();
  void turn();
  [[nodiscard]] uint64_t wait_ns() const;
  void serve(Connection& connection, uint32_t events);
  void check(Connection& connection, std::string_view received);
  void count(const Pending& answered, uint64_t received_ns);
  void take_up_work(Connection& connection);
  void dispatch_due();
  void queue(Connection& connection);
  void begin_request(Connection& connection, uint64_t begun_ns);
  void flush(Connection& connection);
  [[nodiscard]] size_t draw_exchange();
  /// Open loop: when the next request is due, and how many are due by now and not begun.
  [[nodiscard]] uint64_t due_ns() const;
  [[nodiscard]] uint64_t backlog(uint64_t now_ns) const;
  [[nodiscard]] bool nothing_under_way() const;
  [[nodiscard]] bool all_begun() const { return job_.requests != 0 && begun_ >= job_.requests; }

  const Job& job_;
  const bool open_loop_;
  int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  KeySource keys_;
  Random random_;
  std::vector<double> weights_summed_;
  uint64_t tick_;
  Ring<Connection*> free_;  ///< in the open loop: those that can take a request, the longest free one first
  std::array<char, 256 * 1024> received_;
  Measurement measured_;
  uint64_t begun_ = 0;
  uint64_t load_start_ns_ = 0;
  uint64_t last_answer_ns_ = 0;
  uint64_t measured_from_ns_ = UINT64_MAX;
  uint64_t measured_to_ns_ = UINT64_MAX;
  bool measuring_ = false;
  bool draining_ = false;
};

}  // namespace rowsocket::bench
