// SPDX-License-Identifier: GPL-2.0-only
#include "server/intake.h"

#include <algorithm>
#include <utility>

namespace rowsocket::server {
namespace {

bool is_large_sender(ClientConnection& connection) {
  return connection.stream.input().size() >= limits::large_request_bytes;
}

bool is_heavy(ClientConnection& connection) { return connection.takes_long() || is_large_sender(connection); }

}  // namespace

Intake::Intake(Connections& connections, const Clock& clock) : connections_(connections), clock_(clock) {}

void Intake::begin_turn(uint64_t now_ms) {
  began_ms_ = now_ms;
  left_bytes_ = limits::receive_bytes_per_turn;
  large_left_bytes_ = limits::large_bytes_per_turn;
  used_us_ = 0;
  has_light_ = false;
}

/// It is middling, and light ones have come lately.
bool Intake::gives_way(const ClientConnection& connection) const {
  return connection.is_middling() && began_ms_ < light_until_ms_;
}

/// It takes part in the turn as light ones do.
void Intake::note_part(const ClientConnection& connection) {
  light_ones_come_ = true;
  if (!connection.is_middling()) [[likely]] {
    has_light_ = true;
    light_until_ms_ = began_ms_ + limits::middling_ms_after_light;
  }
}

bool Intake::receive(ClientConnection& connection) {
  if (connection.is_in_line) {
    return false;
  }
  if (is_heavy(connection) || gives_way(connection)) [[unlikely]] {
    wait_in_line(connection);
    return false;
  }
  const size_t bytes_max = std::clamp(left_bytes_, limits::receive_bytes_first, limits::receive_bytes);
  const Connections::Received received = connections_.receive(connection, bytes_max);
  left_bytes_ -= std::min(left_bytes_, received.byte_count);
  if (received.is_new) [[likely]] {
    note_part(connection);
  }
  return received.is_new;
}

bool Intake::admit(ClientConnection& connection) {
  if (!connection.takes_long() && !gives_way(connection)) [[likely]] {
    note_part(connection);
    return true;
  }
  if (!connection.is_closed()) {
    wait_in_line(connection);
  }
  return false;
}

Intake::Kind Intake::kind_of(ClientConnection& connection) {
  if (!is_heavy(connection)) {
    return middling;
  }
  return connection.takes_little() && !is_large_sender(connection) ? takes_little : takes_much;
}

/// Who has not waited has nothing to catch up with.
void Intake::wait_in_line(ClientConnection& connection) {
  const Kind kind = kind_of(connection);
  if (lines_[kind].waiting.empty()) {
    had_us_[kind] = std::max(had_us_[kind], reached_us_);
  }
  connection.is_in_line = true;
  lines_[kind].waiting.push_back(&connection);
}

/// It has what nobody else wants: no light one has anything to execute, and heavy ones have to wait.
bool Intake::is_meanwhile(Kind kind) const {
  return kind == middling && (began_ms_ >= light_until_ms_ || !is_their_time());
}

bool Intake::may_take(Kind kind, bool has_changes) const {
  if (is_meanwhile(kind)) {
    return began_ms_ >= light_until_ms_ || (!has_light_ && used_us_ < limits::middling_us_meanwhile);
  }
  const uint64_t us_max = has_changes ? limits::heavy_us_per_turn : limits::heavy_us_per_turn_of_reads;
  return used_us_ < us_max && is_their_time();
}

/// Of the kind that has had least; nullptr if none may take part now.
ClientConnection* Intake::take_next_in_line(bool has_changes) {
  Line* next = nullptr;
  for (const Kind kind : {middling, takes_little, takes_much}) {
    const bool comes_first = next == nullptr || had_us_[kind] < had_us_[kind_];
    if (!lines_[kind].waiting.empty() && comes_first && may_take(kind, has_changes)) {
      kind_ = kind;
      next = &lines_[kind];
    }
  }
  if (next == nullptr) {
    return nullptr;
  }
  is_counted_ = !is_meanwhile(kind_);
  reached_us_ = is_counted_ ? std::max(reached_us_, had_us_[kind_]) : reached_us_;
  ClientConnection& connection = *next->waiting.front();
  next->waiting.erase(next->waiting.begin());
  next->unpolled -= std::min<size_t>(next->unpolled, 1);
  return &connection;
}

ClientConnection* Intake::next_heavy(bool has_changes) {
  end_service();
  if (!some_wait()) [[likely]] {
    return nullptr;
  }
  ClientConnection* next = nullptr;
  while (next == nullptr && large_left_bytes_ > 0) {
    ClientConnection* const first = take_next_in_line(has_changes);
    if (first == nullptr) {
      break;
    }
    ClientConnection& connection = *first;
    if (has_to_wait_for_memory(connection)) [[unlikely]] {
      connections_.watch(connection, net::Interest::none);
      waiting_for_memory_.push_back(&connection);
      continue;
    }
    connection.is_in_line = false;
    if (connection.is_closed()) {
      continue;
    }
    service_began_us_ = std::max<uint64_t>(clock_.now_us(), 1);
    share_ = is_large_sender(connection) ? limits::large_senders_share
             : kind_ == middling         ? limits::middling_share
                                         : limits::long_requests_share;
    bool has_requests = connection.state != ClientConnection::State::reading &&
                        connection.state != ClientConnection::State::lingering;
    if (!has_requests) {
      const Connections::Received received = connections_.receive(connection);
      large_left_bytes_ -= std::min(large_left_bytes_, received.byte_count);
      if (&connection == sole_sender_ && received.byte_count > 0) {
        sole_until_ms_ = clock_.now_ms() + limits::sole_sender_ms;
      }
      has_requests = received.is_new;
    }
    if (has_requests) {
      next = &connection;
    } else {
      end_service();
    }
  }
  return next;
}

void Intake::end_service() {
  const uint64_t began_us = std::exchange(service_began_us_, 0);
  if (began_us == 0) [[likely]] {
    return;
  }
  const uint64_t now_us = clock_.now_us();
  // A request that can not be given up may take minutes. The heavy ones do not pay for all of that.
  const uint64_t took_us = std::min<uint64_t>(now_us - std::min(now_us, began_us), limits::heavy_us_per_turn);
  used_us_ += took_us;
  if (!is_counted_) {
    return;
  }
  had_us_[kind_] += took_us;
  const uint64_t since_us = began_us - std::min<uint64_t>(began_us, limits::heavy_credit_us);
  const uint64_t from_us = std::clamp(theirs_at_us_, since_us, began_us);
  theirs_at_us_ = from_us + took_us * (1 + share_);
}

void Intake::end_turn() {
  end_service();
  for (Line& line : lines_) {
    for (; line.unpolled < line.waiting.size(); ++line.unpolled) {
      connections_.watch(*line.waiting[line.unpolled], net::Interest::none);
    }
  }
}

// ---- where memory is short

/// What has been received as a whole needs no more memory, and gives some back when it is executed.
bool Intake::has_to_wait_for_memory(ClientConnection& connection) {
  return is_memory_short_ && &connection != sole_sender_ &&
         connection.state == ClientConnection::State::reading && is_large_sender(connection);
}

void Intake::share_memory(bool is_short) {
  is_memory_short_ = is_short;
  if (!is_short) [[likely]] {
    if (waiting_for_memory_.empty() && sole_sender_ == nullptr) [[likely]] {
      return;
    }
    sole_sender_ = nullptr;
    std::vector<ClientConnection*>& line = lines_[takes_much].waiting;
    line.insert(line.end(), waiting_for_memory_.begin(), waiting_for_memory_.end());
    waiting_for_memory_.clear();
    return;
  }
  if (sole_sender_ == nullptr || has_stopped(*sole_sender_)) {
    choose_sole_sender();
  }
}

/// It has sent all of its request, or a poll found that it had sent nothing for a while. One that waits in
/// line has sent something, and so may one that was received of in this turn, however long the turn takes.
bool Intake::has_stopped(ClientConnection& sender) const {
  // The input of one whose request runs may be another thread's.
  const bool is_done = !sender.is_in_turn && !is_large_sender(sender);
  return is_done || (!sender.is_in_line && began_ms_ >= sole_until_ms_);
}

/// The one that has sent most needs least for its end.
void Intake::choose_sole_sender() {
  sole_sender_ = nullptr;
  if (waiting_for_memory_.empty()) {
    return;
  }
  const auto chosen = std::max_element(waiting_for_memory_.begin(), waiting_for_memory_.end(),
                                       [](ClientConnection* one, ClientConnection* other) {
                                         return one->stream.input().size() < other->stream.input().size();
                                       });
  sole_sender_ = *chosen;
  sole_until_ms_ = clock_.now_ms() + limits::sole_sender_ms;
  lines_[takes_much].waiting.push_back(sole_sender_);
  waiting_for_memory_.erase(chosen);
}

void Intake::forget_closed() {
  const auto is_closed = [](const ClientConnection* connection) { return connection->is_closed(); };
  for (Line& line : lines_) {
    std::erase_if(line.waiting, is_closed);
    line.unpolled = std::min(line.unpolled, line.waiting.size());
  }
  std::erase_if(waiting_for_memory_, is_closed);
  if (sole_sender_ != nullptr && sole_sender_->is_closed()) {
    sole_sender_ = nullptr;
  }
}

void Intake::forget(const ClientConnection& connection) {
  if (&connection == sole_sender_) {
    sole_sender_ = nullptr;
  }
}

}  // namespace rowsocket::server
