// SPDX-License-Identifier: GPL-2.0-only
//
// The interface exists for code that was compiled with it. The server was, and its structures do not depend
// on it; only this file of ours asks for it, and includes nothing of the server else.
#define HAVE_PSI_INTERFACE
#define HAVE_PSI_THREAD_INTERFACE
#define HAVE_PSI_STAGE_INTERFACE
#define HAVE_PSI_TRANSACTION_INTERFACE
#define HAVE_PSI_MEMORY_INTERFACE
#include <my_global.h>
// my_global.h comes first.
#include <mysql/psi/psi.h>

#include <algorithm>

#include "base/memory.h"
#include "mariadb/performance_schema.h"

namespace rowsocket::mariadb {
namespace {

PSI_thread_key worker_key;
PSI_thread_key client_key;
PSI_thread_info thread_classes[] = {{&worker_key, "worker", 0}, {&client_key, "client", 0}};

// Of no thread: one may give back what another has taken.
PSI_memory_key buffers_key;
PSI_memory_info buffers_class[] = {{&buffers_key, "buffers", PSI_FLAG_GLOBAL}};

void tell_taken(size_t byte_count) {
  PSI_thread* owner = nullptr;
  PSI_server->memory_alloc(buffers_key, byte_count, &owner);
}

void tell_given_back(size_t byte_count) { PSI_server->memory_free(buffers_key, byte_count, nullptr); }

}  // namespace

void register_with_performance_schema() {
  PSI_server->register_thread("rowsocket", thread_classes, static_cast<int>(std::size(thread_classes)));
  PSI_server->register_memory("rowsocket", buffers_class, 1);
  watch_memory({.taken = tell_taken, .given_back = tell_given_back});
}

void instrument_thread(unsigned long long connection_id) {
  PSI_thread* const thread = PSI_server->new_thread(worker_key, &worker_key, connection_id);
  PSI_server->set_thread_os_id(thread);
  PSI_server->set_thread(thread);
}

void leave_thread() { PSI_server->delete_current_thread(); }

PSI_thread* measured_thread() { return PSI_server->get_thread(); }

void measure_for(PSI_thread* thread) {
  PSI_server->end_stage();  // else it would last until the client's next request
  PSI_server->set_thread(thread);
}

void end_measured_transaction(PSI_transaction_locker* transaction) {
  PSI_server->end_transaction(transaction, true);
}

MeasuredClient::MeasuredClient(unsigned long long connection_id, const std::string& user,
                               const std::string& host)
    : thread_(PSI_server->new_thread(client_key, this, connection_id)) {
  if (thread_ == nullptr) {
    return;
  }
  // The account can be told of the calling thread only.
  PSI_thread* const before = PSI_server->get_thread();
  PSI_server->set_thread(thread_);
  PSI_server->set_thread_account(
      user.data(), static_cast<int>(std::min<size_t>(user.size(), USERNAME_LENGTH)), host.data(),
      static_cast<int>(std::min<size_t>(host.size(), HOSTNAME_LENGTH)));
  PSI_server->set_thread(before);
}

MeasuredClient::~MeasuredClient() {
  if (thread_ != nullptr) {
    PSI_server->delete_thread(thread_);
  }
}

}  // namespace rowsocket::mariadb
