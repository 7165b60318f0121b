// SPDX-License-Identifier: GPL-2.0-only
#include "bench/process_cpu.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

namespace rowsocket::bench {
namespace {

TEST(ProcessCpu, CountsTheWorkOfEveryThread) {
  const uint64_t before_ns = process_cpu_ns(::getpid());
  uint64_t inside_ns = 0;
  std::thread([&] {
    while (inside_ns < before_ns + 20'000'000) {
      inside_ns = process_cpu_ns(::getpid());
    }
  }).join();
  EXPECT_GE(inside_ns, before_ns + 20'000'000);
}

TEST(ProcessCpu, OfAProcessThatIsNotThereIsAnError) { EXPECT_THROW((void)process_cpu_ns(-1), std::runtime_error); }

}  // namespace
}  // namespace rowsocket::bench
