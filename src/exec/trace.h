// SPDX-License-Identifier: GPL-2.0-only
//
// What is remembered of a client's requests for the host's logs (request_trail.h), in the order of the
// requests, each until its answer is final.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "engine/trail.h"

namespace rowsocket::exec {

/// Of one request.
struct Trace {
  std::unique_ptr<engine::TrailEntry> entry = {};  ///< nullptr: there was no memory for it
  uint64_t reply_bytes = 0;
  bool is_over = false;
};

struct Traces {
  std::deque<Trace> list;
  size_t next = 0;  ///< that of the request which is presented next, if it was put back; else the end
};

}  // namespace rowsocket::exec
