// SPDX-License-Identifier: GPL-2.0-only
//
// What clients are told of versions: the one of Redis whose replies these follow.
#pragma once

#include <string_view>

namespace rowsocket::wire::resp {

inline constexpr std::string_view version_text = "7.0.15";

}  // namespace rowsocket::wire::resp
