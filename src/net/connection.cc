// SPDX-License-Identifier: GPL-2.0-only
#include "net/connection.h"

#include <algorithm>
namespace rowsocket::net {

Transfer Connection::receive(BufferPool& pool, size_t bytes_max) {
  if (input_.capacity() == 0) {
    input_ = pool.take();
  }
  const size_t room = filled_last_time_ ? limits::receive_bytes : limits::receive_bytes_first;
  if (!input_.reserve(std::min(room, bytes_max))) {
    return {Transfer::Status::out_of_memory, 0};
  }
  const size_t asked = std::min(input_.free_bytes(), bytes_max);
  const Transfer transfer = transport_->receive(input_.end(), asked);
  if (transfer.status == Transfer::Status::moved) {
    input_.advance(transfer.byte_count);
    filled_last_time_ = transfer.byte_count == asked;
  }
  return transport_->holds_input() ? receive_held(transfer) : transfer;
}

/// At most what one record of TLS and one recv hold. If this was all, the next receive says so.
Transfer Connection::receive_held(Transfer received) {
  while (transport_->holds_input()) {
    if (!input_.reserve(limits::receive_bytes)) {
      return {Transfer::Status::out_of_memory, received.byte_count};
    }
    const Transfer transfer = transport_->receive(input_.end(), input_.free_bytes());
    if (transfer.status == Transfer::Status::moved) {
      input_.advance(transfer.byte_count);
      received.byte_count += transfer.byte_count;
    }
  }
  return received;
}

Transfer Connection::send() {
  if (output_.failed()) [[unlikely]] {
    return {Transfer::Status::failed, 0};
  }
  const Transfer transfer = transport_->send(output_.data(), output_.size());
  note_sent(transfer);
  return transfer;
}

void Connection::give_back_empty(BufferPool& pool) {
  if (input_.empty()) {
    pool.give_back(input_);
  }
  if (output_.empty()) {
    pool.give_back(output_);
  }
}

}  // namespace rowsocket::net
