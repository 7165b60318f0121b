// SPDX-License-Identifier: GPL-2.0-only
//
// The server's performance schema sees our threads as threads of its own, and so what they do in tables, wait
// for, and take of the server's memory. Of the memory that we take ourselves it is told (base/memory.h).
#pragma once

namespace rowsocket::mariadb {

/// Once, when the plugin is loaded, before the first thread.
void register_with_performance_schema();

/// The calling thread is a worker, until `leave_thread`.
void instrument_thread(unsigned long long connection_id);
void leave_thread();

}  // namespace rowsocket::mariadb
