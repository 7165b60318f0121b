// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/foreign_key_children.h"
#include "mariadb/galera.h"

namespace rowsocket::mariadb {
namespace {

Opening lock_name(THD* thd, const std::string& database, const std::string& name, MDL_ticket*& ticket, Error& error) {
  MDL_request request;
  MDL_REQUEST_INIT(&request, MDL_key::TABLE, database.c_str(), name.c_str(), MDL_SHARED_READ, MDL_EXPLICIT);
  if (thd->mdl_context.try_acquire_lock(&request)) {
    error = take_server_error(thd, ErrorCode::cannot_lock_table);
    return Opening::failed;
  }
  ticket = request.ticket;
  return ticket != nullptr ? Opening::ready : Opening::wait;
}

bool is_missing(const Error& error) { return error.number == ER_NO_SUCH_TABLE || error.number == ER_NO_SUCH_TABLE_IN_ENGINE; }

}  // namespace

bool ForeignKeyChildren::is_named(const FOREIGN_KEY_INFO& key, bool may_change) const {
  return std::any_of(children_.begin(), children_.end(), [&](const auto& child) {
    return child->may_change >= may_change && child->name == key.foreign_table->str && child->database == key.foreign_db->str;
  });
}

bool ForeignKeyChildren::name_children_of(THD* thd, TABLE* parent, Error& error) {
  if (!parent->file->referenced_by_foreign_key()) [[likely]] {
    return true;
  }
  List<FOREIGN_KEY_INFO> keys;
  parent->file->get_parent_foreign_key_list(thd, &keys);
  if (thd->is_error()) {
    error = take_server_error(thd, ErrorCode::cannot_open_table);
    return false;
  }
  List_iterator_fast<FOREIGN_KEY_INFO> next(keys);
  while (FOREIGN_KEY_INFO* const key = next++) {
    if (!Galera::protect_child(thd, key)) {
      error = Error(ErrorCode::cannot_lock_table);
      return false;
    }
    const bool may_change = fk_modifies_child(key->delete_method) || fk_modifies_child(key->update_method);
    if (!is_named(*key, may_change)) {
      auto child = std::make_unique<Child>();
      child->database = key->foreign_db->str;
      child->name = key->foreign_table->str;
      child->may_change = may_change;
      children_.push_back(std::move(child));
    }
  }
  return true;
}

Opening ForeignKeyChildren::open(THD* thd, TABLE* parent, Error& error) {
  const auto open_child = [&](Child& child) {
    if (!child.may_change) {
      return lock_name(thd, child.database, child.name, child.ticket, error);
    }
    const LEX_CSTRING database = {child.database.c_str(), child.database.size()};
    const LEX_CSTRING name = {child.name.c_str(), child.name.size()};
    child.list.init_one_table(&database, &name, nullptr, TL_WRITE);
    child.list.open_type = OT_BASE_ONLY;
    child.list.prelocking_placeholder = TABLE_LIST::PRELOCK_FK;  // by this the engine finds it
    child.list.mdl_request.duration = MDL_EXPLICIT;
    const Opening opening = open_without_waiting(thd, child.list, error);
    if (opening == Opening::failed && is_missing(error)) {  // dropped with foreign_key_checks off: as in SQL, nobody's error
      return lock_name(thd, child.database, child.name, child.ticket, error);
    }
    child.table = child.list.table;
    child.ticket = child.list.mdl_request.ticket;
    return opening;
  };

  bool named = name_children_of(thd, parent, error);
  for (size_t i = 0; named && i < children_.size(); ++i) {
    Child& child = *children_[i];
    const Opening opening = child.ticket != nullptr ? Opening::ready : open_child(child);
    if (opening != Opening::ready) {
      close(thd);
      return opening;
    }
    named = child.table == nullptr || name_children_of(thd, child.table, error);
  }
  if (!named) {
    close(thd);
  }
  return named ? Opening::ready : Opening::failed;
}

void ForeignKeyChildren::close(THD* thd) {
  if (children_.empty()) [[likely]] {
    return;
  }
  for (const auto& child : children_) {
    close_and_release(thd, child->table, child->ticket);
  }
  children_.clear();
  thd->set_query_id(next_query_id());  // InnoDB remembers a child's open table for as long as the query's id stays
}

bool ForeignKeyChildren::are_wanted_by_others() const {
  return std::any_of(children_.begin(), children_.end(), [](const auto& child) {
    const bool is_waited_for = child->ticket != nullptr && child->ticket->has_pending_conflicting_lock();
    return is_waited_for || (child->table != nullptr && child->table->s->tdc->flushed);
  });
}

}  // namespace rowsocket::mariadb
