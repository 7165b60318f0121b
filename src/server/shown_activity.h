// SPDX-License-Identifier: GPL-2.0-only
//
// What SHOW PROCESSLIST says of the thread that runs a turn loop. It changes seldom, since the server takes a
// lock for it. One owner, one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/limits.h"
#include "engine/engine.h"

namespace rowsocket::server {

class ShownActivity {
 public:
  /// `role`: "read" or "write". Its characters outlive the object.
  explicit ShownActivity(std::string_view role) : role_(role) {}

  /// A session that runs the loop anew shows it at once.
  void show_first(engine::Session& session, size_t connection_count, uint64_t now_ms) {
    if (shown_by_ != &session) [[unlikely]] {
      shown_by_ = &session;
      show(connection_count, now_ms);
    }
  }
  void show_if_due(size_t connection_count, uint64_t now_ms) {
    if (now_ms >= due_ms(connection_count)) [[unlikely]] {
      show(connection_count, now_ms);
    }
  }
  /// UINT64_MAX where what is shown is true.
  [[nodiscard]] uint64_t due_ms(size_t connection_count) const {
    return connection_count == shown_count_ ? UINT64_MAX : shown_ms_ + limits::activity_interval_ms;
  }

 private:
  void show(size_t connection_count, uint64_t now_ms) {
    shown_count_ = connection_count;
    shown_ms_ = now_ms;
    std::array<char, 96> text;
    std::snprintf(text.data(), text.size(), "rowsocket: %.*s worker, %zu connections",
                  static_cast<int>(role_.size()), role_.data(), connection_count);
    shown_by_->set_activity(text.data());
  }

  const std::string_view role_;
  engine::Session* shown_by_ = nullptr;
  uint64_t shown_ms_ = 0;
  size_t shown_count_ = 0;
};

}  // namespace rowsocket::server
