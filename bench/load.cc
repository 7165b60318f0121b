// SPDX-License-Identifier: GPL-2.0-only
//
// The load generator: `load --help`. Exit status 0 = every answer was right, 1 = the run failed (the JSON line says why), 2 = a
// mistake in the command line or in a workload or table file.
#include <sched.h>
#include <sys/resource.h>

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

/// Thousands of connections are more descriptors than most shells allow at first.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int run(const Options& options, const Workload& workload, Protocol& protocol) {
  try {
    allow_many_descriptors();
    if (options.cpu >= 0) {
      pin_to(options.cpu);
    }
    Run one_run(options, workload, protocol);
    std::cout << report_line(options, workload, one_run.execute()) << std::endl;
    return 0;
  } catch (const std::exception& failure) {
    std::cout << failure_line(options, workload, failure.what()) << std::endl;
    return 1;
  }
}

int start(int argument_count, char** arguments) {
  try {
    const Options options = parse_options(argument_count, arguments);
    if (options.task == Task::help) {
      std::cout << usage();
      return 0;
    }
    const Workload workload = load_workload(options.workload, options.settings, options.parameters);
    if (options.task == Task::describe) {
      std::cout << description_line(workload) << std::endl;
      return 0;
    }
    if (options.task == Task::table_sql) {
      std::cout << workload.table.sql(options.settings.rows);
      return 0;
    }
    if (!options.has_endpoint()) {
      throw std::runtime_error("say where the server listens: --port or --socket");
    }
    const auto protocol = make_protocol(options.protocol, workload, options.access);
    return run(options, workload, *protocol);
  } catch (const std::exception& failure) {
    std::cerr << "load: " << failure.what() << std::endl;
    return 2;
  }
}

}  // namespace
}  // namespace rowsocket::bench

int main(int argument_count, char** arguments) { return rowsocket::bench::start(argument_count, arguments); }
