// SPDX-License-Identifier: GPL-2.0-only
//
// Logins that wait, and which of them is tried next. A party (an IPv4 address, a network of IPv6, a local
// user) claims to be an account. How often it may guess is counted per claim, per party and in all
// (guesses.h). Claims of one lane take turns, and the lanes come one after the other:
//
//   proven ....... this party has been this account before, and owes nothing for wrong guesses since
//   plausible .... another party has been this account before; of late no party guessed wrong for it, and
//                  this one not at all
//   strange ...... all others
//
// A flood of guesses is strange, so it delays itself. Strange and plausible logins never have all threads at
// a time: one that waits for a name server, or for PAM, holds up no proven one. Nor does a flood of right
// logins keep the others out: a lane that was passed over a few times comes first once.
//
// No login waits for ever: what is overdue is refused untried. What is remembered of one party is bounded:
// claims that are not proven, and claims that are, of which the one that was used least recently gives way.
// So neither do many accounts of one address keep its others out, nor do guesses cost a claim its proof.
//
// Whoever owns the queue has its lock.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "server/guesses.h"

namespace rowsocket::server {

class Login;

class LoginQueue {
 public:
  enum class Lane : uint8_t { proven, plausible, strange };
  enum class Outcome : uint8_t { right, wrong, none };
  struct Claim;
  struct Party {
    Guesses guesses{{limits::party_guesses_at_once, limits::party_guess_interval_ms}};
    uint32_t unproven_count = 0;
    std::list<Claim*> proven;  ///< the one that was used least recently first
  };
  struct KnownAccount {
    uint64_t suspected_until_ms = 0;
  };
  struct Claim {
    struct Waiting {
      std::shared_ptr<Login> login;
      uint64_t since_ms;
    };
    Guesses guesses{{limits::guesses_at_once, limits::guess_interval_ms}};
    std::deque<Waiting> waiting;
    Party* party = nullptr;
    KnownAccount* account = nullptr;  ///< nullptr = no client is known to have logged in with it
    std::string user;
    const std::string* key = nullptr;          ///< in `claims_`
    std::list<Claim*>::iterator proven_place;  ///< in its party's list, if it is proven
    bool is_proven = false;

    /// None of its logins waits or is being tried, and no wrong guess is to be paid for.
    [[nodiscard]] bool is_idle(uint64_t now_ms) const { return waiting.empty() && guesses.is_even(now_ms); }
  };
  /// A login that is being tried.
  struct Try {
    std::shared_ptr<Login> login;  ///< nullptr = none can be tried now
    Claim* claim = nullptr;
    Lane lane = Lane::strange;
  };

  /// False if it is refused at once. May throw std::bad_alloc.
  [[nodiscard]] bool add(const std::string& party, const std::string& user, std::shared_ptr<Login> login,
                         uint64_t now_ms);
  /// Where none may be tried now, `next_at_ms` says when to ask again; UINT64_MAX = when something changed.
  [[nodiscard]] Try pick(uint64_t now_ms, uint64_t& next_at_ms);
  /// May throw std::bad_alloc, when all else is done.
  void end(const Try& done, Outcome outcome, uint64_t now_ms);
  /// Those that have waited too long. May throw std::bad_alloc.
  void take_overdue(uint64_t now_ms, std::vector<std::shared_ptr<Login>>& overdue);
  void forget_waiting();

 private:
  using Round = std::list<Claim*>;  ///< whose nodes move from one to another without memory

  [[nodiscard]] static Lane lane_of(const Claim& claim, uint64_t now_ms);
  [[nodiscard]] uint64_t next_at_ms_of(const Claim& claim, Lane lane, uint64_t now_ms) const;
  [[nodiscard]] bool has_thread_for(Lane lane) const;
  [[nodiscard]] Try pick_from_passed_over(uint64_t now_ms, uint64_t& next_at_ms);
  void note_passed_over(Lane chosen);
  [[nodiscard]] Try pick_from(Lane lane, uint64_t now_ms, uint64_t& next_at_ms);
  [[nodiscard]] Claim* claim_of(const std::string& party, const std::string& user, uint64_t now_ms);
  [[nodiscard]] Round& round(Lane lane) { return rounds_[static_cast<size_t>(lane)]; }
  void note_right(Claim& claim, uint64_t now_ms);
  [[nodiscard]] bool has_room_for_proven(Party& party, uint64_t now_ms);
  void forget_even(uint64_t now_ms);
  static void leave_party(const Claim& claim);

  std::unordered_map<std::string, Party> parties_;
  std::unordered_map<std::string, KnownAccount> accounts_;  ///< that a client has logged in with
  std::unordered_map<std::string, Claim> claims_;           ///< by party and user
  std::array<Round, 3> rounds_;                             ///< claims with a login that waits
  std::array<uint32_t, 3> under_way_{};
  std::array<uint32_t, 3> passed_over_{};  ///< how often in a row, while a claim waited
  Guesses all_guesses_{{limits::all_guesses_at_once, limits::all_guess_interval_ms}};
  uint64_t forget_at_ms_ = 0;
  uint64_t overdue_at_ms_ = 0;
};

}  // namespace rowsocket::server
