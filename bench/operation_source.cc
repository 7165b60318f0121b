// SPDX-License-Identifier: GPL-2.0-only
#include "bench/operation_source.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace rowsocket::bench {

namespace {

uint64_t microseconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

/// Below 2^31, so that it fits every number column, and beyond the ticks of earlier runs.
uint64_t first_tick() { return microseconds_since_1970() / 1000 % 1'000'000 * 1000; }

}  // namespace

OperationSource::OperationSource(const Options& options, const Workload& workload)
    : workload_(workload),
      random_(~options.seed),
      keys_(workload.keys.most - workload.keys.least + 1, options.zipf_exponent, options.seed),
      unused_key_(options.first_key),
      tick_(first_tick()) {
  for (const Request& request : workload.requests) {
    weights_summed_.push_back(request.weight + (weights_summed_.empty() ? 0 : weights_summed_.back()));
  }
}

void OperationSource::next(Operation& operation) {
  operation.request = draw_request();
  operation.tick = ++tick_;
  operation.keys.resize(workload_.keys.count);
  if (workload_.keys.next) {
    std::iota(operation.keys.begin(), operation.keys.end(), unused_key_);
    unused_key_ += workload_.keys.count;
  } else {
    draw_keys(operation.keys);
  }
}

size_t OperationSource::draw_request() {
  if (weights_summed_.size() == 1) {
    return 0;
  }
  const double place = random_.fraction() * weights_summed_.back();
  return static_cast<size_t>(std::upper_bound(weights_summed_.begin(), weights_summed_.end(), place) - weights_summed_.begin());
}

void OperationSource::draw_keys(std::vector<uint32_t>& keys) {
  const Keys& range = workload_.keys;
  const auto draw = [&] { return range.least - 1 + keys_.next(); };
  std::generate(keys.begin(), keys.end(), draw);
  // SQL gives the rows of an IN list in the order of the index, each once; so that all protocols are asked the same, keys differ
  // and ascend. Redrawing may not end where a few keys are nearly all there is, so after a while the next free key will do.
  constexpr int redraws_max = 32;
  for (int redraws = 0;; ++redraws) {
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin == keys.end()) {
      return;
    }
    if (redraws < redraws_max) {
      *twin = draw();
      continue;
    }
    do {
      *twin = *twin == range.most ? range.least : *twin + 1;
    } while (std::count(keys.begin(), keys.end(), *twin) > 1);
  }
}

}  // namespace rowsocket::bench
