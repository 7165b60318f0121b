// SPDX-License-Identifier: GPL-2.0-only
//
// What exec remembers of one connection: what it may do, and the indexes that it opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace rowsocket::exec {

/// What a connection may do. Ordered: each includes the ones before.
enum class Access : uint8_t { none, read, write };

class Client {
 public:
  /// `port_access` is the most that the port allows; `granted` what needs no authentication there.
  Client(Access port_access, Access granted) : port_access_(port_access), granted_(granted) {}

  [[nodiscard]] Access port_access() const { return port_access_; }
  [[nodiscard]] Access granted() const { return granted_; }
  void grant(Access access) { granted_ = access; }

  /// What was opened under this id; nullptr if nothing was.
  [[nodiscard]] const std::shared_ptr<engine::Index>& index(uint32_t id) const {
    return id < indexes_.size() ? indexes_[id] : none_;
  }
  /// May throw std::bad_alloc.
  void set_index(uint32_t id, std::shared_ptr<engine::Index> index);

  // The same index with another list of columns, for single requests. The last few are remembered.
  [[nodiscard]] const std::shared_ptr<engine::Index>* index_with_columns(uint32_t id, std::string_view columns) const;
  /// May throw std::bad_alloc. What it returns is good until the next call.
  const std::shared_ptr<engine::Index>& remember_columns(uint32_t id, std::shared_ptr<engine::Index> index);

  /// How much memory what it opened takes, as if nobody shared it.
  [[nodiscard]] size_t held_bytes() const { return held_bytes_; }
  /// It is closed: nothing is open any more.
  void forget_indexes();

  /// It sent something that is served though a strict server would refuse it. True the first time.
  [[nodiscard]] bool note_lenience() { return !std::exchange(is_lenient_, true); }

  /// When the request that waits for a lock was first tried; 0 = none waits.
  uint64_t parked_since_ms = 0;

 private:
  static inline const std::shared_ptr<engine::Index> none_;

  Access port_access_;
  Access granted_;
  bool is_lenient_ = false;
  size_t held_bytes_ = 0;
  std::vector<std::shared_ptr<engine::Index>> indexes_;  ///< by id
  /// By id; each is a ring of the last limits::column_lists_per_index.
  std::vector<std::vector<std::shared_ptr<engine::Index>>> with_columns_;
};

}  // namespace rowsocket::exec
