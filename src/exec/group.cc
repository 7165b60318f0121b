// SPDX-License-Identifier: GPL-2.0-only
//
// A group: requests of one connection that commit together or not at all. Its reply is one line for its beginning, one for each
// member, one for its end; whether they are successes is known only when the last member has run.
#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "exec/admission.h"
#include "exec/executor.h"

namespace rowsocket::exec {

using engine::Begin;

Executed Executor::execute_group(Client& client, const Request& group, const Protocol& protocol, Buffer& out) {
  Staged admitted{&protocol, &out, out.size(), nullptr, group};
  if (is_put_off(admit_group(client, group, admitted), client, admitted.outcome)) {
    return Executed::parked;
  }
  if (!stage(std::move(admitted))) {  // then nothing was moved
    // NOLINTBEGIN(bugprone-use-after-move)
    admitted.member_indexes.clear();
    admitted.outcome = ErrorCode::out_of_memory;
    admitted.failed_member = group_itself;
    answer_group(admitted);
    counters_.add(counter_of(admitted.outcome.code));
    count(group);
    return Executed::done;
    // NOLINTEND(bugprone-use-after-move)
  }
  Begin begin = staged_.back().can_run() ? run_group(staged_.back()) : Begin::failed;
  if (begin == Begin::commit_first) {
    Staged again = std::move(staged_.back());
    staged_.pop_back();
    settle();
    again.reply_begin = out.size();
    staged_.push_back(std::move(again));  // there was room for it
    begin = run_group(staged_.back());
  }
  if (!invariant(begin != Begin::commit_first, "the first request of a transaction is not asked to be that")) {
    out.fail();
    return Executed::done;
  }
  Staged& staged = staged_.back();
  if (is_put_off(begin, client, staged.outcome)) {
    unstage();
    replay_if_lost();
    return Executed::parked;
  }
  client.parked_since_ms = 0;
  note_lenience(client);
  answer_group(staged);
  return finish(group);
}

/// Decide what depends on no transaction, for the group and each member.
Begin Executor::admit_group(Client& client, const Request& group, Staged& staged) {
  staged.failed_member = group_itself;
  if (client.granted() == Access::none) {
    staged.outcome = ErrorCode::not_authenticated;
  } else {
    staged.outcome = group.parse_error;
  }
  if (!staged.outcome.ok()) {
    return Begin::failed;
  }
  try {
    staged.member_indexes.reserve(group.members.size());
    for (const Request& member : group.members) {
      staged.failed_member = staged.member_indexes.size();
      if (member.kind != RequestKind::find && member.kind != RequestKind::insert) {
        staged.outcome = member.parse_error != ErrorCode::none ? member.parse_error : ErrorCode::not_in_group;
        staged.member_indexes.clear();
        return Begin::failed;
      }
      const SharedIndex* index = nullptr;
      if (const Begin begin = admit(client, member, index, staged.outcome); begin != Begin::ready) {
        staged.member_indexes.clear();
        return begin;
      }
      staged.member_indexes.push_back(*index);
    }
  } catch (...) {
    staged.member_indexes.clear();
    staged.outcome = ErrorCode::out_of_memory;
    staged.failed_member = group_itself;
    return Begin::failed;
  }
  return Begin::ready;
}

/// The whole group in the engine. The replies of a success are appended to `out`; a failure leaves nothing there, nothing
/// changed.
Begin Executor::run_group(Staged& staged) {
  Buffer& out = *staged.out;
  const size_t reply_begin = out.size();
  if (const Begin begin = begin_group(staged); begin != Begin::ready) {
    return begin;
  }
  in_group_ = true;
  group_reply_begin_ = reply_begin;
  staged.protocol->reply_ok(out);
  RowCounts rows;
  Begin begin = run_members(staged, rows);
  in_group_ = false;
  if (begin == Begin::ready && staged.request.wants_gtid) {
    begin = remember_gtid_place(staged);
  }
  if (begin != Begin::ready) {
    session_.abandon_group();
    out.truncate(reply_begin);
    return begin;
  }
  if (staged.outcome = session_.end_group(); !staged.outcome.ok()) {
    staged.failed_member = every_member;
    out.truncate(reply_begin);
    return Begin::failed;
  }
  uncommitted_.add_changes(rows);
  if (!staged.request.wants_gtid) {
    staged.protocol->reply_ok(out);
  }
  return Begin::ready;
}

/// The engine learns of all members before the first one runs: what must wait, waits before anything is done.
Begin Executor::begin_group(Staged& staged) {
  transaction_open_ = true;
  staged.failed_member = group_itself;
  try {
    members_.clear();
    for (size_t number = 0; number < staged.member_indexes.size(); ++number) {
      const Request& member = staged.request.members[number];
      members_.push_back({staged.member_indexes[number].get(), intent_of(member), member.rows_alone});
    }
  } catch (...) {
    staged.outcome = ErrorCode::out_of_memory;
    return Begin::failed;
  }
  size_t failed_member = group_itself;
  const Begin begin = session_.begin_group(members_, failed_member, staged.outcome);
  if (begin != Begin::ready) {
    staged.failed_member = failed_member;
  }
  return begin;
}

/// How large the next reply may be. Those of a group count together, since all of them are held until its end.
size_t Executor::reply_bytes_left(const Buffer& out) const {
  const size_t replied_bytes = in_group_ ? out.size() - group_reply_begin_ : 0;
  return policy_.reply_bytes_max - std::min(replied_bytes, policy_.reply_bytes_max);
}

/// The reply to the end of the group is written when its commit is known.
Begin Executor::remember_gtid_place(Staged& staged) {
  try {
    gtid_places_.push_back({staged.protocol, staged.out, staged.out->size()});
    return Begin::ready;
  } catch (...) {
    staged.outcome = ErrorCode::out_of_memory;
    staged.failed_member = group_itself;
    return Begin::failed;
  }
}

Begin Executor::run_members(Staged& staged, RowCounts& rows) {
  for (size_t number = 0; number < staged.member_indexes.size(); ++number) {
    const Request& member = staged.request.members[number];
    staged.failed_member = number;
    const uint64_t changed_before = rows.changed();
    const auto run_member = member.rows_alone ? &Executor::run_rows_alone : &Executor::run_statement;
    const Begin begin =
        (this->*run_member)(*staged.member_indexes[number], member, *staged.protocol, *staged.out, rows, staged.outcome);
    if (begin != Begin::ready) {
      return begin;
    }
    if (staged.request.must_change && member.writes() && rows.changed() == changed_before) {
      staged.outcome = ErrorCode::nothing_changed;
      return Begin::failed;
    }
  }
  return Begin::ready;
}

/// Write the replies of a group that failed, or of one that has no members and so nothing to run.
void Executor::answer_group(Staged& staged) {
  if (staged.outcome.ok() && staged.can_run()) {
    return;  // the replies are there
  }
  const bool refused = staged.failed_member == group_itself;
  Error of_the_others = refused ? ErrorCode::not_in_group : ErrorCode::undone_with_group;
  Error none;
  const auto answer_line = [&](Error& error) { answer(*staged.protocol, *staged.out, false, error); };
  answer_line(refused ? staged.outcome : none);
  if (staged.failed_member == every_member) {
    of_the_others = staged.outcome;
  }
  for (size_t number = 0; number < staged.request.members.size(); ++number) {
    answer_line(number == staged.failed_member ? staged.outcome : of_the_others);
  }
  if (!staged.outcome.ok()) {
    answer_line(of_the_others);
  } else if (staged.request.wants_gtid) {
    staged.protocol->reply_text(*staged.out, {});
  } else {
    answer_line(none);
  }
}

/// An insert in which each row is a statement of its own. A row that waits for a lock makes all of them wait: those before it are
/// undone with the transaction, so that the request can be presented again. Where they can not be undone, the session has waited
/// as long as it may, and the row has failed.
Begin Executor::run_rows_alone(engine::Index& index, const Request& request, const Protocol& protocol, Buffer& out,
                               RowCounts& rows, Error& error) {
  const size_t reply_begin = out.size();
  const size_t value_count = request.values.size() / request.row_count;
  Request row = request;
  row.row_count = 1;
  RowCounts own_rows;
  protocol.begin_rows(out, 2);
  for (size_t number = 0; number < request.row_count; ++number) {
    row.values = request.values.subspan(number * value_count, value_count);
    Error row_error;
    const Begin begin = run_statement(index, row, protocol, out, own_rows, row_error);
    const bool stays = number > 0 && session_.did_lasting_work();
    const bool is_put_off = begin != Begin::ready && begin != Begin::failed && !stays;
    if (is_put_off && !in_group_ && own_rows.changed() > 0) {
      session_.lose_transaction();
    }
    if (is_put_off || session_.transaction_lost()) {
      error = std::move(row_error);
      out.truncate(reply_begin);
      return begin == Begin::ready ? Begin::failed : begin;
    }
    if (begin != Begin::ready) {
      if (row_error.ok()) {
        row_error = ErrorCode::cannot_lock_table;
      }
      protocol.append_outcome(out, {std::move(row_error), 0, false, 0});
    }
  }
  protocol.end_rows(out);
  rows.add_changes(own_rows);
  return Begin::ready;
}

}  // namespace rowsocket::exec
