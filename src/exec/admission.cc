// SPDX-License-Identifier: GPL-2.0-only
#include "exec/admission.h"

#include <algorithm>

#include "base/limits.h"

namespace rowsocket::exec {
namespace {

/// In time that depends on the sizes only.
bool same_secret(const Value& candidate, std::string_view secret) {
  unsigned difference = candidate.size == secret.size() ? 0U : 1U;
  for (size_t position = 0; position < candidate.size && !secret.empty(); ++position) {
    difference |=
        static_cast<unsigned char>(candidate.data[position]) ^ static_cast<unsigned char>(secret[position % secret.size()]);
  }
  return difference == 0;
}

/// What a secret is good for on a port; `none` where it is wrong.
Access access_of(const Value& candidate, Access port_access, const Policy& policy) {
  if (candidate.is_null()) {
    return Access::none;
  }
  const bool is_write_secret = !policy.secret_write.empty() && same_secret(candidate, policy.secret_write);
  const bool is_read_secret = !policy.secret_read.empty() && same_secret(candidate, policy.secret_read);
  if (is_write_secret || (is_read_secret && policy.secret_write.empty())) {
    return port_access;
  }
  if (is_read_secret) {
    return Access::read;
  }
  // Where nothing is secret, the empty secret is the right one, as it always was.
  const bool needs_none = initial_access(port_access, policy) == port_access;
  return candidate.size == 0 && needs_none ? port_access : Access::none;
}

bool each_name_fits(std::string_view comma_separated) {
  if (engine::name_count(comma_separated) > limits::value_count_max) {
    return false;
  }
  while (!comma_separated.empty()) {
    const size_t name_bytes = std::min(comma_separated.find(','), comma_separated.size());
    if (name_bytes > limits::name_bytes_max) {
      return false;
    }
    comma_separated.remove_prefix(std::min(name_bytes + 1, comma_separated.size()));
  }
  return true;
}

ErrorCode check_find(const Request& request, const engine::Index& index) {
  for (const Filter& filter : request.filters) {
    if (filter.filter_column >= index.filter_column_count()) {
      return ErrorCode::bad_filter_column;
    }
  }
  if (request.new_values.size() > index.column_count() && !request.drops_surplus) {
    return ErrorCode::too_many_values;
  }
  if (request.values.empty()) {
    return ErrorCode::no_key_values;
  }
  if (request.has_in_list && request.in_values.empty()) {
    return ErrorCode::bad_in_list;
  }
  if (request.has_in_list && !request.lists_whole_keys && request.in_key_part >= request.values.size()) {
    return ErrorCode::too_many_key_parts;
  }
  return ErrorCode::none;
}

ErrorCode check_insert(const Request& request, const engine::Index& index) {
  if (request.values.size() / request.row_count > index.column_count() && !request.drops_surplus) {
    return ErrorCode::too_many_values;
  }
  return request.values.empty() ? ErrorCode::no_key_values : ErrorCode::none;
}

}  // namespace

Access initial_access(Access port_access, const Policy& policy) {
  const bool write_is_open = policy.secret_write.empty() && policy.secret_read.empty();
  if (port_access == Access::write && write_is_open) {
    return Access::write;
  }
  // A write port whose only secret is the one for reading asks for it before anything else.
  return policy.secret_read.empty() ? Access::read : Access::none;
}

ErrorCode check_access(const Client& client, const Request& request) {
  if (client.granted() == Access::none) {
    return ErrorCode::not_authenticated;
  }
  if (client.index(request.index_id) == nullptr) {
    return ErrorCode::unknown_index_id;
  }
  if (request.parse_error != ErrorCode::none) {
    return request.parse_error;
  }
  if (request.writes() && client.granted() != Access::write) {
    return ErrorCode::read_only;
  }
  return request.has_columns && !each_name_fits(request.columns) ? ErrorCode::no_such_column : ErrorCode::none;
}

ErrorCode check_against(const engine::Index& index, const Request& request) {
  return request.kind == RequestKind::insert ? check_insert(request, index) : check_find(request, index);
}

ErrorCode check_open_index(const Client& client, const Request& request, const Policy& policy) {
  if (client.granted() == Access::none) {
    return ErrorCode::not_authenticated;
  }
  if (request.parse_error != ErrorCode::none) {
    return request.parse_error;
  }
  if (request.index_id >= policy.index_id_max) {
    return ErrorCode::unknown_index_id;
  }
  const OpenIndexRequest& open = request.open;
  if (std::max(open.database.size(), open.table.size()) > limits::name_bytes_max) {
    return ErrorCode::cannot_open_table;
  }
  if (open.index.size() > limits::name_bytes_max) {
    return ErrorCode::no_such_index;
  }
  return each_name_fits(open.columns) && each_name_fits(open.filter_columns) ? ErrorCode::none : ErrorCode::no_such_column;
}

ErrorCode authenticate(Client& client, const Request& request, const Policy& policy) {
  if (request.parse_error != ErrorCode::none) {
    return request.parse_error;
  }
  if (request.authentication_type != 1) {
    return ErrorCode::bad_authentication_type;
  }
  const Access access = access_of(request.secret, client.port_access(), policy);
  if (access == Access::none) {
    client.grant(initial_access(client.port_access(), policy));
    return ErrorCode::not_authenticated;
  }
  client.grant(access);
  return ErrorCode::none;
}

std::string_view explanation(ErrorCode code) {
  switch (code) {
    case ErrorCode::unknown_index_id:
      return "no open_index with this id on this connection, or the id is beyond rowsocket_max_indexes";
    case ErrorCode::not_authenticated:
      return "authenticate with this port's secret first";
    case ErrorCode::bad_authentication_type:
      return "the only authentication type is 1";
    case ErrorCode::read_only:
      return "this connection may only read: use the write port, with its secret where it has one";
    case ErrorCode::bad_filter_column:
      return "the open_index has fewer filter columns";
    case ErrorCode::too_many_values:
      return "more values than the open_index has columns, or than the limit allows";
    case ErrorCode::no_key_values:
      return "at least one value is needed";
    case ErrorCode::too_many_key_parts:
      return "the IN list stands for a key part that has no value in the request";
    case ErrorCode::no_such_column:
      return "a column name is longer than any can be, or there are too many";
    case ErrorCode::reply_too_large:
      return "the rows found exceed rowsocket_max_reply_bytes: ask with a smaller limit";
    case ErrorCode::cannot_lock_table:
      return "a lock on the table was not to be had in time";
    case ErrorCode::not_in_group:
      return "a group holds finds, modifications and inserts, between a G and an E";
    case ErrorCode::undone_with_group:
      return "another request of the group failed; nothing of the group was done";
    case ErrorCode::nothing_changed:
      return "the group asks that each write changes a row, and this one changed none";
    case ErrorCode::no_transactions:
      return "the table's storage engine has no transactions, which a group needs";
    case ErrorCode::commit_failed:
      return "the transaction could not be committed; nothing of this request was done";
    case ErrorCode::out_of_memory:
      return "memory was refused; nothing of this request was done";
    default:
      return {};
  }
}

}  // namespace rowsocket::exec
