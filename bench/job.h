// SPDX-License-Identifier: GPL-2.0-only
//
// What the harness tells the player, as one JSON document on standard input, and what the player tells the
// harness. The names in the document are those of the fields here; harness/player.py writes it. Bytes are
// text in which each character stands for the byte of its number (Latin-1).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/form.h"
#include "bench/keys.h"
#include "bench/latencies.h"
#include "bench/tls.h"

namespace rowsocket::bench {

/// A kind of request with its only right reply.
struct Exchange {
  double weight = 1;  ///< how often it is drawn
  Form request;
  Form reply;
};

/// A connected socket that the player inherits.
struct OpenConnection {
  int descriptor = -1;
  uint64_t number = 0;  ///< for fields whose source is the connection
};

struct Job {
  std::vector<OpenConnection> connections;
  size_t in_flight = 1;   ///< requests under way per connection
  double rate_per_s = 0;  ///< requests due per second, over all connections; 0 = closed loop
  uint64_t requests = 0;  ///< end after so many, without a warm-up; 0 = after `seconds`
  double warm_up_s = 0.5;
  double seconds = 3;
  double silence_s = 10;  ///< so long without an answer ends the run
  uint64_t seed = 1;
  pid_t server_pid = 0;  ///< whose CPU time is told; 0 = nobody's
  int cpu = -1;          ///< run on this core only; -1 = any
  TlsSettings tls;
  KeyRange keys;
  std::vector<Exchange> exchanges;
};

/// Throws std::exception with a text for people.
[[nodiscard]] Job parse_job(const std::string& text);

struct Measurement {
  std::vector<uint64_t> answered;         ///< in the measured time, by exchange
  std::vector<uint64_t> answered_in_all;  ///< warm-up and the end included
  double seconds = 0;
  Latencies latency_ns;  ///< of the requests begun in the measured time
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  uint64_t backlog_max = 0;  ///< open loop: the most requests that were due while all connections were busy
  uint64_t generator_cpu_ns = 0;
  uint64_t server_cpu_ns = 0;
  uint32_t next_key = 0;
  std::string encryption;  ///< the version and the cipher of TLS; empty = none
};

/// One line of JSON.
[[nodiscard]] std::string report_line(const Measurement& measured);
[[nodiscard]] std::string failure_line(const std::string& failure);

}  // namespace rowsocket::bench
