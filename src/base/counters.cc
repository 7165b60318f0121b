// SPDX-License-Identifier: GPL-2.0-only
#include "base/counters.h"

namespace rowsocket {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Counter::count_)> names = {"connections_accepted",
                                                                                      "connections_closed",
                                                                                      "connections_refused",
                                                                                      "connections_timed_out",
                                                                                      "requests_open_index",
                                                                                      "requests_find",
                                                                                      "requests_in_list",
                                                                                      "requests_insert",
                                                                                      "requests_update",
                                                                                      "requests_delete",
                                                                                      "requests_increment",
                                                                                      "requests_group",
                                                                                      "requests_authenticate",
                                                                                      "requests_unknown",
                                                                                      "requests_lenient",
                                                                                      "rows_read",
                                                                                      "rows_inserted",
                                                                                      "rows_updated",
                                                                                      "rows_deleted",
                                                                                      "errors_request",
                                                                                      "errors_authentication",
                                                                                      "errors_table",
                                                                                      "errors_engine",
                                                                                      "errors_internal",
                                                                                      "bytes_received",
                                                                                      "bytes_sent",
                                                                                      "turns",
                                                                                      "turn_requests",
                                                                                      "commits",
                                                                                      "commit_failures",
                                                                                      "replays",
                                                                                      "parked",
                                                                                      "table_opens",
                                                                                      "metadata_lock_releases"};

}  // namespace

std::string_view counter_name(Counter counter) { return names[static_cast<size_t>(counter)]; }

Counter counter_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_authenticated:
    case ErrorCode::bad_authentication_type:
      return Counter::errors_authentication;
    case ErrorCode::cannot_open_table:
    case ErrorCode::cannot_lock_table:
      return Counter::errors_table;
    case ErrorCode::engine:
    case ErrorCode::sql:
      return Counter::errors_engine;
    case ErrorCode::commit_failed:
    case ErrorCode::out_of_memory:
    case ErrorCode::shutting_down:
      return Counter::errors_internal;
    default:
      return Counter::errors_request;
  }
}

}  // namespace rowsocket
