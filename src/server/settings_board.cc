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

void SettingsBoard::publish_all_but_containers(Settings settings) {
  const MutexLock lock(writers_);
  if (const auto before = current(); before != nullptr) {
    settings.containers = before->containers;
  }
  publish(std::move(settings));
}

void SettingsBoard::publish_containers(std::shared_ptr<const Containers> containers) {
  const MutexLock lock(writers_);
  Settings settings = *current();
  settings.containers = std::move(containers);
  publish(std::move(settings));
}

std::shared_ptr<const Settings> SettingsBoard::current() const {
  const MutexLock lock(mutex_);
  return current_;
}

}  // namespace rowsocket::server
