// SPDX-License-Identifier: GPL-2.0-only
//
// The interface exists for code that was compiled with it. The server was, and its structures do not depend
// on it; only this file of ours asks for it, and includes nothing of the server else.
#define HAVE_PSI_INTERFACE
#define HAVE_PSI_THREAD_INTERFACE
#include <my_global.h>
// my_global.h comes first.
#include <mysql/psi/psi.h>

#include "mariadb/performance_schema.h"

namespace rowsocket::mariadb {
namespace {

PSI_thread_key worker_key;
PSI_thread_info worker_class[] = {{&worker_key, "worker", 0}};

}  // namespace

void register_thread_class() { PSI_server->register_thread("rowsocket", worker_class, 1); }

void instrument_thread(unsigned long long connection_id) {
  PSI_thread* const thread = PSI_server->new_thread(worker_key, &worker_key, connection_id);
  PSI_server->set_thread_os_id(thread);
  PSI_server->set_thread(thread);
}

void leave_thread() { PSI_server->delete_current_thread(); }

}  // namespace rowsocket::mariadb
