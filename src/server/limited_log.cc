// SPDX-License-Identifier: GPL-2.0-only
#include "server/limited_log.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <exception>

#include "base/limits.h"

namespace rowsocket::server {

bool LimitedLog::may_write() {
  const uint64_t now_ms = clock_.now_ms();
  if (interval_begin_ms_ == 0 || now_ms - interval_begin_ms_ >= limits::log_interval_ms) {
    interval_begin_ms_ = now_ms;
    lines_written_ = 0;
    if (lines_left_out_ > 0) {
      std::array<char, 64> text;
      std::snprintf(text.data(), text.size(), "left out %" PRIu64 " lines about clients", lines_left_out_);
      always(LogLevel::note, text.data());
      lines_left_out_ = 0;
    }
  }
  if (lines_written_ == limits::log_lines_per_interval) {
    ++lines_left_out_;
    return false;
  }
  ++lines_written_;
  return true;
}

void LimitedLog::about_connection(LogLevel level, uint64_t number, std::string_view peer,
                                  std::string_view what) {
  if (may_write()) {
    always_about_connection(level, number, peer, what);
  }
}

void LimitedLog::always_about_connection(LogLevel level, uint64_t number, std::string_view peer,
                                         std::string_view what) {
  try {
    always(level,
           "connection " + std::to_string(number) + " (" + std::string(peer) + ") " + std::string(what));
  } catch (const std::exception&) {
    ++lines_left_out_;  // no memory for a log line
  }
}

void LimitedLog::limited(LogLevel level, std::string_view what) {
  if (may_write()) {
    always(level, what);
  }
}

void LimitedLog::always(LogLevel level, std::string_view what) {
  try {
    log_.write(level, std::string(name_).append(": ").append(what));
  } catch (const std::exception&) {
    ++lines_left_out_;
  }
}

}  // namespace rowsocket::server
