// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <new>
#include <utility>

#include "base/limits.h"
#include "mariadb/shelf.h"

namespace rowsocket::mariadb {

using engine::Intent;

namespace {

/// Drop the entries of what is gone, now and then: clients decide how many names they try.
template <typename Map>
void forget_expired(Map& map, size_t& size_after_clearing) {
  if (map.size() < std::max<size_t>(limits::names_cleared_min, 2 * size_after_clearing)) {
    return;
  }
  std::erase_if(map, [](const auto& entry) { return entry.second.expired(); });
  size_after_clearing = map.size();
}

}  // namespace

std::shared_ptr<OpenTable> Shelf::table_named(const engine::SelectionDescription& description,
                                              Intent intent) {
  std::string key =
      description.database + '\0' + description.table + '\0' + (intent == Intent::read ? 'r' : 'w');
  forget_expired(named_, named_after_clearing_);
  std::weak_ptr<OpenTable>& known = named_[key];
  std::shared_ptr<OpenTable> table = known.lock();
  if (table == nullptr) {
    table = std::make_shared<OpenTable>(description.database, description.table,
                                        intent == Intent::read ? intent : Intent::write, children_);
    known = table;
  }
  return table;
}

BoundSelection::Side& Shelf::new_side_of(const engine::Selection& selection, Intent intent) {
  BoundSelection* bound = bound_.find(selection);
  if (bound == nullptr) {
    bound = &bound_.add(selection);
    bound->kept.count_in(kept_bytes_);
  }
  BoundSelection::Side& side = bound->side(intent);
  side.open = table_named(selection.description(), intent);
  bound->count_kept_bytes();
  return side;
}

bool Shelf::find_index_name(const engine::Selection& selection, std::string& name) {
  BoundSelection* const bound = bound_.find(selection);
  if (bound == nullptr) {
    return false;
  }
  const Binding& binding = bound->read.binding.generation != 0 ? bound->read.binding : bound->write.binding;
  name = binding.index_name;
  return binding.generation != 0;
}

void Shelf::forget_gone(const engine::OpenedSelections& opened) {
  try {
    bound_.forget_gone(opened);
  } catch (const std::bad_alloc&) {
    return;  // they are forgotten another time
  }
}

void Shelf::close(OpenTable& table, uint64_t transaction) {
  table.close(thd_, transaction);
  counters_->add(Counter::metadata_lock_releases);
}

void Shelf::give_back(OpenTable& table, uint64_t transaction) {
  close(table, transaction);
  std::erase_if(kept_, [&table](const auto& kept) { return kept.get() == &table; });
}

void Shelf::yield(uint64_t transaction) {
  if (must_give_back_all_) {
    give_back_all(transaction);
    return;
  }
  give_back_each(transaction, [](const OpenTable& table) { return table.is_to_be_closed(); });
}

void Shelf::give_back_readers() {
  give_back_each(0, [](const OpenTable& table) { return table.intent() == Intent::read; });
}

template <typename Condition>
void Shelf::give_back_each(uint64_t transaction, Condition condition) {
  for (size_t i = 0; i < kept_.size();) {
    if (condition(*kept_[i])) {
      close(*kept_[i], transaction);
      kept_[i] = std::move(kept_.back());
      kept_.pop_back();
    } else {
      ++i;
    }
  }
}

void Shelf::give_back_all(uint64_t transaction) {
  must_give_back_all_ = false;
  for (const auto& table : kept_) {
    close(*table, transaction);
  }
  kept_.clear();
}

}  // namespace rowsocket::mariadb
