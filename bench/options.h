// SPDX-License-Identifier: GPL-2.0-only
//
// The generator's command line.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "bench/definition.h"
#include "bench/protocol.h"
#include "bench/workload.h"

namespace rowsocket::bench {

/// What is done; everything but `run` only prints.
enum class Task : uint8_t { run, help, describe, table_sql };

struct Options {
  Task task = Task::run;
  std::string protocol = "handlersocket";
  Endpoint endpoint;
  Access access;
  std::string workload = "point";  ///< a name or a path
  WorkloadSettings settings;       ///< rows 1..settings.rows are in the table
  Parameters parameters;           ///< what --set says
  uint32_t connections = 100;
  uint32_t in_flight = 1;    ///< requests under way per connection
  double rate_per_s = 0;     ///< over all connections; 0 = closed loop
  uint64_t requests = 0;     ///< end after so many; 0 = after `seconds`
  double zipf_exponent = 0;  ///< 0 = uniform
  uint64_t seed = 1;
  uint32_t first_key = 0;  ///< of workloads that make rows; 0 = the one after the rows
  double warm_up_s = 0.5;
  double seconds = 3;
  pid_t server_pid = 0;  ///< 0 = do not measure the server
  int cpu = -1;          ///< run on this core only; -1 = any

  [[nodiscard]] bool has_endpoint() const { return endpoint.port != 0 || !endpoint.socket_path.empty(); }
};

/// Throws std::runtime_error with a text for people.
[[nodiscard]] Options parse_options(int argument_count, char* const* arguments);
[[nodiscard]] std::string usage();

}  // namespace rowsocket::bench
