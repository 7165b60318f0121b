// SPDX-License-Identifier: GPL-2.0-only
#include "net/transport.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace rowsocket::net {
namespace {

Transfer::Status status_of(int error) {
  const bool is_temporary = error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
  return is_temporary ? Transfer::Status::blocked : Transfer::Status::failed;
}

/// The type of the first record of TLS, a handshake. No protocol of ours begins with it.
constexpr char tls_handshake = 0x16;

}  // namespace

Transfer sent(ssize_t result) {
  if (result < 0) {
    return {status_of(static_cast<int>(-result)), 0};
  }
  return {result == 0 ? Transfer::Status::blocked : Transfer::Status::moved, static_cast<size_t>(result)};
}

bool peer_is_gone(int fd) {
  pollfd asked{fd, POLLRDHUP, 0};
  return ::poll(&asked, 1, 0) == 1;
}

bool peer_is_broken(int fd) {
  pollfd asked{fd, 0, 0};  // POLLERR need not be asked for
  // A UNIX socket also has POLLHUP where the peer has closed it in order: what it sent before is to be
  // served.
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLERR) != 0;
}

bool PlainTransport::begins_tls() {
  char first = 0;
  has_begun_ = ::recv(socket_.get(), &first, 1, MSG_PEEK) == 1;
  return has_begun_ && first == tls_handshake;
}

Transfer PlainTransport::receive(char* place, size_t byte_count_max) {
  if (!has_begun_ && begins_tls()) {
    return {Transfer::Status::begins_tls, 0};
  }
  const ssize_t received = ::recv(socket_.get(), place, byte_count_max, 0);
  if (received < 0) {
    return {status_of(errno), 0};
  }
  return {received == 0 ? Transfer::Status::ended : Transfer::Status::moved, static_cast<size_t>(received)};
}

Transfer PlainTransport::send(const char* bytes, size_t byte_count) {
  const ssize_t result = ::send(socket_.get(), bytes, byte_count, MSG_NOSIGNAL);
  return sent(result < 0 ? -errno : result);
}

void PlainTransport::shut_down_output() { ::shutdown(socket_.get(), SHUT_WR); }

}  // namespace rowsocket::net
