// SPDX-License-Identifier: GPL-2.0-only
#include "net/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"

namespace rowsocket::net {
namespace {

bool is_temporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Transfer Connection::receive(BufferPool& pool) {
  if (input_.capacity() == 0) {
    input_ = pool.take();
  }
  if (!input_.reserve(filled_last_time_ ? limits::receive_bytes : limits::receive_bytes_first)) {
    return {Transfer::Status::out_of_memory, 0};
  }
  const size_t asked = std::min(input_.free_bytes(), limits::receive_bytes);
  const ssize_t received = ::recv(socket_.get(), input_.end(), asked, 0);
  if (received > 0) {
    const auto byte_count = static_cast<size_t>(received);
    input_.advance(byte_count);
    filled_last_time_ = byte_count == asked;
    return {Transfer::Status::moved, byte_count};
  }
  if (received == 0) {
    return {Transfer::Status::ended, 0};
  }
  return {is_temporary(errno) ? Transfer::Status::blocked : Transfer::Status::failed, 0};
}

Transfer Connection::send() {
  const ssize_t sent = ::send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    output_.consume(static_cast<size_t>(sent));
    return {sent > 0 ? Transfer::Status::moved : Transfer::Status::blocked, static_cast<size_t>(sent)};
  }
  return {is_temporary(errno) ? Transfer::Status::blocked : Transfer::Status::failed, 0};
}

void Connection::give_back_empty(BufferPool& pool) {
  if (input_.empty()) {
    pool.give_back(input_);
  }
  if (output_.empty()) {
    pool.give_back(output_);
  }
}

void Connection::shut_down_output() { ::shutdown(socket_.get(), SHUT_WR); }

}  // namespace rowsocket::net
