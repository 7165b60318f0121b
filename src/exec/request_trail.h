// SPDX-License-Identifier: GPL-2.0-only
//
// Tells the host's logs of each request once, however often it runs: when it comes, and when its answer is
// final. A request that is put back keeps its trace with its client until it is presented again.
//
// Where the host wants to know of nothing, a request gets no trace. One that was put back before keeps its
// own: so it is told of once also where the host looks away meanwhile, and again. If it ends meanwhile, its
// end is not told.
//
// Logins are not told: the host has logged them itself. Nor is what asks for nothing (a PING, a command that
// waits for its EXEC), and what comes from clients that may do nothing before they have logged in: a client
// that can not log in can not fill a log.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/trail.h"
#include "exec/client.h"
#include "exec/trace.h"
#include "request/settings.h"

namespace rowsocket::exec {

struct Job;

class RequestTrail {
 public:
  explicit RequestTrail(engine::Session& session) : session_(session) {}

  void begin_turn() { trail_ = session_.trail(); }
  void end_turn() {
    if (trail_ != nullptr) [[unlikely]] {
      trail_->end_turn();
    }
  }
  /// False where a request of this client gets no trace and has none.
  [[nodiscard]] bool concerns(const Client& client) const { return is_on() || client.traces != nullptr; }

  /// A request of a client that it concerns is presented. It gets its trace.
  void receive(Job& job, const Settings& settings);

  // Each of these is for a job with a trace.

  /// What the session does from here on is done for this job.
  void follow(const Job& job);
  void follow_none();
  /// It will be presented again. In any order of a client's requests.
  static void keep(Job& job);
  /// The answer is final.
  void end(Job& job);

 private:
  /// Of this turn: the host wants to know of requests.
  [[nodiscard]] bool is_on() const { return trail_ != nullptr; }
  [[nodiscard]] Trace* next_kept(Client& client) const;

  engine::Session& session_;
  engine::Trail* trail_ = nullptr;
  size_t value_bytes_max_ = 0;
};

}  // namespace rowsocket::exec
