// SPDX-License-Identifier: GPL-2.0-only
#include "server/worker.h"

#include <exception>

#include "server/thread.h"
#include "server/turn_loop.h"

namespace rowsocket::server {
namespace {

std::string thread_name(engine::Intent intent, uint32_t number) {
  return (intent == engine::Intent::read ? "rowsocket-r" : "rowsocket-w") + std::to_string(number);
}

}  // namespace

Worker::Worker(const Surroundings& surroundings, engine::Intent intent, uint32_t number)
    : engine_(surroundings.engine),
      clock_(surroundings.clock),
      settings_board_(surroundings.settings_board),
      figures_(surroundings.figures),
      intent_(intent),
      number_(number),
      name_(thread_name(intent, number)),
      log_(surroundings.log, surroundings.clock, name_) {}

Worker::~Worker() {
  request_stop();
  join();
}

bool Worker::start(std::string& failure) {
  return start_thread(thread_, name_, [this] { run(); }, failure);
}

void Worker::request_stop() {
  stop_requested_.store(true, std::memory_order_release);
  inbox_.wake();
}

void Worker::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

/// Whatever goes wrong on this thread ends here.
void Worker::run() {
  try {
    const auto session = engine_.create_session(
        {.intent = intent_, .worker_number = number_, .counters = &counters_, .wake = [this] {
           inbox_.wake();
         }});
    if (session != nullptr) {
      serve(*session);
    }
  } catch (const std::exception& error) {
    log_.always(LogLevel::error, error.what());
  } catch (...) {
    log_.always(LogLevel::error, "ends after an unknown exception");
  }
  inbox_.close();
}

void Worker::serve(engine::Session& session) {
  TurnLoop loop({.session = session,
                 .inbox = inbox_,
                 .counters = counters_,
                 .settings_board = settings_board_,
                 .clock = clock_,
                 .log = log_,
                 .role = intent_ == engine::Intent::read ? "read" : "write",
                 .figures = figures_,
                 .worker_number = number_});
  if (!loop.is_usable()) {
    log_.always(LogLevel::error, "can not serve: the process is out of file descriptors");
    return;
  }
  while (!stop_requested_.load(std::memory_order_acquire) && loop.turn()) {
  }
}

}  // namespace rowsocket::server
