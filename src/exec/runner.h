// SPDX-License-Identifier: GPL-2.0-only
//
// Runs one request, or one group, on the engine, and tells its reply what happened. A success is told in
// full; a failure leaves nothing in the output and nothing changed, and the caller tells it.
// It knows the transaction that requests are part of, and nothing of staging: a request that runs again is a
// new one to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "exec/request_bounds.h"
#include "exec/row_counts.h"
#include "exec/transaction.h"
#include "exec/walk.h"
#include "request/request.h"

namespace rowsocket::exec {

class Runner {
 public:
  /// `takes_long`: see RequestBounds.
  Runner(engine::Session& session, Transaction& transaction, const Clock& clock,
         RequestBounds::TakesLong takes_long = {})
      : session_(session),
        transaction_(transaction),
        bounds_(clock, [this, said = std::move(takes_long)](uint64_t gone_on_us) {
          return !said || said(gone_on_us) || !transaction_.may_run_again();
        }) {}

  /// How large a reply may be. Those of a group's members count together, since all of them are held until
  /// its end.
  void set_reply_bytes_max(size_t reply_bytes_max) { reply_bytes_max_ = reply_bytes_max; }

  /// The same of the rows that a request may look at, and of how long it may do so; 0 = no limit.
  void set_bounds(uint64_t rows_max, uint64_t request_ms_max) {
    bounds_.set_limits(rows_max, request_ms_max);
  }
  /// What is run from now on is a request of this client, or a group. nullptr = the client always counts as
  /// there.
  void begin(const Presence* client, GivenUp before = {}) {
    bounds_.begin(client, before);
    has_lone_rows_ = false;
  }
  /// It may be given up where it takes long and keeps others waiting: it runs again later.
  void let_be_given_up(bool may_be) { bounds_.let_be_given_up(may_be); }
  /// When the first try of what runs began.
  [[nodiscard]] uint64_t first_began_us() const { return bounds_.first_began_us(); }
  /// Its client has gone, and it saw that by itself.
  [[nodiscard]] bool has_client_left() const { return bounds_.has_client_left(); }
  /// What was begun is over.
  void end() {
    const uint64_t us = bounds_.asked_for_us();
    const bool can_be_undone = !has_lone_rows_ && transaction_.may_run_again();
    walked_.us += us;
    walked_.stuck_us = std::max(walked_.stuck_us, can_be_undone ? bounds_.longest_silence_us() : us);
  }
  /// What a short request takes is not measured.
  struct Walked {
    uint64_t us = 0;
    /// Of that, the longest part in which a request could not be given up: between two questions, or all of
    /// it.
    uint64_t stuck_us = 0;
  };
  /// How long requests have walked since this was last asked.
  [[nodiscard]] Walked take_walked() { return std::exchange(walked_, {}); }

  /// A find or an insert. `rows` is empty before, and says what it did where it succeeds; of a failure, what
  /// it read.
  [[nodiscard]] engine::Begin run(engine::Selection& selection, const Request& request, RowCounts& rows,
                                  Error& error);
  /// A group with at least one member, and `rows` of each. `failed_member` is for Reply::group_failed.
  [[nodiscard]] engine::Begin run_group(const Group& group, std::span<engine::Selection* const> selections,
                                        std::span<RowCounts> rows, size_t& failed_member, Error& error);

  /// Since it was forgotten: a request held, or the engine took, what a strict server would refuse.
  [[nodiscard]] bool was_lenient() const { return is_lenient_; }
  void forget_lenience() { is_lenient_ = false; }
  /// What is run from now on commits each row that is for itself, since a row that fails takes those before
  /// it along. It is alone in its transaction.
  void part_rows(bool parts) { parts_rows_ = parts; }
  /// A row that was for itself has failed and taken the others along: the request is to be run again so.
  [[nodiscard]] bool must_part_rows() const { return parts_rows_; }
  /// How many since this was last asked.
  [[nodiscard]] uint64_t take_rows_read() { return std::exchange(rows_read_, 0); }

 private:
  [[nodiscard]] engine::Begin run_any(engine::Selection& selection, const Request& request, RowCounts& rows,
                                      Error& error);
  [[nodiscard]] engine::Begin run_whole(engine::Selection& selection, const Request& request, RowCounts& rows,
                                        Error& error);
  template <typename RunOn>
  [[nodiscard]] engine::Begin run_statement(engine::Selection& selection, const Request& request,
                                            RowCounts& rows, Error& error, const RunOn& run_on);
  [[nodiscard]] engine::Begin run_rows_alone(engine::Selection& selection, const Insert& insert,
                                             RowCounts& rows, Error& error);
  [[nodiscard]] engine::Begin run_next_row(engine::Selection& selection, const Insert& insert, size_t number,
                                           RowCounts& rows, Error& error);
  [[nodiscard]] engine::Begin run_row_and_commit(engine::Selection& selection, const Insert& insert,
                                                 size_t number, RowCounts& rows, RowOutcome& outcome);
  [[nodiscard]] bool ends_with_row(engine::Begin begin, const RowOutcome& outcome) const;
  [[nodiscard]] bool commit_row(RowOutcome& outcome);
  [[nodiscard]] bool may_wait_on();
  [[nodiscard]] engine::Begin run_row_alone(engine::Selection& selection, const Insert& insert, size_t number,
                                            RowCounts& rows, RowOutcome& outcome);
  [[nodiscard]] size_t reply_bytes_left(const Buffer& out) const;

  [[nodiscard]] engine::Begin begin_group(const Group& group, std::span<engine::Selection* const> selections,
                                          size_t& failed_member, Error& error);
  [[nodiscard]] engine::Begin run_members(const Group& group, std::span<engine::Selection* const> selections,
                                          std::span<RowCounts> rows, size_t& failed_member, Error& error);
  [[nodiscard]] engine::Begin begin_of_end(Error& error) const;
  [[nodiscard]] engine::Begin tell_group_end(const Group& group, size_t& failed_member, Error& error);

  engine::Session& session_;
  Transaction& transaction_;
  RequestBounds bounds_;
  size_t reply_bytes_max_ = 0;
  bool is_lenient_ = false;
  bool parts_rows_ = false;
  uint64_t rows_read_ = 0;
  Walked walked_;
  bool is_further_row_ = false;  ///< the statement under way is of one, see engine::Use
  bool has_lone_rows_ = false;   ///< some may be committed before its end
  bool in_group_ = false;
  size_t group_reply_begin_ = 0;  ///< where the replies of the group that is under way begin
  WalkScratch scratch_;           ///< memory of walks, kept so that it need not be allocated again
  std::vector<engine::GroupMember> members_;  ///< the same of a group
};

}  // namespace rowsocket::exec
