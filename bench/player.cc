// SPDX-License-Identifier: GPL-2.0-only
//
// The load generator: reads a job (job.h) from standard input, plays it on the connections that it inherited,
// and prints one line of JSON. Exit status 0 = every answer was right, 1 = the line says what went wrong.
#include <sched.h>

#include <csignal>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "bench/job.h"
#include "bench/run.h"

namespace {

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw std::runtime_error("cannot run on core " + std::to_string(cpu) + ": " + std::strerror(errno));
  }
}

}  // namespace

int main() {
  using namespace rowsocket::bench;
  try {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL sends without MSG_NOSIGNAL
    const Job job = parse_job({std::istreambuf_iterator<char>(std::cin), {}});
    if (job.cpu >= 0) {
      pin_to(job.cpu);
    }
    const auto run = std::make_unique<Run>(job);
    std::cout << report_line(run->execute()) << std::endl;
    return 0;
  } catch (const std::exception& failure) {
    std::cout << failure_line(failure.what()) << std::endl;
    return 1;
  }
}
