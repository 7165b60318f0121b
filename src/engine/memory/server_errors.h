// SPDX-License-Identifier: GPL-2.0-only
//
// Numbers with which a server's engine and strict SQL fail: the memory engine's errors carry the same.
#pragma once

namespace rowsocket::engine::memory {

inline constexpr int ha_duplicate_key = 121;
inline constexpr int ha_no_record = 132;
inline constexpr int ha_lock_wait_timeout = 146;
inline constexpr int ha_deadlock = 149;
inline constexpr int ha_no_id_left = 167;

inline constexpr int er_bad_null = 1048;
inline constexpr int er_lock_wait_timeout = 1205;
inline constexpr int er_lock_deadlock = 1213;
inline constexpr int er_out_of_range = 1264;
inline constexpr int er_truncated = 1265;
inline constexpr int er_truncated_wrong_value = 1292;
inline constexpr int er_query_interrupted = 1317;
inline constexpr int er_no_default = 1364;
inline constexpr int er_wrong_value = 1366;
inline constexpr int er_data_too_long = 1406;

}  // namespace rowsocket::engine::memory
