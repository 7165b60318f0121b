// SPDX-License-Identifier: GPL-2.0-only
//
// Whether the next request of a connection is executed in this turn. Three questions, in this order:
//
//   login ..... the client names an account: the request waits until the host has decided (logins.h)
//   entry ..... a client that names no account comes in with the first request that the anonymous account may
//               ask. It has come as this account wants it, and takes a seat of it. A client too many is told
//               so, and its stream ends
//   place ..... the account has its number of requests under way: the request is held back (allotments.h)
//
// A request that waits is parsed again in a later turn. What a request may do once it is executed is decided
// in src/exec.
//
// The host may be busy with its accounts when it is asked for the second. So another thread may take over the
// loop meanwhile, as while a request is executed.
//
// One turn's, on its thread. Allocates in the turn's arena only.
#pragma once

#include "base/arena.h"
#include "engine/engine.h"
#include "exec/executor.h"
#include "request/counters.h"
#include "request/request.h"
#include "request/settings.h"
#include "server/client_connection.h"
#include "server/logins.h"
#include "server/loop_token.h"

namespace rowsocket::server {

class Gate {
 public:
  /// What a turn has, and what outlives the gate.
  struct Surroundings {
    engine::Session& session;
    Counters& counters;
    LoginDesk* desk;  ///< of the loop; nullptr: every login is refused
    Arena& arena;
    const exec::Executor& executor;
    LoopHold& hold;
  };
  explicit Gate(const Surroundings& surroundings) : turn_(surroundings) {}

  /// True if `request` is to be executed now; it may have become another one, which is refused in its place.
  /// False: the connection's state says what it waits for, or that its stream ends. `has_entered`: the
  /// request was let pass before, and still has its place. May throw std::bad_alloc.
  [[nodiscard]] bool lets_pass(ClientConnection& connection, const Request*& request,
                               const Settings& settings, bool has_entered) {
    const bool is_asked_nothing = connection.membership.seat.load() != nullptr &&
                                  request->kind != RequestKind::authenticate &&
                                  settings.account_requests_max == 0;
    return is_asked_nothing || lets_pass_after_questions(connection, request, settings, has_entered);
  }

 private:
  [[nodiscard]] bool lets_pass_after_questions(ClientConnection& connection, const Request*& request,
                                               const Settings& settings, bool has_entered);
  [[nodiscard]] bool waits_for_login(ClientConnection& connection, const Request& request,
                                     const Settings& settings);
  [[nodiscard]] bool lets_in(ClientConnection& connection, const Request*& request, const Settings& settings);
  [[nodiscard]] engine::Admittance admittance_of(const ClientConnection& connection);
  [[nodiscard]] bool takes_seat(ClientConnection& connection, const Request*& request,
                                const Settings& settings);
  [[nodiscard]] const Request* refused_before_login(const Request& request);
  [[nodiscard]] static bool is_held_back(ClientConnection& connection, const Request& request,
                                         const Settings& settings);

  const Surroundings turn_;
};

}  // namespace rowsocket::server
