// SPDX-License-Identifier: GPL-2.0-only
//
// The table of error codes. The enumeration, the names, the counters and the texts for people are made from
// it. The folder of a protocol says how a code looks on its wire.
//
//   ROWSOCKET_ERROR(name, the counter that counts it, text for people where the code does not say it all)
#pragma once

// clang-format off
#define ROWSOCKET_ERRORS \
  /* The request is malformed, or asks for what does not exist. */ \
  ROWSOCKET_ERROR(unknown_command, errors_request, "") \
  ROWSOCKET_ERROR(unknown_id, errors_request, \
                  "no open_index with this id on this connection, or the id is beyond" \
                  " rowsocket_max_indexes") \
  ROWSOCKET_ERROR(bad_operator, errors_request, "") \
  ROWSOCKET_ERROR(bad_modification, errors_request, "") \
  ROWSOCKET_ERROR(no_key_values, errors_request, "at least one value is needed") \
  ROWSOCKET_ERROR(too_many_values, errors_request, \
                  "more values than the open_index has columns, or than the limit allows") \
  ROWSOCKET_ERROR(too_many_key_parts, errors_request, \
                  "the IN list stands for a key part that has no value in the request") \
  ROWSOCKET_ERROR(no_such_index, errors_request, "") \
  ROWSOCKET_ERROR(no_such_column, errors_request, \
                  "a column name is longer than any can be, or there are" \
                  " too many") \
  ROWSOCKET_ERROR(bad_in_list, errors_request, "") \
  ROWSOCKET_ERROR(bad_filter_type, errors_request, "") \
  ROWSOCKET_ERROR(bad_filter_column, errors_request, "the open_index has fewer filter columns") \
  ROWSOCKET_ERROR(read_only, errors_request, \
                  "this connection may only read: use the write port, with its secret where it has one") \
  ROWSOCKET_ERROR(syntax, errors_request, "") \
  ROWSOCKET_ERROR(line_too_long, errors_request, "") \
  ROWSOCKET_ERROR(reply_too_large, errors_request, \
                  "the rows found exceed rowsocket_max_reply_bytes: ask with a smaller limit") \
  ROWSOCKET_ERROR(too_many_rows, errors_request, \
                  "the request has looked at more rows than rowsocket_max_rows_examined allows") \
  ROWSOCKET_ERROR(took_too_long, errors_request, \
                  "the request has taken longer than rowsocket_max_request_ms allows") \
  ROWSOCKET_ERROR(client_gone, requests_stopped, "the client has closed the connection") \
  ROWSOCKET_ERROR(not_implemented, errors_request, "") \
  ROWSOCKET_ERROR(not_in_group, errors_request, \
                  "a group holds finds, modifications and inserts, between a G and an E") \
  /* Authentication. */ \
  ROWSOCKET_ERROR(not_authenticated, errors_authentication, "log in first") \
  ROWSOCKET_ERROR(bad_authentication_type, errors_authentication, "the authentication types are 1 and 2") \
  ROWSOCKET_ERROR(too_many_connections, errors_authentication, \
                  "the account has as many connections as it may (rowsocket_max_account_connections)") \
  ROWSOCKET_ERROR(needs_tls, errors_authentication, \
                  "this server takes clients inside TLS, or over a unix socket (rowsocket_require_tls)") \
  /* The table: missing, not served, or changed so that it no longer fits; or locked for too long. */ \
  ROWSOCKET_ERROR(cannot_open_table, errors_table, "") \
  ROWSOCKET_ERROR(cannot_lock_table, errors_table, "a lock on the table was not to be had in time") \
  /* The storage engine, a conversion or the SQL layer refused; the number is the host's own. */ \
  ROWSOCKET_ERROR(engine, errors_engine, "") \
  ROWSOCKET_ERROR(sql, errors_engine, "") \
  ROWSOCKET_ERROR(not_a_number, errors_engine, \
                  "there is no number to count up or down from, or none to" \
                  " count by") \
  /* The group. */ \
  ROWSOCKET_ERROR(undone_with_group, errors_request, \
                  "another request of the group failed; nothing of" \
                  " the group was done") \
  ROWSOCKET_ERROR(nothing_changed, errors_request, \
                  "the group asks that each write changes a row, and this one changed none") \
  ROWSOCKET_ERROR(no_transactions, errors_request, \
                  "the table's storage engine has no transactions, which a group needs") \
  /* Inside the server. */ \
  ROWSOCKET_ERROR(commit_failed, errors_internal, \
                  "the transaction could not be committed; this request changed nothing in tables with" \
                  " transactions") \
  ROWSOCKET_ERROR(out_of_memory, errors_internal, "memory was refused; nothing of this request was done") \
  ROWSOCKET_ERROR(shutting_down, errors_internal, "")
// clang-format on
