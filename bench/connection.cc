// SPDX-License-Identifier: GPL-2.0-only
#include "bench/connection.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace rowsocket::bench {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

}  // namespace

Connection::Connection(int descriptor, uint64_t number, size_t in_flight_max, std::unique_ptr<TlsSession> tls)
    : descriptor_(descriptor), tls_(std::move(tls)), number_(number), pending_(in_flight_max) {
  if (::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0) {
    fail("connection " + std::to_string(descriptor));
  }
}

bool Connection::send() {
  while (outgoing_sent_ < outgoing_.size()) {
    const size_t left = outgoing_.size() - outgoing_sent_;
    const char* const bytes = outgoing_.data() + outgoing_sent_;
    const ssize_t sent =
        tls_ == nullptr ? ::send(descriptor_, bytes, left, MSG_NOSIGNAL) : tls_->send(bytes, left);
    if (sent >= 0) {
      outgoing_sent_ += static_cast<size_t>(sent);
      bytes_sent_ += static_cast<uint64_t>(sent);
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR) {
      fail("send");
    }
  }
  outgoing_.clear();
  outgoing_sent_ = 0;
  return true;
}

std::string_view Connection::receive(std::span<char> buffer) {
  const ssize_t received =
      tls_ == nullptr ? ::recv(descriptor_, buffer.data(), buffer.size(), 0) : tls_->receive(buffer);
  if (received == 0) {
    throw std::runtime_error("the server closed the connection");
  }
  if (received < 0 && errno != EAGAIN && errno != EINTR) {
    fail("receive");
  }
  const size_t size = received < 0 ? 0 : static_cast<size_t>(received);
  bytes_received_ += size;
  return {buffer.data(), size};
}

}  // namespace rowsocket::bench
