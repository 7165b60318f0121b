// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_trail.h"

#include <span>
#include <string>

#include "exec/request_text.h"
#include "exec/request_words.h"
#include "exec/staging.h"

namespace rowsocket::exec {
namespace {

std::span<engine::Selection* const> selections_of(const Job& job) {
  return job.selection != nullptr ? std::span(&job.selection, 1) : std::span(job.member_selections);
}

/// The client as the host knows it; it is made known first, where it has named no account.
const std::shared_ptr<engine::Identity>& identity_of(Client& client, engine::Trail& trail) {
  if (client.account.identity() != nullptr) {
    return client.account.identity();
  }
  if (client.nameless_identity == nullptr) {
    client.nameless_identity =
        trail.introduce(client.presence != nullptr ? client.presence->address() : std::string());
    client.note_identity();
  }
  return client.nameless_identity;
}

engine::Asked asked_by(const Job& job, const std::shared_ptr<engine::Identity>& identity) {
  return {.client = identity,
          .database = database_of(*job.request, *job.client, selections_of(job)),
          .deed = deed_of(*job.request)};
}

/// Of a request whose answer is final; a group's are those of its members.
RowCounts rows_of(const Job& job) {
  RowCounts rows = job.rows;
  for (const RowCounts& of_member : job.member_rows) {
    rows.add_all(of_member);
  }
  return job.outcome.ok() ? rows : rows.undone();
}

/// Those that are over are forgotten, from the first on.
void forget_over(Traces& traces) {
  while (!traces.list.empty() && traces.list.front().is_over) {
    traces.list.pop_front();
    traces.next -= traces.next > 0 ? 1 : 0;
  }
}

}  // namespace

void RequestTrail::receive(Job& job, const Settings& settings) {
  Client& client = *job.client;
  const RequestKind kind = job.request->kind;
  value_bytes_max_ = settings.logged_value_bytes_max;
  if (kind == RequestKind::nothing || kind == RequestKind::authenticate) {
    return;
  }
  job.trace = next_kept(client);
  if (job.trace != nullptr || !is_on() || !client.account.may_read(settings)) {
    return;
  }
  try {
    if (client.traces == nullptr) {
      client.traces = std::make_unique<Traces>();
    }
    Traces& traces = *client.traces;
    job.trace = &traces.list.emplace_back();
    ++traces.next;
    const std::shared_ptr<engine::Identity>& identity = identity_of(client, *trail_);
    job.trace->entry = trail_->received(asked_by(job, identity), [&] {
      return text_of(*job.request, client, selections_of(job), value_bytes_max_);
    });
  } catch (...) {
    return;  // it goes on without: a log that can not be written fails no request
  }
}

/// Of a request that was put back; nullptr where none was, or it came while the host wanted to know of
/// nothing.
Trace* RequestTrail::next_kept(Client& client) const {
  if (client.traces == nullptr) {
    return nullptr;
  }
  Traces& traces = *client.traces;
  if (traces.next < traces.list.size()) {
    return &traces.list[traces.next++];
  }
  if (traces.list.empty() && !is_on()) {
    client.traces.reset();
  }
  return nullptr;
}

void RequestTrail::follow(const Job& job) {
  if (is_on()) {
    trail_->follow(job.trace->entry.get());
  }
}

void RequestTrail::follow_none() {
  if (is_on()) {
    trail_->follow(nullptr);
  }
}

void RequestTrail::keep(Job& job) {
  job.client->traces->next = 0;  // those before it are over
  job.trace = nullptr;
}

void RequestTrail::end(Job& job) {
  Trace& trace = *job.trace;
  Client& client = *job.client;
  job.trace = nullptr;
  const RowCounts rows = rows_of(job);
  try {
    if (trace.entry != nullptr && is_on()) {
      trail_->ended(*trace.entry, asked_by(job, identity_of(client, *trail_)),
                    {.error = job.outcome,
                     .rows_examined = rows.read,
                     .rows_told = rows.told,
                     .rows_changed = rows.changed(),
                     .reply_bytes = trace.reply_bytes,
                     .hides_values = value_bytes_max_ == 0},
                    [&] { return text_of(*job.request, client, selections_of(job), value_bytes_max_); });
    }
  } catch (...) {
    trace.entry = nullptr;  // as above
  }
  trace.is_over = true;
  forget_over(*client.traces);
}

}  // namespace rowsocket::exec
