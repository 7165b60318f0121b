// SPDX-License-Identifier: GPL-2.0-only
#include "request/error.h"

#include <array>

namespace rowsocket {
namespace {

struct Row {
  std::string_view name;
  std::string_view explanation;
};

constexpr std::array<Row, static_cast<size_t>(ErrorCode::count_)> rows = {{{"none", {}},
#define ROWSOCKET_ERROR(name, counter, explanation) {#name, explanation},
                                                                           ROWSOCKET_ERRORS
#undef ROWSOCKET_ERROR
}};

}  // namespace

std::string_view error_name(ErrorCode code) { return rows[static_cast<size_t>(code)].name; }

std::string_view explanation(ErrorCode code) { return rows[static_cast<size_t>(code)].explanation; }

}  // namespace rowsocket
