// SPDX-License-Identifier: GPL-2.0-only
//
// What a client is, as far as that decides what it may do. There is one kind yet: a client came in at a port,
// and knows a secret of the port or not.
#pragma once

#include <cstdint>

#include "request/error.h"
#include "request/request.h"
#include "request/settings.h"

namespace rowsocket::exec {

/// What a client may do. Ordered: each includes the ones before.
enum class Access : uint8_t { none, read, write };

class Account {
 public:
  /// As it comes in. `port_access` is the most that the port allows.
  Account(Access port_access, const Settings& settings);
  /// One that may already do this.
  Account(Access port_access, Access granted) : port_access_(port_access), granted_(granted) {}

  [[nodiscard]] bool may_read() const { return granted_ != Access::none; }
  [[nodiscard]] bool may_write() const { return granted_ == Access::write; }
  [[nodiscard]] Access granted() const { return granted_; }

  /// Says who it is. A wrong secret leaves it what it was when it came in.
  [[nodiscard]] ErrorCode authenticate(const Authenticate& request, const Settings& settings);

  /// Clients share what they opened with clients of the same number only.
  [[nodiscard]] uint64_t number() const { return 0; }

 private:
  Access port_access_;
  Access granted_;
};

}  // namespace rowsocket::exec
