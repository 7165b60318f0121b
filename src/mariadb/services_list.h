// SPDX-License-Identifier: GPL-2.0-only
//
// The server's services that this plugin uses: each variable by the name that the server looks for, and what
// its version is called.
#pragma once

#define ROWSOCKET_SERVICES                                    \
  ROWSOCKET_SERVICE(my_print_error_service, my_print_error)   \
  ROWSOCKET_SERVICE(progress_report_service, progress_report) \
  ROWSOCKET_SERVICE(my_sha1_service, my_sha1)                 \
  ROWSOCKET_SERVICE(thd_alloc_service, thd_alloc)             \
  ROWSOCKET_SERVICE(wsrep_service, wsrep)
