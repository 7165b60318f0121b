// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <dlfcn.h>

#include "mariadb/tls.h"

namespace rowsocket::mariadb {
namespace {

/// Whether `SSL_new` is the same function for the server as for this plugin. (A server may bring a library of
/// its own along, within its program.)
bool server_has_our_library() {
  void* const server = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
  if (server == nullptr) {
    return false;
  }
  const bool is_ours = dlsym(server, "SSL_new") == reinterpret_cast<void*>(&SSL_new);
  dlclose(server);
  return is_ours;
}

}  // namespace

ServerTls::ServerTls() : fits_(server_has_our_library()) {}

tls::Session ServerTls::make() {
  if (!fits_) {
    return nullptr;
  }
  mysql_rwlock_rdlock(&LOCK_ssl_refresh);
  tls::Session session(ssl_acceptor_fd == nullptr ? nullptr : SSL_new(ssl_acceptor_fd->ssl_context));
  mysql_rwlock_unlock(&LOCK_ssl_refresh);
  return session;
}

}  // namespace rowsocket::mariadb
