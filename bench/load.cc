// SPDX-License-Identifier: GPL-2.0-only
//
// The load generator: `load --help`. Exit status 0 = every answer was right, 1 = the run failed (the JSON line says why), 2 = bad
// command line.
#include <sched.h>

#include <cstring>
#include <iostream>
#include <stdexcept>

#include "bench/report.h"
#include "bench/run.h"

namespace rowsocket::bench {
namespace {

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw std::runtime_error("cannot run on core " + std::to_string(cpu) + ": " + std::strerror(errno));
  }
}

int run(const Options& options, const Protocol& protocol) {
  try {
    if (options.cpu >= 0) {
      pin_to(options.cpu);
    }
    Run one_run(options, protocol);
    std::cout << report_line(options, one_run.execute()) << std::endl;
    return 0;
  } catch (const std::exception& failure) {
    std::cout << failure_line(options, failure.what()) << std::endl;
    return 1;
  }
}

int start(int argument_count, char** arguments) {
  try {
    const Options options = parse_options(argument_count, arguments);
    if (options.help) {
      std::cout << usage();
      return 0;
    }
    const auto protocol = make_protocol(options.protocol);
    if (protocol == nullptr) {
      throw std::runtime_error("--protocol: \"" + options.protocol + "\" is none of " + protocol_names());
    }
    return run(options, *protocol);
  } catch (const std::exception& failure) {
    std::cerr << "load: " << failure.what() << std::endl;
    return 2;
  }
}

}  // namespace
}  // namespace rowsocket::bench

int main(int argument_count, char** arguments) { return rowsocket::bench::start(argument_count, arguments); }
