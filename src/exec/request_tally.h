// SPDX-License-Identifier: GPL-2.0-only
//
// Counts requests by kind, and their errors, when they have their final answers. A request that is put back
// is not counted.
#pragma once

#include <cstdint>
#include <utility>

#include "request/counters.h"
#include "request/request.h"

namespace rowsocket::exec {

class RequestTally {
 public:
  explicit RequestTally(Counters& counters) : counters_(counters) {}

  /// A request, with the members of a group, and the one error that may be its answer.
  void add(const Request& request, const Error& outcome);
  /// How many requests were added since this was last asked. Members of groups count.
  [[nodiscard]] uint64_t take_turn_requests() { return std::exchange(turn_requests_, 0); }

 private:
  void add_request(const Request& request);

  Counters& counters_;
  uint64_t turn_requests_ = 0;
};

}  // namespace rowsocket::exec
