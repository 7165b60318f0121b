// SPDX-License-Identifier: GPL-2.0-only
#include "server/settings_board.h"

#include <algorithm>
#include <utility>

namespace rowsocket::server {

Settings reconciled(Settings settings) {
  // The longest line, and the largest reply behind a full turn. Buffers double: twice their content.
  const size_t largest_connection_bytes =
      settings.line_bytes_max + settings.reply_bytes_max + limits::reply_bytes_per_turn;
  settings.held_bytes_max = std::max(settings.held_bytes_max, 2 * largest_connection_bytes);
  return settings;
}

void SettingsBoard::publish(Settings settings) {
  auto snapshot = std::make_shared<const Settings>(std::move(settings));
  const MutexLock lock(mutex_);
  current_.swap(snapshot);
  generation_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const Settings> SettingsBoard::current() const {
  const MutexLock lock(mutex_);
  return current_;
}

}  // namespace rowsocket::server
