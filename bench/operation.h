// SPDX-License-Identifier: GPL-2.0-only
//
// One request of the load: which of the workload's requests, with which keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowsocket::bench {

struct Operation {
  size_t request = 0;          ///< position in Workload::requests
  uint64_t tick = 0;           ///< differs from operation to operation
  std::vector<uint32_t> keys;  ///< at least one; different, ascending
};

}  // namespace rowsocket::bench
