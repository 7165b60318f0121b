// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace rowsocket::bench {

/// "text" with control bytes made visible, cut to a length fit for a message.
[[nodiscard]] std::string printable(std::string_view bytes);

}  // namespace rowsocket::bench
