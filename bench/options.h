// SPDX-License-Identifier: GPL-2.0-only
//
// The generator's command line.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "bench/connection.h"
#include "bench/protocol.h"

namespace rowsocket::bench {

struct Options {
  std::string protocol = "handlersocket";
  Endpoint endpoint;
  Target target;
  uint32_t connections = 100;
  uint32_t in_flight = 1;          ///< requests under way per connection
  uint32_t keys_per_request = 50;  ///< of an IN list
  uint32_t rows = 1'000'000;       ///< keys 1..rows are in the table
  double zipf_exponent = 0;        ///< 0 = uniform
  uint64_t seed = 1;
  uint32_t first_key = 0;  ///< of the inserts; 0 = the one after `rows`
  double warm_up_s = 0.5;
  double seconds = 3;
  pid_t server_pid = 0;  ///< 0 = do not measure the server's CPU time
  int cpu = -1;          ///< run on this core only; -1 = any
  bool help = false;
};

/// Throws std::runtime_error with a text for people.
[[nodiscard]] Options parse_options(int argument_count, char* const* arguments);
[[nodiscard]] std::string usage();

}  // namespace rowsocket::bench
