// SPDX-License-Identifier: GPL-2.0-only
//
// A thread's log lines about events that clients can cause: at most `limits::log_lines_per_interval` per
// interval, so that no client fills the server's error log. Lines that were left out are counted, and their
// number is logged. Never throws. One owner, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"

namespace rowsocket::server {

class LimitedLog {
 public:
  /// `name` stands before every line.
  LimitedLog(Log& log, const Clock& clock, std::string name)
      : log_(log), clock_(clock), name_(std::move(name)) {}

  /// About one client.
  void about_connection(LogLevel level, uint64_t number, std::string_view peer, std::string_view what);
  /// The same, of what the operator did to it.
  void always_about_connection(LogLevel level, uint64_t number, std::string_view peer, std::string_view what);
  /// About something else that clients can cause.
  void limited(LogLevel level, std::string_view what);
  /// About something that only the operator or the host can cause.
  void always(LogLevel level, std::string_view what);

 private:
  [[nodiscard]] bool may_write();

  Log& log_;
  const Clock& clock_;
  std::string name_;
  uint64_t interval_begin_ms_ = 0;
  uint64_t lines_left_out_ = 0;
  uint32_t lines_written_ = 0;
};

}  // namespace rowsocket::server
