// SPDX-License-Identifier: GPL-2.0-only
//
// The tables of a session. A table that was opened alone stays open over statements and turns: it stands on
// the shelf until another session wants it, or until the worker sleeps. A table that was opened with others
// is its statement's, and never stands on the shelf.
//
// A table that is given back keeps its metadata lock to the end of the transaction that has used it. For this
// the functions that give back are told the number of the transaction under way (0 = none).
//
// One session owns the shelf, on its thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/invariant.h"
#include "base/room.h"
#include "engine/opened_selections.h"
#include "mariadb/open_table.h"
#include "mariadb/selection.h"
#include "request/counters.h"

namespace rowsocket::mariadb {

class Shelf {
 public:
  /// The list, and the children, outlive the shelf.
  Shelf(THD* thd, Counters* counters, engine::OpenedSelections& opened, ForeignChildren& children)
      : thd_(thd), counters_(counters), children_(children), kept_bytes_(opened) {}

  /// What this session makes of a selection, for requests with this intent. Its table is open or not;
  /// selections of one table share it.
  [[nodiscard]] BoundSelection::Side& side_of(const engine::Selection& selection, engine::Intent intent) {
    BoundSelection* const bound = bound_.find(selection);
    if (bound == nullptr || bound->side(intent).open == nullptr) [[unlikely]] {
      return new_side_of(selection, intent);
    }
    return bound->side(intent);
  }
  /// The index that a selection names, as its table spells it. False if that is not known.
  [[nodiscard]] bool find_index_name(const engine::Selection& selection, std::string& name);
  /// Names of the selection were resolved: what is kept of it takes other memory.
  void note_resolved(const engine::Selection& selection) {
    if (BoundSelection* const bound = bound_.find(selection)) {
      bound->count_kept_bytes();
    }
  }
  /// What the shelf keeps of selections.
  [[nodiscard]] size_t kept_bytes() const { return kept_bytes_.total(); }
  /// Forget it, but for one selection's. No request is under way.
  void forget_others(const engine::Selection* wanted) { bound_.forget_others(wanted); }
  /// Forget what was made of selections that no client has open any more. No request is under way.
  void forget_gone(const engine::OpenedSelections& opened);

  /// Keep a table open that was opened alone. It does not stand here yet.
  void keep(std::shared_ptr<OpenTable> table) {
    if (invariant(table->is_open() && table->is_kept(), "on the shelf stand tables that were opened alone")) {
      kept_.push_back(std::move(table));
    }
  }
  /// One more can be kept without memory for it. May throw std::bad_alloc.
  void make_room() { make_room_in(kept_); }
  [[nodiscard]] bool is_empty() const { return kept_.empty(); }
  /// A lock was not to be had. The session that holds it may itself wait for what stands here, so `yield`
  /// gives back everything.
  void note_conflict() { must_give_back_all_ = true; }

  /// Give back one table. No statement has it locked.
  void give_back(OpenTable& table, uint64_t transaction);
  /// Give back the tables that another session wants.
  void yield(uint64_t transaction);
  void give_back_all(uint64_t transaction);
  /// Give back those that are opened for reading, with their metadata locks, also where the transaction under
  /// way has read from them: it reads no more, and ends.
  void give_back_readers();

 private:
  [[nodiscard]] BoundSelection::Side& new_side_of(const engine::Selection& selection, engine::Intent intent);
  [[nodiscard]] std::shared_ptr<OpenTable> table_named(const engine::SelectionDescription& description,
                                                       engine::Intent intent);
  void close(OpenTable& table, uint64_t transaction);
  template <typename Condition>
  void give_back_each(uint64_t transaction, Condition condition);

  THD* thd_;
  Counters* counters_;
  ForeignChildren& children_;
  std::vector<std::shared_ptr<OpenTable>> kept_;  ///< each is open, alone, and stands here once
  std::unordered_map<std::string, std::weak_ptr<OpenTable>> named_;  ///< that selections use, or used
  size_t named_after_clearing_ = 0;  ///< size of `named_` when it was last rid of tables that are gone
  engine::KeptBytes kept_bytes_;
  engine::SlotTable<BoundSelection> bound_;
  bool must_give_back_all_ = false;
};

}  // namespace rowsocket::mariadb
