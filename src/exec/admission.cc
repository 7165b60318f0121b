// SPDX-License-Identifier: GPL-2.0-only
#include "exec/admission.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/limits.h"

namespace rowsocket::exec {
namespace {

using engine::Begin;

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

/// Names that nothing can have are not looked for.
ErrorCode check_names(const SelectionNames& names) {
  if (std::max(names.database.size(), names.table.size()) > limits::name_bytes_max) {
    return ErrorCode::cannot_open_table;
  }
  if (names.index.size() > limits::name_bytes_max) {
    return ErrorCode::no_such_index;
  }
  return each_name_fits(names.columns) && each_name_fits(names.filter_columns) &&
                 each_name_fits(names.unique_columns)
             ? ErrorCode::none
             : ErrorCode::no_such_column;
}

/// Which rows: whether the range and the list make sense.
ErrorCode check_keys(const Find& find) {
  if (!ends_face(find.range)) {
    return ErrorCode::bad_operator;
  }
  const bool lacks_key = find.range.key.empty() && !find.range.may_be_open;
  if (lacks_key || (find.range.has_end && find.range.end_key.empty())) {
    return ErrorCode::no_key_values;
  }
  if (!find.list.is_given) {
    return ErrorCode::none;
  }
  if (find.list.values.empty()) {
    return ErrorCode::bad_in_list;
  }
  const bool has_part = find.list.holds_whole_keys || find.list.part < find.range.key.size();
  return has_part ? ErrorCode::none : ErrorCode::too_many_key_parts;
}

ErrorCode check_insert(const Insert& insert, const engine::Selection& selection) {
  for (const Filter& filter : insert.duplicate_filters) {
    if (filter.filter_column >= selection.filter_column_count()) {
      return ErrorCode::bad_filter_column;
    }
  }
  if (insert.values.size() / insert.row_count > selection.column_count() && !insert.drops_surplus) {
    return ErrorCode::too_many_values;
  }
  return insert.values.empty() ? ErrorCode::no_key_values : ErrorCode::none;
}

ErrorCode check_find(const Find& find, const engine::Selection& selection) {
  for (const Filter& filter : find.filters) {
    if (filter.filter_column >= selection.filter_column_count()) {
      return ErrorCode::bad_filter_column;
    }
  }
  const auto& assignments = find.change.assignments;
  const auto is_surplus = [&selection](const Assignment& one) {
    return one.column >= selection.column_count();
  };
  if (!find.drops_surplus && std::any_of(assignments.begin(), assignments.end(), is_surplus)) {
    return ErrorCode::too_many_values;
  }
  return find.otherwise == nullptr ? ErrorCode::none : check_insert(*find.otherwise, selection);
}

/// A find that only counts rows needs no columns, unless it names some.
bool only_counts(const Request& request) {
  if (request.kind != RequestKind::find) {
    return false;
  }
  const auto& find = static_cast<const Find&>(request);
  return find.tell == Tell::count && find.change.kind == Change::Kind::none;
}

engine::SelectionDescription description_of(const Client& client, const SelectionNames& names,
                                            std::string_view columns) {
  return {.database = std::string(names.database),
          .table = std::string(names.table),
          .index = std::string(names.index),
          .columns = std::string(columns),
          .filter_columns = std::string(names.filter_columns),
          .raw = names.raw,
          .account = client.account.number(),
          .unique_columns = std::string(names.unique_columns),
          .unique_key_parts = names.unique_key_parts,
          .key_columns_first = names.key_columns_first,
          .integer_filters = names.integer_filters,
          .walked_in_steps = names.walked_in_steps,
          .all_columns = names.all_columns};
}

}  // namespace

ErrorCode check_request(const Client& client, const Request& request, const Settings& settings) {
  if (!client.account.may_read(settings)) {
    return ErrorCode::not_authenticated;
  }
  const SelectionName& selection = selection_of(request);
  if (selection.names == nullptr && client.selection(selection.id) == nullptr) {
    return ErrorCode::unknown_id;
  }
  if (request.mistake != ErrorCode::none) {
    return request.mistake;
  }
  if (request.kind == RequestKind::find) {
    if (const ErrorCode error = check_keys(static_cast<const Find&>(request)); error != ErrorCode::none) {
      return error;
    }
  }
  return writes(request) && !client.account.may_write() ? ErrorCode::read_only : ErrorCode::none;
}

ErrorCode check_against(const engine::Selection& selection, const Request& request) {
  return request.kind == RequestKind::insert ? check_insert(static_cast<const Insert&>(request), selection)
                                             : check_find(static_cast<const Find&>(request), selection);
}

ErrorCode check_open(const Client& client, const Open& open, const Settings& settings) {
  if (!client.account.may_read(settings)) {
    return ErrorCode::not_authenticated;
  }
  if (open.mistake != ErrorCode::none) {
    return open.mistake;
  }
  return open.id < settings.id_max ? check_names(open.names) : ErrorCode::unknown_id;
}

Begin Admission::admit(Client& client, const Request& request, const Settings& settings,
                       engine::Selection*& selection, Error& error) {
  try {
    switch (request.kind) {
      case RequestKind::find:
      case RequestKind::insert:
        return select(client, request, settings, selection, error);
      case RequestKind::open:
        error.code = check_open(client, static_cast<const Open&>(request), settings);
        return error.ok() ? open(client, static_cast<const Open&>(request), settings, error) : Begin::failed;
      case RequestKind::authenticate:
        error = authenticate(client, static_cast<const Authenticate&>(request), settings);
        break;
      case RequestKind::nothing:
      case RequestKind::refused:
      case RequestKind::group:
        error.code = check_answer(client, request, settings);
        break;
    }
  } catch (...) {
    error = ErrorCode::out_of_memory;
  }
  return error.ok() ? Begin::ready : Begin::failed;
}

/// Asked of the host once in a turn, where clients of one account follow each other.
bool Admission::is_there(uint64_t account) {
  if (account_there_ == account) [[likely]] {
    return true;
  }
  if (!session_.has_account(account)) {
    return false;
  }
  account_there_ = account;
  return true;
}

/// Of what asks for no table, or is no request.
ErrorCode Admission::check_answer(const Client& client, const Request& request, const Settings& settings) {
  if (request.for_readers && (!client.account.may_read(settings) || !is_there(client.account.number()))) {
    return ErrorCode::not_authenticated;
  }
  const bool is_right = request.kind == RequestKind::nothing || request.mistake != ErrorCode::none;
  return is_right ? request.mistake : ErrorCode::unknown_command;
}

/// What a client opened is its account's: it is gone when the client has another account. Nothing that is
/// staged uses it: see Executor.
Error Admission::authenticate(Client& client, const Authenticate& request, const Settings& settings) {
  const uint64_t number_before = client.account.number();
  const bool says_secret = !client.account.needs_login(request, settings);
  Error error = client.account.authenticate(request, settings);
  if (client.account.number() != number_before) {
    client.forget_selections();
    client.nameless_identity = nullptr;
  }
  client.note_identity();
  if (says_secret && error.code == ErrorCode::not_authenticated) {
    session_.note_wrong_secret(client.presence != nullptr ? client.presence->address() : std::string());
  }
  return error;
}

/// On a failure the id keeps what it meant before.
Begin Admission::open(Client& client, const Open& open, const Settings& settings, Error& error) {
  SharedSelection opened;
  const Begin begin =
      session_.open_selection(description_of(client, open.names, open.names.columns), opened, error);
  if (begin == Begin::ready) {
    if (open.tells_types) {
      column_types_ = std::make_unique<engine::ColumnTypes>();
      if (!session_.column_types(*opened, *column_types_, settings.reply_bytes_max)) {
        error = ErrorCode::reply_too_large;
        return Begin::failed;
      }
    }
    client.set_selection(open.id, std::move(opened), retired_);
  }
  return begin;
}

/// The selection of a find or an insert.
Begin Admission::select(Client& client, const Request& request, const Settings& settings,
                        engine::Selection*& selection, Error& error) {
  error.code = check_request(client, request, settings);
  if (!error.ok()) {
    return Begin::failed;
  }
  const SelectionName& name = selection_of(request);
  engine::Selection* selected = nullptr;
  Begin begin = Begin::ready;
  if (name.names != nullptr) {
    const bool has_none = !name.has_columns && only_counts(request);
    const std::string_view opened_columns = has_none ? std::string_view() : name.names->columns;
    begin =
        select_named(client, *name.names, name.has_columns ? name.columns : opened_columns, selected, error);
  } else {
    selected = client.selection(name.id);
    if (name.has_columns || (only_counts(request) && selected->column_count() > 0)) [[unlikely]] {
      begin = select_columns(client, name.id, name.has_columns ? name.columns : std::string_view(), selected,
                             error);
    }
  }
  if (begin != Begin::ready) {
    return begin;
  }
  error.code = check_against(*selected, request);
  if (!error.ok()) {
    return Begin::failed;
  }
  selection = selected;
  return Begin::ready;
}

/// The selection that was opened under an id, with other columns.
Begin Admission::select_columns(Client& client, uint32_t id, std::string_view columns,
                                engine::Selection*& selection, Error& error) {
  if (engine::Selection* const remembered = client.selection_with_columns(id, columns);
      remembered != nullptr) {
    selection = remembered;
    return Begin::ready;
  }
  if (!each_name_fits(columns)) {
    error.code = ErrorCode::no_such_column;
    return Begin::failed;
  }
  engine::SelectionDescription description = client.selection(id)->description();
  description.columns = columns;
  SharedSelection opened;
  const Begin begin = session_.open_selection(description, opened, error);
  if (begin == Begin::ready) {
    selection = client.remember_columns(id, std::move(opened), retired_);
  }
  return begin;
}

/// A selection that is named in full. The names of one that is remembered were checked when it was opened.
Begin Admission::select_named(Client& client, const SelectionNames& names, std::string_view columns,
                              engine::Selection*& selection, Error& error) {
  selection = client.selection_named(names, columns);
  if (selection != nullptr) {
    return Begin::ready;
  }
  error.code = check_names(names);
  if (error.ok() && !each_name_fits(columns)) {
    error.code = ErrorCode::no_such_column;
  }
  if (!error.ok()) {
    return Begin::failed;
  }
  SharedSelection opened;
  const Begin begin = session_.open_selection(description_of(client, names, columns), opened, error);
  if (begin == Begin::ready) {
    selection = client.remember_names(std::move(opened), retired_);
  }
  return begin;
}

}  // namespace rowsocket::exec
