// SPDX-License-Identifier: GPL-2.0-only
//
// What stands in row N of the benchmark's `user` table. The generator and compare.py (which fills the table in SQL) each know it,
// so every reply can be checked byte for byte:
//
//   user_id   user_name   user_email           created
//   1234      user1234    user1234@example.com 2026-01-01 00:20:34     (the second of the day is user_id modulo 86,400)
#pragma once

#include <cstdint>

#include "base/buffer.h"

namespace rowsocket::bench {

void append_number(Buffer& out, uint32_t number);
void append_user_name(Buffer& out, uint32_t user_id);
void append_user_email(Buffer& out, uint32_t user_id);
void append_created(Buffer& out, uint32_t user_id);

}  // namespace rowsocket::bench
