// SPDX-License-Identifier: GPL-2.0-only
#include "net/transport.h"

#include <sys/socket.h>

#include <cerrno>

namespace rowsocket::net {
namespace {

Transfer::Status status_of(int error) {
  const bool is_temporary = error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
  return is_temporary ? Transfer::Status::blocked : Transfer::Status::failed;
}

}  // namespace

Transfer PlainTransport::receive(char* place, size_t byte_count_max) {
  const ssize_t received = ::recv(socket_.get(), place, byte_count_max, 0);
  if (received < 0) {
    return {status_of(errno), 0};
  }
  return {received == 0 ? Transfer::Status::ended : Transfer::Status::moved, static_cast<size_t>(received)};
}

Transfer PlainTransport::send(const char* bytes, size_t byte_count) {
  const ssize_t sent = ::send(socket_.get(), bytes, byte_count, MSG_NOSIGNAL);
  if (sent < 0) {
    return {status_of(errno), 0};
  }
  return {sent == 0 ? Transfer::Status::blocked : Transfer::Status::moved, static_cast<size_t>(sent)};
}

void PlainTransport::shut_down_output() { ::shutdown(socket_.get(), SHUT_WR); }

}  // namespace rowsocket::net
