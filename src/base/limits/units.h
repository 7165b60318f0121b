// SPDX-License-Identifier: GPL-2.0-only
//
// The units of limits.
#pragma once

#include <cstddef>

namespace rowsocket::limits {

inline constexpr size_t kibibyte = 1024;
inline constexpr size_t mebibyte = 1024 * kibibyte;

}  // namespace rowsocket::limits
