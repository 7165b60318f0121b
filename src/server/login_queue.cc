// SPDX-License-Identifier: GPL-2.0-only
#include "server/login_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rowsocket::server {

LoginQueue::Lane LoginQueue::lane_of(const Claim& claim, uint64_t now_ms) {
  if (claim.is_proven && !claim.guesses.owes(now_ms)) {
    return Lane::proven;
  }
  const bool is_plausible = claim.account != nullptr && claim.account->suspected_until_ms <= now_ms &&
                            !claim.party->guesses.owes(now_ms);
  return is_plausible ? Lane::plausible : Lane::strange;
}

uint64_t LoginQueue::next_at_ms_of(const Claim& claim, Lane lane, uint64_t now_ms) const {
  const uint64_t claim_at_ms = claim.guesses.next_at_ms(now_ms);
  // Guesses of others from the same address do not slow down a client that never guesses.
  return lane == Lane::proven ? claim_at_ms : std::max(claim_at_ms, claim.party->guesses.next_at_ms(now_ms));
}

bool LoginQueue::has_thread_for(Lane lane) const {
  const auto [proven, plausible, strange] = under_way_;
  switch (lane) {
    case Lane::proven:
      return true;
    case Lane::plausible:
      return plausible + strange < limits::login_threads_for_unproven;
    case Lane::strange:
      return strange < limits::login_threads_for_strange;
  }
  return true;
}

LoginQueue::Claim* LoginQueue::claim_of(const std::string& party, const std::string& user, uint64_t now_ms) {
  std::string key = party;
  key.append(1, '\0').append(user);
  if (const auto found = claims_.find(key); found != claims_.end()) {
    return &found->second;
  }
  Party& owner = parties_[party];
  const auto has_room = [&] {
    return claims_.size() < limits::login_claims_max &&
           owner.unproven_count < limits::login_claims_per_party_max;
  };
  if (!has_room()) {
    ++owner.unproven_count;  // so that it stays
    forget_even(now_ms);
    --owner.unproven_count;
    if (!has_room()) {
      return nullptr;
    }
  }
  Claim made;
  made.user = user;
  made.party = &owner;
  if (const auto known = accounts_.find(user); known != accounts_.end()) {
    made.account = &known->second;
  }
  const auto place = claims_.emplace(std::move(key), std::move(made)).first;
  place->second.key = &place->first;
  ++owner.unproven_count;
  return &place->second;
}

bool LoginQueue::add(const std::string& party, const std::string& user, std::shared_ptr<Login> login,
                     uint64_t now_ms) {
  Claim* const claim = claim_of(party, user, now_ms);
  if (claim == nullptr) {
    return false;
  }
  if (claim->waiting.size() >= limits::slowed_logins_waiting_max && claim->guesses.is_slowed(now_ms)) {
    return false;
  }
  Round place;
  if (claim->waiting.empty()) {
    place.push_back(claim);
  }
  claim->waiting.push_back({std::move(login), now_ms});
  Round& waiting = round(lane_of(*claim, now_ms));
  waiting.splice(waiting.end(), place);
  return true;
}

LoginQueue::Try LoginQueue::pick(uint64_t now_ms, uint64_t& next_at_ms) {
  next_at_ms = UINT64_MAX;
  const bool is_empty =
      std::all_of(rounds_.begin(), rounds_.end(), [](const Round& round) { return round.empty(); });
  if (is_empty) {
    return {};
  }
  next_at_ms = std::max(now_ms, overdue_at_ms_) + 1;
  if (const uint64_t all_at_ms = all_guesses_.next_at_ms(now_ms); all_at_ms > now_ms) {
    next_at_ms = std::min(next_at_ms, all_at_ms);
    return {};
  }
  if (Try found = pick_from_passed_over(now_ms, next_at_ms); found.login != nullptr) {
    return found;
  }
  for (const Lane lane : {Lane::proven, Lane::plausible, Lane::strange}) {
    if (Try found = pick_from(lane, now_ms, next_at_ms); found.login != nullptr) {
      note_passed_over(lane);
      return found;
    }
  }
  return {};
}

/// Where nobody of such a lane may be tried now, it is not asked again at once.
LoginQueue::Try LoginQueue::pick_from_passed_over(uint64_t now_ms, uint64_t& next_at_ms) {
  for (const Lane lane : {Lane::plausible, Lane::strange}) {
    uint32_t& count = passed_over_[static_cast<size_t>(lane)];
    if (count < limits::login_lane_passed_over_max) {
      continue;
    }
    count = 0;
    if (Try found = pick_from(lane, now_ms, next_at_ms); found.login != nullptr) {
      return found;
    }
  }
  return {};
}

void LoginQueue::note_passed_over(Lane chosen) {
  for (const Lane lane : {Lane::plausible, Lane::strange}) {
    uint32_t& count = passed_over_[static_cast<size_t>(lane)];
    count = lane > chosen && !round(lane).empty() ? count + 1 : 0;
  }
}

