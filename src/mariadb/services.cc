// SPDX-License-Identifier: GPL-2.0-only
//
// The server's services that this plugin uses. The server finds these variables by name when it loads the
// plugin, checks that each holds a version that it has, and replaces it by the service's address.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <service_versions.h>

extern "C" {
__attribute__((visibility("default"))) void* my_print_error_service_pointer __asm__(
    "my_print_error_service") = reinterpret_cast<void*>(VERSION_my_print_error);
__attribute__((visibility("default"))) void* progress_report_service_pointer __asm__(
    "progress_report_service") = reinterpret_cast<void*>(VERSION_progress_report);
__attribute__((visibility("default"))) void* wsrep_service_pointer __asm__("wsrep_service") =
    reinterpret_cast<void*>(VERSION_wsrep);
}
