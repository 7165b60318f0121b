// SPDX-License-Identifier: GPL-2.0-only
//
// The transaction around a turn's requests: what they did together since the last commit or rollback. It
// knows no request; it only remembers where replies are to say the GTID of the commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "engine/engine.h"
#include "exec/row_counts.h"
#include "request/counters.h"
#include "request/reply.h"

namespace rowsocket::exec {

/// How a commit ended.
struct [[nodiscard]] Committed {
  Error error = {};  ///< ok, or why everything since the last commit is undone
  bool worth_another_try =
      false;  ///< of a failure: what the transaction did may succeed when it is done again
};

class Transaction {
 public:
  /// Of commits of changes; either may be empty.
  struct Notices {
    std::function<void()> begins;            ///< it may take as long as a disk, or replicas, take
    std::function<void(uint64_t us)> ended;  ///< and took so long
  };

  Transaction(engine::Session& session, Counters& counters, const Clock& clock, Notices notices = {})
      : session_(session), counters_(counters), clock_(clock), notices_(std::move(notices)) {}

  /// A request is about to begin. Whatever comes of it: locks that it takes on the way are given back with
  /// the turn.
  void note_request() { is_open_ = true; }
  /// A request that may change rows has begun.
  void note_write() { writes_ = true; }
  /// A request that succeeded has changed so many rows.
  void add(const RowCounts& rows) { uncommitted_.add_changes(rows); }

  [[nodiscard]] bool is_open() const { return is_open_; }
  /// How long all commits took, those that failed included: see Clock::ticks.
  [[nodiscard]] uint64_t commit_ticks() const { return commit_ticks_; }
  /// For the thread that commits, in the middle of it.
  [[nodiscard]] bool is_committing() const { return is_committing_; }
  /// How often all that was done since the last commit was undone.
  [[nodiscard]] uint64_t rollback_count() const { return rollback_count_; }
  /// Rows have changed in it.
  [[nodiscard]] bool has_changed() const { return uncommitted_.changed() > 0; }
  /// True if it should be committed before the next request.
  [[nodiscard]] bool is_full() const {
    return uncommitted_.changed() >= limits::rows_per_transaction || session_.wants_commit();
  }
  /// The engine rolled it back, or it can not be kept: `roll_back` is what remains to be done.
  [[nodiscard]] bool is_lost() const { return session_.transaction_lost(); }
  /// False if it changed what no rollback takes back. Then the request that did it must not run again.
  [[nodiscard]] bool may_run_again() const { return !session_.did_lasting_work(); }

  /// The GTID of the commit is to stand where the output of the reply ends now. May throw std::bad_alloc.
  void remember_gtid_place(Reply& reply);
  /// The request of the last place was undone.
  void forget_last_gtid_place() {
    if (invariant(!gtid_places_.empty(), "a place for a GTID is forgotten that was remembered")) {
      gtid_places_.pop_back();
    }
  }

  /// One is open.
  Committed commit();
  /// In the middle of a request that must not run again. An error: what was done since the last commit is
  /// undone, as far as it can be.
  [[nodiscard]] Error commit_and_go_on();
  /// That was done, or tried, in the request that is under way.
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  void roll_back();

 private:
  struct GtidPlace {
    Reply* reply;
    size_t position;      ///< in its output
    size_t text_end = 0;  ///< of what the reply says, in the texts of all places of the same output
  };

  template <typename Commit>
  [[nodiscard]] Error timed(Commit commit);
  void fill_in_gtids();
  void fill_in(size_t first_place);
  void forget();

  engine::Session& session_;
  Counters& counters_;
  const Clock& clock_;
  const Notices notices_;
  uint64_t commit_ticks_ = 0;
  bool is_committing_ = false;
  uint64_t rollback_count_ = 0;
  bool is_open_ = false;                ///< something began since the last commit or rollback
  bool writes_ = false;                 ///< and it may have changed rows
  bool goes_on_ = false;                ///< behind a commit in the middle of a request
  RowCounts uncommitted_;               ///< rows changed by it
  std::vector<GtidPlace> gtid_places_;  ///< in order of execution: ascending within each output
};

}  // namespace rowsocket::exec
