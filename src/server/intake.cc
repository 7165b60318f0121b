// SPDX-License-Identifier: GPL-2.0-only
#include "server/intake.h"

#include <algorithm>

namespace rowsocket::server {
namespace {

bool is_large_sender(ClientConnection& connection) {
  return connection.stream.input().size() >= limits::large_request_bytes;
}

}  // namespace

Intake::Intake(Connections& connections, const Clock& clock)
    : connections_(connections), clock_(clock), served_at_us_(clock.now_us()) {}

void Intake::begin_turn() {
  left_bytes_ = limits::receive_bytes_per_turn;
  large_left_bytes_ = limits::large_bytes_per_turn;
  some_served_ = false;
}

bool Intake::receive(ClientConnection& connection) {
  if (is_large_sender(connection)) {
    line_.push_back(&connection);
    return false;
  }
  const size_t bytes_max = std::clamp(left_bytes_, limits::receive_bytes_first, limits::receive_bytes);
  const Connections::Received received = connections_.receive(connection, bytes_max);
  left_bytes_ -= std::min(left_bytes_, received.byte_count);
  return received.is_new;
}

ClientConnection* Intake::receive_from_line() {
  if (served_ == 0) {
    const uint64_t now_us = clock_.now_us();
    service_ends_us_ = now_us + (now_us - served_at_us_) / limits::large_senders_share;
  }
  while (served_ < line_.size() && another_may_follow()) {
    ClientConnection& connection = *line_[served_++];
    if (connection.is_closed()) {
      continue;
    }
    const Connections::Received received = connections_.receive(connection);
    large_left_bytes_ -= std::min(large_left_bytes_, received.byte_count);
    some_served_ = true;
    if (received.is_new) {
      return &connection;
    }
  }
  end_service();
  return nullptr;
}

bool Intake::another_may_follow() const {
  return !some_served_ || (large_left_bytes_ > 0 && clock_.now_us() < service_ends_us_);
}

void Intake::end_service() {
  for (size_t number = std::max(served_, unpolled_); number < line_.size(); ++number) {
    connections_.watch(*line_[number], net::Interest::none);
  }
  line_.erase(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(served_));
  served_ = 0;
  unpolled_ = line_.size();
  served_at_us_ = clock_.now_us();
}

void Intake::forget_closed() {
  std::erase_if(line_, [](const ClientConnection* connection) { return connection->is_closed(); });
  unpolled_ = line_.size();
}

}  // namespace rowsocket::server