/// A claim may stand in a lane that it has no right to any more, or that is too low for it by now.
LoginQueue::Try LoginQueue::pick_from(Lane lane, uint64_t now_ms, uint64_t& next_at_ms) {
  Round& claims = round(lane);
  for (size_t left = claims.size(); left > 0 && has_thread_for(lane); --left) {
    Claim* const claim = claims.front();
    const Lane present = lane_of(*claim, now_ms);
    const uint64_t at_ms = next_at_ms_of(*claim, present, now_ms);
    Round& later = round(present);
    if (present > lane || at_ms > now_ms) {
      next_at_ms = std::min(next_at_ms, std::max(at_ms, now_ms + 1));
      later.splice(later.end(), claims, claims.begin());
      continue;
    }
    Try found{.login = std::move(claim->waiting.front().login), .claim = claim, .lane = present};
    claim->waiting.pop_front();
    if (claim->waiting.empty()) {
      claims.pop_front();
    } else {
      later.splice(later.end(), claims, claims.begin());
    }
    ++under_way_[static_cast<size_t>(present)];
    claim->guesses.begin();
    claim->party->guesses.begin();
    all_guesses_.begin();
    return found;
  }
  return {};
}

void LoginQueue::end(const Try& done, Outcome outcome, uint64_t now_ms) {
  Claim& claim = *done.claim;
  const bool was_wrong = outcome == Outcome::wrong;
  --under_way_[static_cast<size_t>(done.lane)];
  all_guesses_.end(was_wrong, now_ms);
  claim.party->guesses.end(was_wrong, now_ms);
  claim.guesses.end(was_wrong, now_ms);
  if (was_wrong && claim.account != nullptr) {
    claim.account->suspected_until_ms = now_ms + limits::account_suspected_ms;
  }
  if (outcome == Outcome::right) {
    note_right(claim, now_ms);
    if (claim.account == nullptr && accounts_.size() < limits::login_accounts_max) {
      claim.account = &accounts_[claim.user];  // the last step: it may throw
    }
  }
}

/// Where there is no room among the proven ones, it is tried like any other the next time. May throw
/// std::bad_alloc.
void LoginQueue::note_right(Claim& claim, uint64_t now_ms) {
  std::list<Claim*>& proven = claim.party->proven;
  if (claim.is_proven) {
    proven.splice(proven.end(), proven, claim.proven_place);
  } else if (has_room_for_proven(*claim.party, now_ms)) {
    claim.proven_place = proven.insert(proven.end(), &claim);
    claim.is_proven = true;
    --claim.party->unproven_count;
  }
}

/// Perhaps made by forgetting the one that was used least recently, of those that nothing is left of.
bool LoginQueue::has_room_for_proven(Party& party, uint64_t now_ms) {
  if (party.proven.size() < limits::login_claims_per_party_max) {
    return true;
  }
  const auto oldest = std::find_if(party.proven.begin(), party.proven.end(),
                                   [now_ms](const Claim* claim) { return claim->is_idle(now_ms); });
  if (oldest == party.proven.end()) {
    return false;
  }
  const Claim& forgotten = **oldest;
  leave_party(forgotten);
  claims_.erase(claims_.find(*forgotten.key));
  return true;
}

void LoginQueue::leave_party(const Claim& claim) {
  if (claim.is_proven) {
    claim.party->proven.erase(claim.proven_place);
  } else {
    --claim.party->unproven_count;
  }
}

void LoginQueue::take_overdue(uint64_t now_ms, std::vector<std::shared_ptr<Login>>& overdue) {
  if (now_ms < overdue_at_ms_) {
    return;
  }
  overdue_at_ms_ = now_ms + limits::login_overdue_interval_ms;
  for (Round& claims : rounds_) {
    for (auto place = claims.begin(); place != claims.end();) {
      auto& waiting = (*place)->waiting;
      while (!waiting.empty() && waiting.front().since_ms + limits::login_wait_ms <= now_ms) {
        overdue.push_back(waiting.front().login);
        waiting.pop_front();
      }
      place = waiting.empty() ? claims.erase(place) : std::next(place);
    }
  }
}

void LoginQueue::forget_waiting() {
  for (Round& claims : rounds_) {
    for (Claim* const claim : claims) {
      claim->waiting.clear();
    }
    claims.clear();
  }
}

/// Claims that have nothing waiting and owe nothing. Proven ones are kept longer, since they come first. (A
/// flood of more claims than are remembered keeps newcomers out, for an interval.)
void LoginQueue::forget_even(uint64_t now_ms) {
  if (now_ms < forget_at_ms_) {
    return;
  }
  forget_at_ms_ = now_ms + limits::login_forget_interval_ms;
  const auto proven_count =
      std::count_if(claims_.begin(), claims_.end(), [](const auto& entry) { return entry.second.is_proven; });
  const bool keeps_proven = static_cast<size_t>(proven_count) < limits::login_claims_max / 2;
  std::erase_if(claims_, [&](const auto& entry) {
    const Claim& claim = entry.second;
    const bool goes = claim.is_idle(now_ms) && !(claim.is_proven && keeps_proven);
    if (goes) {
      leave_party(claim);
    }
    return goes;
  });
  std::erase_if(parties_, [&](const auto& entry) {
    const Party& party = entry.second;
    return party.unproven_count == 0 && party.proven.empty() && party.guesses.is_even(now_ms);
  });
}

}  // namespace rowsocket::server
