// SPDX-License-Identifier: GPL-2.0-only
#include "server/thread.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <utility>

namespace rowsocket::server {
namespace {

thread_local bool is_own = false;

}  // namespace

bool is_own_thread() { return is_own; }

bool start_thread(std::thread& thread, const std::string& name, std::function<void()> body,
                  std::string& failure) {
  // A thread begins with its creator's mask. What is sent to the process is for the threads of the server. A
  // fault of the thread itself must reach the server's handler, which writes what happened into its log.
  sigset_t blocked;
  sigset_t before;
  ::sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) {
    ::sigdelset(&blocked, fault);
  }
  ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
  bool started = true;
  try {
    thread = std::thread([body = std::move(body)] {
      is_own = true;
      body();
    });
    ::pthread_setname_np(thread.native_handle(), name.c_str());
  } catch (const std::exception& error) {
    failure = "can not start the thread " + name + ": " + error.what();
    started = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace rowsocket::server
