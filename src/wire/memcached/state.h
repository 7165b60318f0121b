// SPDX-License-Identifier: GPL-2.0-only
//
// What is remembered of one connection between its requests. Replies write it, behind an open, an
// authenticate or Request::changes_state only: no request is parsed again behind such a change. One is
// excepted: a client whose account is gone is a stranger again, and all that it asked is refused either way.
// Another is `flushed`, which the parser clears where it refuses a flush: to begin at the front is right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "request/protocol.h"
#include "wire/memcached/tally.h"

namespace rowsocket::wire::memcached {

struct State final : WireState {
  Tally tally = {};
  uint64_t skip_bytes = 0;                ///< of the input, which belong to a value that was refused
  bool is_authenticated = false;          ///< it said a secret of its port
  std::vector<std::string> flushed = {};  ///< the key of the last row that a flush_all under way has deleted
  std::string container = {};             ///< of keys that name none; empty = the default one
};

}  // namespace rowsocket::wire::memcached
