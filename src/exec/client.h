// SPDX-License-Identifier: GPL-2.0-only
//
// What exec remembers of one connection: what it may do, and the indexes that it opened.
#pragma once

#include <cstdint>
#include <memory>
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

  [[nodiscard]] engine::Index* index(uint32_t id) const { return id < indexes_.size() ? indexes_[id].get() : nullptr; }
  /// The same, kept alive by the caller. There must be one.
  [[nodiscard]] const std::shared_ptr<engine::Index>& shared_index(uint32_t id) const { return indexes_[id]; }
  /// May throw std::bad_alloc.
  void set_index(uint32_t id, std::shared_ptr<engine::Index> index);

  /// When the request that waits for a lock was first tried; 0 = none waits.
  uint64_t parked_since_ms = 0;

 private:
  Access port_access_;
  Access granted_;
  std::vector<std::shared_ptr<engine::Index>> indexes_;  ///< by id
};

}  // namespace rowsocket::exec
