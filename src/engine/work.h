// SPDX-License-Identifier: GPL-2.0-only
//
// For whom a session works: who may have it stopped.
#pragma once

#include <cstdint>
#include <string>

namespace rowsocket::engine {

/// The other side of a connection, as the thread that executes a request of it may ask, and others.
class Presence {
 public:
  virtual ~Presence() = default;
  /// The client will send nothing more: it has closed the connection, or its side of it.
  [[nodiscard]] virtual bool is_gone() const = 0;
  /// An administrator has ended the connection.
  [[nodiscard]] virtual bool is_killed() const { return false; }
  /// The same, or the client has reset it: no reply reaches it, and nothing more is begun for it.
  [[nodiscard]] virtual bool is_lost() const { return is_killed(); }
  /// Numeric; empty = it came through a unix socket. May throw std::bad_alloc.
  [[nodiscard]] virtual std::string address() const { return {}; }
};

/// What it does for somebody. As long as none was begun, that is for who asked for the request under way.
struct Work {
  void begin(const Presence* for_client) {
    is_of_request = false;
    client = for_client;
    ++number;
  }
  void begin_request() {
    is_of_request = true;
    client = nullptr;
    ++number;
  }
  /// Who may have it stopped, where the request under way is that of `asks`. nullptr = nobody, or none is.
  [[nodiscard]] const Presence* whose(const Presence* asks) const { return is_of_request ? asks : client; }

  bool is_of_request = true;
  const Presence* client = nullptr;  ///< else: whose; nullptr = not one client's alone
  uint64_t number = 0;               ///< each has another one
};

}  // namespace rowsocket::engine
