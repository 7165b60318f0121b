// SPDX-License-Identifier: GPL-2.0-only
#include "bench/server_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

namespace rowsocket::bench {
namespace {

TEST(ServerProcess, CountsTheWorkOfEveryThread) {
  const uint64_t before_ns = process_cpu_ns(::getpid());
  uint64_t inside_ns = 0;
  std::thread([&] {
    while (inside_ns < before_ns + 20'000'000) {
      inside_ns = process_cpu_ns(::getpid());
    }
  }).join();
  EXPECT_GE(inside_ns, before_ns + 20'000'000);
}

TEST(ServerProcess, KeepsTheTimeOfThreadsThatEnded) {
  uint64_t inside_ns = 0;
  std::thread([&] {
    const uint64_t before_ns = process_cpu_ns(::getpid());
    while (inside_ns < before_ns + 20'000'000) {
      inside_ns = process_cpu_ns(::getpid());
    }
  }).join();
  EXPECT_GE(process_cpu_ns(::getpid()), inside_ns);
}

TEST(ServerProcess, OfAProcessThatIsNotThereIsAnError) { EXPECT_THROW((void)process_cpu_ns(-1), std::runtime_error); }

TEST(ServerProcess, KnowsItsThreadsSwitchesAndMemory) {
  const ProcessFacts facts = process_facts(::getpid());
  EXPECT_GE(facts.thread_count, 1u);
  EXPECT_GT(facts.peak_bytes, 1'000'000u);
  const ProcessFacts init = process_facts(1);  // it has slept at least once
  EXPECT_GT(init.switches_voluntary, 0u);
}

TEST(ServerProcess, SplitsUserFromSystemTime) {
  const ProcessFacts before = process_facts(::getpid());
  const uint64_t start_ns = process_cpu_ns(::getpid());
  volatile uint64_t busy = 0;
  while (process_cpu_ns(::getpid()) < start_ns + 100'000'000) {
    for (int i = 0; i < 1'000'000; ++i) {
      busy = busy + 1;
    }
  }
  const ProcessFacts after = process_facts(::getpid());
  EXPECT_GE(after.user_ticks, before.user_ticks + 5);
  EXPECT_LT(after.system_ticks - before.system_ticks, after.user_ticks - before.user_ticks);
}

}  // namespace
}  // namespace rowsocket::bench
