// SPDX-License-Identifier: GPL-2.0-only
#include "exec/transaction.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rowsocket::exec {

void Transaction::remember_gtid_place(Reply& reply) {
  const size_t position = reply.out().size();
  const bool is_first = gtid_places_.empty() || &gtid_places_.back().reply->out() != &reply.out();
  if (!invariant(is_first || gtid_places_.back().position <= position,
                 "the places for GTIDs rise within an output")) {
    reply.out().give_up();
  }
  gtid_places_.push_back({&reply, position});
}

/// `commit` may throw.
template <typename Commit>
Error Transaction::timed(Commit commit) {
  const bool has_changed = this->has_changed();
  if (has_changed && notices_.begins) {
    notices_.begins();
  }
  const uint64_t began_ticks = clock_.ticks();
  is_committing_ = true;
  Error error;
  try {
    error = commit();
  } catch (...) {
    error = ErrorCode::out_of_memory;
  }
  is_committing_ = false;
  const uint64_t ended_ticks = clock_.ticks();
  const uint64_t ticks = ended_ticks - std::min(ended_ticks, began_ticks);  // two cores may differ by a few
  commit_ticks_ += ticks;
  if (has_changed && notices_.ended) {
    notices_.ended(clock_.us_of(ticks));
  }
  return error;
}

Committed Transaction::commit() {
  if (!invariant(is_open_, "a transaction is committed that was begun")) {
    return {.error = ErrorCode::commit_failed};
  }
  const bool did_write = writes_;
  const bool could_run_again = may_run_again();  // before the session forgets
  Committed committed{.error = timed([this] { return session_.commit(); })};
  if (committed.error.ok()) {
    counters_.add(Counter::rows_inserted, uncommitted_.inserted);
    counters_.add(Counter::rows_updated, uncommitted_.updated);
    counters_.add(Counter::rows_deleted, uncommitted_.deleted);
    counters_.add(Counter::commits, uncommitted_.changed() > 0 ? 1 : 0);
    fill_in_gtids();
    forget();
    return committed;
  }
  counters_.add(Counter::commit_failures, did_write ? 1 : 0);
  const Reason reason = committed.error.reason;
  committed.worth_another_try =
      could_run_again && reason != Reason::unknown_outcome && (is_lost() || reason != Reason::none);
  roll_back();
  return committed;
}

Error Transaction::commit_and_go_on() {
  const Error error = timed([this] { return is_lost() ? session_.loss() : session_.commit_and_go_on(); });
  if (!error.ok()) {
    counters_.add(Counter::commit_failures);
    roll_back();
    static_cast<void>(session_.commit_and_go_on());  // of nothing: the request still must not run again
  }
  is_open_ = writes_ = goes_on_ = true;
  return error;
}

void Transaction::roll_back() {
  ++rollback_count_;
  session_.rollback();
  forget();
}

void Transaction::forget() {
  gtid_places_.clear();
  is_open_ = writes_ = goes_on_ = false;
  uncommitted_ = {};
}

/// The commit is known: say so where it was asked. Places that follow each other in one output are filled in
/// together, so that every byte behind them moves once.
void Transaction::fill_in_gtids() {
  while (!gtid_places_.empty()) {
    const Buffer& out = gtid_places_.back().reply->out();
    const auto is_elsewhere = [&out](const GtidPlace& place) { return &place.reply->out() != &out; };
    const auto before = std::find_if(gtid_places_.rbegin(), gtid_places_.rend(), is_elsewhere);
    fill_in(static_cast<size_t>(gtid_places_.rend() - before));
    gtid_places_.erase(before.base(), gtid_places_.end());
  }
}

/// From `first_place` on all are in one output.
void Transaction::fill_in(size_t first_place) {
  Buffer& out = gtid_places_[first_place].reply->out();
  Buffer texts;
  for (size_t number = first_place; number < gtid_places_.size(); ++number) {
    GtidPlace& place = gtid_places_[number];
    place.reply->committed(texts, session_.last_commit_gtid());
    place.text_end = texts.size();
  }
  if (texts.failed()) [[unlikely]] {
    out.give_up();  // a reply that is not there must not be taken for the next one
  }
  size_t moved_end = out.size();
  if (!invariant(gtid_places_.back().position <= moved_end, "a GTID stands within its reply's output")) {
    out.give_up();
  }
  if (out.failed() || texts.empty() || !out.reserve(texts.size())) {
    return;
  }
  out.advance(texts.size());
  for (size_t number = gtid_places_.size(); number > first_place; --number) {
    const GtidPlace& place = gtid_places_[number - 1];
    const size_t text_begin = number - 1 == first_place ? 0 : gtid_places_[number - 2].text_end;
    char* const here = out.data() + place.position;
    std::memmove(here + place.text_end, here, moved_end - place.position);
    std::memcpy(here + text_begin, texts.data() + text_begin, place.text_end - text_begin);
    moved_end = place.position;
  }
}

}  // namespace rowsocket::exec
