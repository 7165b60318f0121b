// SPDX-License-Identifier: GPL-2.0-only
//
// What the ticker does for a worker, from a thread of its own: it calls stand-ins, and looks after requests
// that go on beside the loop.
#include "base/limits.h"
#include "server/worker.h"

namespace rowsocket::server {

bool Worker::tick() {
  if (!is_started_) {
    return false;
  }
  const LoopToken::Ticket ticket = loop_.token().seen();
  const bool is_busy = ticket != 0;
  if (stuck_request_.look(ticket, in_charge_.load(std::memory_order_relaxed)) && crew_.has_idle_for(ticket)) {
    crew_.calls().call_for(ticket);
  }
  const uint64_t now_us = world_.clock.now_us();
  const uint64_t now_ms = now_us / 1000;
  adrift_.note_long(world_.long_requests, now_us);
  look_after_guests(now_ms);
  stop_for_those_gone(now_ms);
  crew_.shrink(now_ms);
  return is_busy;
}

void Worker::look_after_guests(uint64_t now_ms) {
  if (waiting_room_.waiting_count() > 0) {
    if (crew_.has_idle_for(0)) {
      crew_.calls().call_one();
    } else {
      send_guests_back();
    }
  }
  if (now_ms - guests_made_way_at_ms_ >= limits::give_way_ms) {
    guests_made_way_at_ms_ = now_ms;
    waiting_room_.make_way();
  }
}

void Worker::stop_for_those_gone(uint64_t now_ms) {
  if (now_ms - clients_seen_at_ms_ >= limits::presence_ms) {
    clients_seen_at_ms_ = now_ms;
    waiting_room_.stop_those_gone();
    adrift_.stop_those_gone(now_ms);
    if (world_.lifelines != nullptr && world_.lifelines->some_are_killed()) {
      loop_.stop_killed();  // again: it may not have come to where it hears of that
    }
  }
}

/// Where no stand-in is there or can be made, the loop itself tries again what the guests ask for.
void Worker::send_guests_back() {
  while (crew_.lacks_stand_ins()) {
    ClientConnection* const guest = waiting_room_.withdraw();
    if (guest == nullptr) {
      return;
    }
    loop_.give_back({&guest, 1});
  }
}

}  // namespace rowsocket::server
