// SPDX-License-Identifier: GPL-2.0-only
//
// What a run prints: one line of JSON, so that runs are appended to a file and compared by a program.
#pragma once

#include <string>

#include "bench/options.h"
#include "bench/run.h"

namespace rowsocket::bench {

[[nodiscard]] std::string report_line(const Options& options, const Workload& workload, const Measurement& measured);
/// The line of a run that ended early: `errors` is 1, and `failure` says why.
[[nodiscard]] std::string failure_line(const Options& options, const Workload& workload, const std::string& failure);
/// What `--describe` prints.
[[nodiscard]] std::string description_line(const Workload& workload);

}  // namespace rowsocket::bench
