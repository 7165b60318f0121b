// SPDX-License-Identifier: GPL-2.0-only
//
// What is remembered of one connection between its requests. Replies write it, behind an open, an
// authenticate or Request::changes_state only: no request is parsed again behind such a change.
#pragma once

#include <cstdint>
#include <string>

#include "request/protocol.h"
#include "wire/memcached/tally.h"

namespace rowsocket::wire::memcached {

struct State final : WireState {
  Tally tally = {};
  uint64_t skip_bytes = 0;        ///< of the input, which belong to a value that was refused
  bool is_authenticated = false;  ///< it said a secret of its port
  std::string container = {};     ///< of keys that name none; empty = the default one
};

}  // namespace rowsocket::wire::memcached
