// SPDX-License-Identifier: GPL-2.0-only
#include "server/thread.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <utility>

namespace rowsocket::server {

bool start_thread(std::thread& thread, const std::string& name, std::function<void()> body,
                  std::string& failure) {
  // A thread begins with its creator's mask.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    thread = std::thread(std::move(body));
    ::pthread_setname_np(thread.native_handle(), name.c_str());
  } catch (const std::exception& error) {
    failure = "can not start the thread " + name + ": " + error.what();
    started = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace rowsocket::server
