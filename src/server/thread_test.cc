// SPDX-License-Identifier: GPL-2.0-only
#include "server/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <string>
#include <thread>

namespace rowsocket::server {
namespace {

/// The signals that a thread of the plugin does not get.
sigset_t blocked_in_a_thread() {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  std::thread thread;
  std::string failure;
  EXPECT_TRUE(start_thread(
      thread, "rowsocket-test", [&blocked] { ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }, failure))
      << failure;
  thread.join();
  return blocked;
}

TEST(ThreadTest, what_is_sent_to_the_process_is_for_the_threads_of_the_server) {
  const sigset_t blocked = blocked_in_a_thread();
  for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGQUIT}) {
    EXPECT_EQ(::sigismember(&blocked, number), 1) << number;
  }
}

TEST(ThreadTest, a_fault_of_the_thread_reaches_the_handler_of_the_server) {
  const sigset_t blocked = blocked_in_a_thread();
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) {
    EXPECT_EQ(::sigismember(&blocked, number), 0) << number;
  }
}

TEST(ThreadTest, the_thread_that_starts_one_keeps_its_own_signals) {
  sigset_t before;
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  blocked_in_a_thread();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(::sigismember(&before, SIGTERM), ::sigismember(&after, SIGTERM));
}

}  // namespace
}  // namespace rowsocket::server
