// SPDX-License-Identifier: GPL-2.0-only
#include "server/handshake_queue.h"

#include <algorithm>
#include <utility>

namespace rowsocket::server {

HandshakeQueue::Handshake& HandshakeQueue::add(const std::string& party, Newcomer newcomer) {
  Handshakes made;
  made.push_back({.newcomer = std::move(newcomer)});
  auto found = lanes_.find(party);
  if (found == lanes_.end()) {
    std::list<Lane*> node(1, nullptr);
    found = lanes_.emplace(party, Lane{.party = party}).first;
    Lane& made_lane = found->second;
    node.front() = &made_lane;
    made_lane.node = node.begin();
    made_lane.outside_round.splice(made_lane.outside_round.end(), node);
  }
  Lane& lane = found->second;
  Handshake& handshake = made.front();
  handshake.lane = &lane;
  handshake.self = made.begin();
  lane.fresh.splice(lane.fresh.end(), made);
  enter_round(lane);
  ++size_;
  return handshake;
}

HandshakeQueue::Handshake* HandshakeQueue::next() {
  if (round_.empty()) {
    return nullptr;
  }
  Lane& lane = *round_.front();
  Handshake& handshake = lane.ready.empty() ? lane.fresh.front() : lane.ready.front();
  move(handshake, Place::waiting);
  round_.splice(round_.end(), round_, round_.begin());
  leave_round_if_idle(lane);
  return &handshake;
}

void HandshakeQueue::make_ready(Handshake& handshake) {
  if (handshake.place == Place::waiting) {
    move(handshake, Place::ready);
    enter_round(*handshake.lane);
  }
}

HandshakeQueue::Handshake* HandshakeQueue::most_dispensable() {
  const auto most = std::max_element(lanes_.begin(), lanes_.end(), [](const auto& one, const auto& other) {
    return one.second.size() < other.second.size();
  });
  if (most == lanes_.end()) {
    return nullptr;
  }
  Lane& lane = most->second;
  for (const Place place : {Place::fresh, Place::waiting, Place::ready}) {
    if (!lane.at(place).empty()) {
      return &lane.at(place).front();
    }
  }
  return nullptr;
}

HandshakeQueue::Handshake* HandshakeQueue::first_killed() {
  for (auto& [party, lane] : lanes_) {
    for (const Place place : {Place::fresh, Place::ready, Place::waiting}) {
      for (Handshake& handshake : lane.at(place)) {
        if (handshake.newcomer.arrival.life != nullptr && handshake.newcomer.arrival.life->is_killed()) {
          return &handshake;
        }
      }
    }
  }
  return nullptr;
}

void HandshakeQueue::remove(Handshake& handshake) {
  Lane& lane = *handshake.lane;
  lane.at(handshake.place).erase(handshake.self);
  --size_;
  leave_round_if_idle(lane);
  if (lane.size() == 0) {
    lanes_.erase(lanes_.find(lane.party));
  }
}

void HandshakeQueue::move(Handshake& handshake, Place place) {
  Handshakes& to = handshake.lane->at(place);
  to.splice(to.end(), handshake.lane->at(handshake.place), handshake.self);
  handshake.place = place;
}

void HandshakeQueue::enter_round(Lane& lane) { round_.splice(round_.end(), lane.outside_round); }

void HandshakeQueue::leave_round_if_idle(Lane& lane) {
  if (lane.fresh.empty() && lane.ready.empty() && lane.outside_round.empty()) {
    lane.outside_round.splice(lane.outside_round.end(), round_, lane.node);
  }
}

}  // namespace rowsocket::server
