// SPDX-License-Identifier: GPL-2.0-only
#include "net/connection.h"

#include <algorithm>

#include "base/limits.h"

namespace rowsocket::net {

Transfer Connection::receive(BufferPool& pool) {
  if (input_.capacity() == 0) {
    input_ = pool.take();
  }
  if (!input_.reserve(filled_last_time_ ? limits::receive_bytes : limits::receive_bytes_first)) {
    return {Transfer::Status::out_of_memory, 0};
  }
  const size_t asked = std::min(input_.free_bytes(), limits::receive_bytes);
  const Transfer transfer = transport_->receive(input_.end(), asked);
  if (transfer.status == Transfer::Status::moved) {
    input_.advance(transfer.byte_count);
    filled_last_time_ = transfer.byte_count == asked;
  }
  return transfer;
}

Transfer Connection::send() {
  const Transfer transfer = transport_->send(output_.data(), output_.size());
  if (transfer.status == Transfer::Status::moved) {
    output_.consume(transfer.byte_count);
  }
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
