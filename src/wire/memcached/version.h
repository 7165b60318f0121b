// SPDX-License-Identifier: GPL-2.0-only
//
// The version that clients of memcached's protocol are told.
#pragma once

#include <string_view>

namespace rowsocket::wire::memcached {

/// What `version` says. Client libraries read a memcached's version from it, to choose commands: this is the
/// one whose text protocol is spoken.
inline constexpr std::string_view version = "1.6.18-rowsocket";
inline constexpr std::string_view version_line = "VERSION 1.6.18-rowsocket";

}  // namespace rowsocket::wire::memcached
