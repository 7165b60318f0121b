// SPDX-License-Identifier: GPL-2.0-only
#include "request/counters.h"

namespace rowsocket {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Counter::count_)> names = {
#define ROWSOCKET_COUNTER(name, what) #name,
    ROWSOCKET_COUNTERS
#undef ROWSOCKET_COUNTER
};

constexpr std::array<Counter, static_cast<size_t>(ErrorCode::count_)> counters_of_errors = {
    Counter::errors_internal,  // none is no error
#define ROWSOCKET_ERROR(name, counter, explanation) Counter::counter,
    ROWSOCKET_ERRORS
#undef ROWSOCKET_ERROR
};

}  // namespace

std::string_view counter_name(Counter counter) { return names[static_cast<size_t>(counter)]; }

Counter counter_of(ErrorCode code) { return counters_of_errors[static_cast<size_t>(code)]; }

}  // namespace rowsocket
