// SPDX-License-Identifier: GPL-2.0-only
//
// A number or a pointer that one thread writes and others may look at: what they see may be a moment old, but
// never torn. To its writer it costs as much as a plain one.
#pragma once

#include <atomic>

namespace rowsocket {

template <typename Value>
class Published {
 public:
  Published() = default;
  Published(Value value) : value_(value) {}  // NOLINT(google-explicit-constructor): it stands for the value
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // For the thread that writes.
  Published& operator=(Value value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  Published& operator+=(Value amount) { return *this = static_cast<Value>(read() + amount); }

  // For any thread.
  [[nodiscard]] Value read() const { return value_.load(std::memory_order_relaxed); }
  operator Value() const { return read(); }  // NOLINT(google-explicit-constructor): it stands for the value

 private:
  std::atomic<Value> value_{};
};

}  // namespace rowsocket
