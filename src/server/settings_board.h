// SPDX-License-Identifier: GPL-2.0-only
//
// Publishes what an operator can change while RowSocket runs, as immutable snapshots. Each thread reads the
// generation once per turn (one atomic read), and fetches the snapshot only when the generation has changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "request/settings.h"

namespace rowsocket::server {

/// The settings as they can be kept: one connection alone, at all its limits, must not hold too much memory.
[[nodiscard]] Settings reconciled(Settings settings);

/// Thread-safe.
class SettingsBoard {
 public:
  // Each may throw std::bad_alloc; then the old settings stay.

  void publish(Settings settings);
  /// What operators set; the containers stay those that are published.
  void publish_all_but_containers(Settings settings);
  void publish_containers(std::shared_ptr<const Containers> containers);

  /// Moves with every `publish`; 0 before the first.
  [[nodiscard]] uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  [[nodiscard]] std::shared_ptr<const Settings> current() const;

 private:
  Mutex writers_;  ///< held, before mutex_, by a thread that changes a part of the settings
  mutable Mutex mutex_;
  std::shared_ptr<const Settings> current_ ROWSOCKET_GUARDED_BY(mutex_);
  std::atomic<uint64_t> generation_{0};  ///< written under mutex_, after current_
};

/// The settings that one thread goes by.
class CurrentSettings {
 public:
  /// The board outlives it. May throw std::bad_alloc.
  explicit CurrentSettings(const SettingsBoard& board)
      : board_(board), generation_(board.generation()), settings_(board.current()) {}

  [[nodiscard]] bool are_current() const { return board_.generation() == generation_; }
  /// May throw std::bad_alloc; then the old settings stay.
  void renew() {
    const uint64_t generation = board_.generation();  // read first: the settings may be newer, never older
    settings_ = board_.current();
    generation_ = generation;
  }
  [[nodiscard]] const std::shared_ptr<const Settings>& get() const { return settings_; }
  [[nodiscard]] const Settings* operator->() const { return settings_.get(); }
  [[nodiscard]] const Settings& operator*() const { return *settings_; }

 private:
  const SettingsBoard& board_;
  uint64_t generation_;
  std::shared_ptr<const Settings> settings_;
};

}  // namespace rowsocket::server
