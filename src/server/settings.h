// SPDX-License-Identifier: GPL-2.0-only
//
// What can change while RowSocket runs, as immutable snapshots. `reconfigure` publishes a new one; each thread looks at the
// generation, one atomic read per turn, and fetches the snapshot only when that has moved.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "request/protocol.h"
#include "exec/executor.h"
#include "server/config.h"

namespace rowsocket::server {

struct Settings {
  exec::Policy policy;
  ParseLimits parse_limits;
  uint64_t idle_timeout_ms;  ///< 0 = never
  uint32_t max_connections;
  size_t held_bytes_max;  ///< what the connections of one worker may hold in buffers between turns
};

/// May throw std::bad_alloc.
[[nodiscard]] Settings settings_from(const Config& config);

/// Thread-safe.
class SettingsBoard {
 public:
  /// May throw std::bad_alloc; then the old settings stay.
  void publish(Settings settings);

  /// Moves with every `publish`; 0 before the first.
  [[nodiscard]] uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  [[nodiscard]] std::shared_ptr<const Settings> current() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Settings> current_;  ///< guarded by mutex_
  std::atomic<uint64_t> generation_{0};      ///< written under mutex_, after current_
};

}  // namespace rowsocket::server
