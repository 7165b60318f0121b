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

void Intake::begin_turn() {
  left_bytes_ = limits::receive_bytes_per_turn;
  large_left_bytes_ = limits::large_bytes_per_turn;
  used_us_ = 0;
}

bool Intake::receive(ClientConnection& connection) {
  if (connection.is_in_line) {
    return false;
  }
  if (is_heavy(connection)) [[unlikely]] {
    wait_in_line(connection);
    return false;
  }
  const size_t bytes_max = std::clamp(left_bytes_, limits::receive_bytes_first, limits::receive_bytes);
  const Connections::Received received = connections_.receive(connection, bytes_max);
  left_bytes_ -= std::min(left_bytes_, received.byte_count);
  light_ones_come_ |= received.is_new;
  return received.is_new;
}

bool Intake::admit(ClientConnection& connection) {
  if (!connection.takes_long()) [[likely]] {
    light_ones_come_ = true;
    return true;
  }
  if (!connection.is_closed()) {
    wait_in_line(connection);
  }
  return false;
}

void Intake::wait_in_line(ClientConnection& connection) {
  connection.is_in_line = true;
  line_.push_back(&connection);
}

ClientConnection* Intake::next_heavy() {
  end_service();
  if (line_.empty()) [[likely]] {
    return nullptr;
  }
  size_t served = 0;
  ClientConnection* next = nullptr;
  while (next == nullptr && served < line_.size() && large_left_bytes_ > 0 &&
         used_us_ < limits::heavy_us_per_turn && is_their_time()) {
    ClientConnection& connection = *line_[served++];
    connection.is_in_line = false;
    if (connection.is_closed()) {
      continue;
    }
    service_began_us_ = std::max<uint64_t>(clock_.now_us(), 1);
    share_ = is_large_sender(connection) ? limits::large_senders_share : limits::long_requests_share;
    bool has_requests = connection.state != ClientConnection::State::reading &&
                        connection.state != ClientConnection::State::lingering;
    if (!has_requests) {
      const Connections::Received received = connections_.receive(connection);
      large_left_bytes_ -= std::min(large_left_bytes_, received.byte_count);
      has_requests = received.is_new;
    }
    if (has_requests) {
      next = &connection;
    } else {
      end_service();
    }
  }
  line_.erase(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(served));
  unpolled_ -= std::min(unpolled_, served);
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
  const uint64_t since_us = began_us - std::min<uint64_t>(began_us, limits::heavy_credit_us);
  const uint64_t from_us = std::clamp(theirs_at_us_, since_us, began_us);
  theirs_at_us_ = from_us + took_us * (1 + share_);
}

void Intake::end_turn() {
  end_service();
  for (; unpolled_ < line_.size(); ++unpolled_) {
    connections_.watch(*line_[unpolled_], net::Interest::none);
  }
}

void Intake::forget_closed() {
  std::erase_if(line_, [](const ClientConnection* connection) { return connection->is_closed(); });
  unpolled_ = std::min(unpolled_, line_.size());
}

}  // namespace rowsocket::server
