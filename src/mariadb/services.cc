// SPDX-License-Identifier: GPL-2.0-only
//
// The server's services that this plugin uses. The server finds these variables by name when it loads the
// plugin, checks that each holds a version that it has, and replaces it by the service's address.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <service_versions.h>

#include "mariadb/services_list.h"

// In C++ a variable of a service's name would be another one than in the server's headers.
#define ROWSOCKET_SERVICE(name, version)                                       \
  __attribute__((visibility("default"))) void* name##_pointer __asm__(#name) = \
      reinterpret_cast<void*>(VERSION_##version);
extern "C" {
ROWSOCKET_SERVICES
}
#undef ROWSOCKET_SERVICE
