// SPDX-License-Identifier: GPL-2.0-only
//
// Where log lines go is the host's business (the server's error log inside MariaDB, stderr in tests).
// Thread-safe: implementations may be called from any worker.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowsocket {

enum class LogLevel : uint8_t { error, warning, note };

class Log {
 public:
  virtual ~Log() = default;
  /// One line, without a newline. Names the connection or worker that it is about.
  virtual void write(LogLevel level, std::string_view line) = 0;
};

}  // namespace rowsocket
