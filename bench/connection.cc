// SPDX-License-Identifier: GPL-2.0-only
#include "bench/connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

constexpr size_t receive_bytes = 256 * 1024;
constexpr time_t opening_timeout_s = 10;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

[[noreturn]] void fail_closing(int descriptor, const std::string& what) {
  const Descriptor closed_at_return(descriptor);
  fail(what);
}

int connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw std::runtime_error("the path of the socket is too long: " + path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0 || ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fail_closing(descriptor, "cannot connect to " + path);
  }
  return descriptor;
}

int connect_tcp(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* address = nullptr;
  const std::string port_text = std::to_string(port);
  if (::getaddrinfo(host.c_str(), port_text.c_str(), &hints, &address) != 0) {
    throw std::runtime_error("not a numeric address: " + host);
  }
  const int descriptor = ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected = descriptor >= 0 && ::connect(descriptor, address->ai_addr, address->ai_addrlen) == 0;
  ::freeaddrinfo(address);
  if (!connected) {
    fail_closing(descriptor, "cannot connect to " + host + ":" + port_text);
  }
  const int on = 1;
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return descriptor;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

Connection::Connection(const Endpoint& endpoint, const std::vector<Exchange>& opening, size_t in_flight_max)
    : descriptor_(endpoint.socket_path.empty() ? connect_tcp(endpoint.host, endpoint.port) : connect_unix(endpoint.socket_path)),
      pending_(in_flight_max) {
  const timeval timeout{opening_timeout_s, 0};
  (void)::setsockopt(descriptor(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  for (const Exchange& one : opening) {
    exchange(one);
  }
  (void)::fcntl(descriptor(), F_SETFL, O_NONBLOCK);
}

void Connection::exchange(const Exchange& exchange) {
  outgoing_.append(exchange.request);
  while (!send()) {
  }
  while (incoming_.size() < exchange.reply.size()) {
    const size_t size_before = incoming_.size();
    receive();
    if (incoming_.size() == size_before) {
      throw std::runtime_error("no reply to " + printable(exchange.request) + " within " + std::to_string(opening_timeout_s) +
                               " s; received so far: " + printable(incoming_.view()));
    }
    if (!exchange.reply.starts_with(incoming_.view())) {
      throw std::runtime_error("request " + printable(exchange.request) + " was answered " + printable(incoming_.view()));
    }
  }
  incoming_.clear();
}

Pending& Connection::push() {
  Pending& slot = pending_[(pending_first_ + pending_count_) % pending_.size()];
  ++pending_count_;
  return slot;
}

void Connection::pop() {
  pending_first_ = (pending_first_ + 1) % pending_.size();
  --pending_count_;
}

bool Connection::send() {
  while (!outgoing_.empty()) {
    const ssize_t sent = ::send(descriptor(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      outgoing_.consume(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR) {
      fail("send");
    }
  }
  return true;
}

void Connection::receive() {
  if (!incoming_.reserve(receive_bytes)) {
    throw std::bad_alloc();
  }
  const ssize_t received = ::recv(descriptor(), incoming_.end(), receive_bytes, 0);
  if (received > 0) {
    incoming_.advance(static_cast<size_t>(received));
  } else if (received == 0) {
    throw std::runtime_error("the server closed the connection; received so far: " + printable(incoming_.view()));
  } else if (errno != EAGAIN && errno != EINTR) {
    fail("receive");
  }
}

std::string printable(std::string_view bytes) {
  constexpr size_t shown_max = 200;
  std::string text = "\"";
  for (const char byte : bytes.substr(0, shown_max)) {
    if (byte == '\t') {
      text += "\\t";
    } else if (byte == '\n') {
      text += "\\n";
    } else if (static_cast<unsigned char>(byte) < ' ') {
      std::array<char, 2> hexadecimal{'0', '0'};
      std::to_chars(hexadecimal.data() + (byte < 16 ? 1 : 0), hexadecimal.data() + 2, static_cast<unsigned char>(byte), 16);
      text.append("\\x").append(hexadecimal.data(), 2);
    } else {
      text += byte;
    }
  }
  return text + (bytes.size() > shown_max ? "\"..." : "\"");
}

}  // namespace rowsocket::bench
