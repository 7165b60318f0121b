// SPDX-License-Identifier: GPL-2.0-only
//
// What exec remembers of one connection: what it may do, and the selections that it opened. An opened
// selection is an engine::Selection.
//
// A request that waits for its commit holds plain pointers to selections. So nothing that is taken out of
// here goes at once: it is put on the executor's list of retired selections, which lives until the turn ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/published.h"
#include "engine/engine.h"
#include "engine/opened_selections.h"
#include "exec/account.h"
#include "exec/quick_writes.h"
#include "exec/request_bounds.h"
#include "exec/trace.h"
#include "request/request.h"

namespace rowsocket::exec {

using SharedSelection = std::shared_ptr<engine::Selection>;
using RetiredSelections = std::vector<SharedSelection>;

/// The last few selections that single requests named. A new one takes the place of the oldest.
class RecentSelections {
 public:
  /// The first one of which `matches` is true of its description; nullptr if there is none.
  template <typename Matches>
  [[nodiscard]] engine::Selection* find(Matches matches) const {
    for (const SharedSelection& selection : selections_) {
      if (matches(selection->description())) {
        return selection.get();
      }
    }
    return nullptr;
  }
  /// At most `count_max` are kept. May throw std::bad_alloc; then nothing has changed.
  engine::Selection* add(SharedSelection selection, size_t count_max, RetiredSelections& retired);
  /// May throw std::bad_alloc; then nothing has changed.
  void retire_all(RetiredSelections& retired);
  [[nodiscard]] size_t held_bytes() const;
  /// The same selections, of this list. May throw std::bad_alloc.
  [[nodiscard]] RecentSelections in(engine::OpenedSelections& list) const;

 private:
  std::vector<SharedSelection> selections_;  ///< the oldest first
};

class Client {
  struct Opened {
    SharedSelection selection;
    RecentSelections with_columns;
  };

 public:
  explicit Client(Account who) : account(std::move(who)) {}

  Account account;
  /// For readers on other threads.
  Published<uint64_t> requests_answered = 0;
  /// The same: its number in the host's logs; 0 = it has none there.
  Published<uint64_t> log_number = 0;
  /// It has asked for so little that nobody knows how long its requests take. One that is expected to take
  /// long is put off ...
  bool is_unknown = false;
  /// ... unless the client comes behind all others already.
  bool comes_behind = false;
  /// While it was unknown, something that it asked took long by itself. So what it asks quickly says nothing
  /// of others.
  bool has_taken_long = false;
  QuickWrites quick_writes;
  /// Its next writes are expected to take long, as one of it did, until the commits before them have taken
  /// so long.
  uint64_t long_us_left = 0;
  /// Knows whether the client is still there; nullptr = the client always counts as there.
  const Presence* presence = nullptr;
  // See there. Where nobody knows, it is there.
  [[nodiscard]] bool is_killed() const { return presence != nullptr && presence->is_killed(); }
  [[nodiscard]] bool is_lost() const { return presence != nullptr && presence->is_lost(); }
  /// Its request at this position was ended early, or was not begun, since it has gone or was killed: nothing
  /// that it asked behind that is begun. Of its last turn.
  std::optional<size_t> left_at;
  /// As the host's logs know it while it has named no account; nullptr = they have not been told of it.
  std::shared_ptr<engine::Identity> nameless_identity;

  /// The name that the host's logs have of it has changed.
  void note_identity() {
    const engine::Identity* const known =
        account.identity() != nullptr ? account.identity().get() : nameless_identity.get();
    log_number = known == nullptr ? 0 : known->log_number();
  }

  /// What was opened under this id; nullptr if nothing was.
  [[nodiscard]] engine::Selection* selection(uint32_t id) const {
    return id < opened_.size() ? opened_[id].selection.get() : nullptr;
  }
  /// May throw std::bad_alloc; then the id means what it meant.
  void set_selection(uint32_t id, SharedSelection selection, RetiredSelections& retired);

  // The same selection with another list of columns, for single requests.

  [[nodiscard]] engine::Selection* selection_with_columns(uint32_t id, std::string_view columns) const;
  /// May throw std::bad_alloc.
  engine::Selection* remember_columns(uint32_t id, SharedSelection selection, RetiredSelections& retired);

  // Selections that requests name in full.

  /// `columns` take the place of the names' own.
  [[nodiscard]] engine::Selection* selection_named(const SelectionNames& names,
                                                   std::string_view columns) const;
  /// May throw std::bad_alloc.
  engine::Selection* remember_names(SharedSelection selection, RetiredSelections& retired);

  /// How much memory what it opened takes, as if no other client shared it.
  [[nodiscard]] size_t held_bytes() const { return held_bytes_; }
  /// How much its lists take, which it shares with no other client.
  [[nodiscard]] size_t list_bytes() const {
    return opened_.capacity() * sizeof(Opened) + generated_ids.capacity() * sizeof(engine::GeneratedId);
  }
  /// It is closed, and no request of it is under way: nothing is open any more.
  void forget_selections();
  /// No request of it is under way. Sessions with this list run its requests from now on. May throw
  /// std::bad_alloc; then nothing has changed.
  void move_selections(engine::OpenedSelections& list);

  /// It sent something that is served though a strict server would refuse it. True the first time.
  [[nodiscard]] bool note_lenience() { return !std::exchange(is_lenient_, true); }

  // Requests that wait for a lock, or for a thread.

  /// In this turn: the request at this position (see Executor::execute), and those behind it, are undone, and
  /// nothing is told of them. The caller that presents requests takes the position out, and presents them
  /// again in a later turn.
  std::optional<size_t> put_back_at;
  /// What was put back takes long, and no other thread was free for it: it has to wait for no lock.
  bool lacks_thread = false;
  /// The tries of its first request that ended so.
  GivenUp given_up;
  /// When the request that waits was first tried; 0 = none waits.
  uint64_t parked_since_ms = 0;
  /// Its next request was put back.
  [[nodiscard]] bool was_put_back() const { return parked_since_ms != 0 || given_up.count > 0; }
  /// A try of its first request has taken long by itself.
  bool tries_take_long = false;
  /// It has waited on a thread of its own.
  bool has_waited_alone = false;
  /// Until when it may wait for what it found locked last.
  uint64_t waits_until_ms = 0;
  /// What the request that waits was given when it was last tried (see engine::Session::begin_inserts).
  std::vector<engine::GeneratedId> generated_ids;
  /// Requests of it wait for the commit.
  bool is_staged = false;
  /// For the host's logs, of requests that have no final answer; nullptr: none has ever had one.
  std::unique_ptr<Traces> traces;

 private:
  engine::Selection* remember(RecentSelections& recent, SharedSelection selection, size_t count_max,
                              RetiredSelections& retired);

  bool is_lenient_ = false;
  size_t held_bytes_ = 0;
  std::vector<Opened> opened_;  ///< by id
  RecentSelections named_;
};

}  // namespace rowsocket::exec
