// SPDX-License-Identifier: GPL-2.0-only
#include "server/settings.h"

#include <algorithm>
#include <utility>

namespace rowsocket::server {

Settings settings_from(const Config& config) {
  // A single connection at its limits (the longest line, the largest reply behind a full turn) must not be too much. Buffers
  // double: twice their content.
  const size_t largest_connection_bytes = config.max_line_bytes + config.max_reply_bytes + limits::reply_bytes_per_turn;
  return {
      .policy = {.secret_read = config.secret_read,
                 .secret_write = config.secret_write,
                 .reply_bytes_max = config.max_reply_bytes,
                 .index_id_max = config.max_indexes,
                 .error_detail = config.error_detail},
      .parse_limits = {.line_bytes_max = config.max_line_bytes,
                       .in_values_max = config.max_in_values,
                       .index_id_max = config.max_indexes,
                       .strict = config.strict},
      .idle_timeout_ms = uint64_t{config.idle_timeout_s} * 1000,
      .max_connections = config.max_connections,
      .held_bytes_max = std::max(config.max_held_bytes, 2 * largest_connection_bytes),
  };
}

void SettingsBoard::publish(Settings settings) {
  auto snapshot = std::make_shared<const Settings>(std::move(settings));
  const std::scoped_lock lock(mutex_);
  current_.swap(snapshot);
  generation_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const Settings> SettingsBoard::current() const {
  const std::scoped_lock lock(mutex_);
  return current_;
}

}  // namespace rowsocket::server
