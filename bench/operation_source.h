// SPDX-License-Identifier: GPL-2.0-only
//
// What is asked next: which of the workload's requests, with which keys. Reproducible from a seed. One owner, one thread; nothing
// is allocated once an operation has had its keys.
#pragma once

#include <vector>

#include "bench/keys.h"
#include "bench/options.h"
#include "bench/workload.h"

namespace rowsocket::bench {

class OperationSource {
 public:
  /// `workload` outlives the source.
  OperationSource(const Options& options, const Workload& workload);

  void next(Operation& operation);
  /// The first key of those that rows are made with which was not used.
  [[nodiscard]] uint32_t unused_key() const { return unused_key_; }

 private:
  [[nodiscard]] size_t draw_request();
  void draw_keys(std::vector<uint32_t>& keys);

  const Workload& workload_;
  std::vector<double> weights_summed_;
  Random random_;
  KeySource keys_;
  uint32_t unused_key_;
  uint64_t tick_ = 0;
};

}  // namespace rowsocket::bench
