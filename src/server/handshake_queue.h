// SPDX-License-Identifier: GPL-2.0-only
//
// TLS handshakes that are under way, and which of them goes on next. Each is of a party (net::Peer::party).
// Those of one party stand in a lane, and lanes take turns: so a party's flood of handshakes, each of which
// costs as much as hundreds of requests, delays itself, and another party by one step at a time.
//
//   fresh ── its turn ──► waiting, for its client ◄── its turn ── ready
//                             └────── bytes came, or room ──────────▲
//
// In a lane those that have begun come first: their cost is paid. Nothing here asks a socket or a clock. One
// owner, one thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/limits.h"
#include "net/descriptor.h"
#include "net/poller.h"
#include "server/inbox.h"
#include "tls/transport.h"

namespace rowsocket::server {

class HandshakeQueue {
 public:
  struct Newcomer {
    Arrival arrival;  ///< without a transport
    net::Descriptor socket;
    Inbox* inbox;  ///< its worker's, which still counts it; outlives the threads
  };
  struct Lane;
  enum class Place : uint8_t { fresh, ready, waiting };
  struct Handshake {
    Newcomer newcomer;
    std::unique_ptr<tls::TlsTransport> transport = nullptr;  ///< nullptr until its first turn
    uint64_t left_ms = limits::handshake_timeout_ms;         ///< that it may still wait for its client
    uint64_t deadline_ms = 0;                                ///< while it waits
    net::Interest interest = net::Interest::none;
    // The queue's.
    Lane* lane = nullptr;
    Place place = Place::fresh;
    std::list<Handshake>::iterator self = {};
  };
  using Handshakes = std::list<Handshake>;  ///< whose nodes move from one to another without memory
  struct Lane {
    std::string party;
    Handshakes fresh = {};
    Handshakes ready = {};
    Handshakes waiting = {};              ///< each of the three: the oldest stands first
    std::list<Lane*> outside_round = {};  ///< its node, while it is not in the round
    std::list<Lane*>::iterator node = {};

    [[nodiscard]] size_t size() const { return fresh.size() + ready.size() + waiting.size(); }
    [[nodiscard]] Handshakes& at(Place place) {
      return place == Place::fresh ? fresh : place == Place::ready ? ready : waiting;
    }
  };

  /// A fresh one. May throw std::bad_alloc; then nothing changed but the newcomer.
  Handshake& add(const std::string& party, Newcomer newcomer);
  [[nodiscard]] size_t size() const { return size_; }
  /// Some have a turn to come.
  [[nodiscard]] bool some_may_go_on() const { return !round_.empty(); }
  /// The one whose turn it is; it waits from now on. nullptr: none.
  [[nodiscard]] Handshake* next();
  /// One that waits may go on.
  void make_ready(Handshake& handshake);
  /// If there are too many: of the party that has most of them the oldest that has not begun, or else the
  /// oldest. nullptr: there are none.
  [[nodiscard]] Handshake* most_dispensable();
  /// One that an administrator has ended; nullptr: there is none.
  [[nodiscard]] Handshake* first_killed();
  void remove(Handshake& handshake);

 private:
  static void move(Handshake& handshake, Place place);
  void enter_round(Lane& lane);
  void leave_round_if_idle(Lane& lane);

  std::unordered_map<std::string, Lane> lanes_;
  std::list<Lane*> round_;  ///< lanes with one that is fresh or ready
  size_t size_ = 0;
};

}  // namespace rowsocket::server
