// SPDX-License-Identifier: GPL-2.0-only
//
// A THD is told to end what it does. THD::awake() tries for two seconds to get through to a thread that
// waits, and holds LOCK_thd_kill all the while. A thread that has woken may need just that lock to go on:
// SLEEP() does, and holds a lock that everybody's SLEEP() needs. Here nothing is held between two tries.
//
// From any thread, while the THD lives.
#pragma once

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// One try. False if the thread may wait on, and not have heard of it.
bool try_awake(THD* thd, killed_state state);

/// Tries for as long as the server would.
void awake(THD* thd, killed_state state);

/// The THD was killed: where it waits for space on a full disk (my_write), it gives up. The server's KILL
/// says so to no thread of the server, and takes ours for one; in 11.8 such a thread then asks for space
/// without a pause. Under LOCK_thd_kill.
void end_waits_for_space(THD* thd);

}  // namespace rowsocket::mariadb
