// SPDX-License-Identifier: GPL-2.0-only
//
// Numbers as text, where a column keeps fewer digits than the text has.
#pragma once

#include <string_view>

namespace rowsocket::sql_values {

/// True if a number has other digits than 0 behind the first `decimals` ones of its fraction: 1.05 and 5e-2
/// have for 1, and 1.50 has not. `text` is a number, which white space may surround.
[[nodiscard]] bool has_digits_beyond(std::string_view text, unsigned decimals);

}  // namespace rowsocket::sql_values
