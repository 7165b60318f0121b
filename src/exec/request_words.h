// SPDX-License-Identifier: GPL-2.0-only
//
// What requests are called, where a person reads them (request_text.h) and where they are counted.
#pragma once

#include <string_view>

#include "engine/trail.h"
#include "exec/table_figures.h"
#include "request/request.h"

namespace rowsocket::exec {

[[nodiscard]] std::string_view verb_of(const Find& find);
[[nodiscard]] std::string_view verb_of(const Insert& insert);
[[nodiscard]] std::string_view symbol_of(KeyOperator key_operator);
[[nodiscard]] std::string_view symbol_of(Comparison comparison);
/// Between a column and the value that changes it, blanks included.
[[nodiscard]] std::string_view words_of(Operation operation);
/// Of a find or an insert.
[[nodiscard]] Work work_of(const Request& request);
[[nodiscard]] engine::Deed deed_of(const Request& request);

}  // namespace rowsocket::exec
