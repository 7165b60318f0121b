// SPDX-License-Identifier: GPL-2.0-only
#include "bench/connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

constexpr size_t receive_bytes = 256 * 1024;
constexpr int opening_timeout_ms = 10'000;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

[[noreturn]] void fail_closing(int descriptor, const std::string& what) {
  const Descriptor closed_at_return(descriptor);
  fail(what);
}

[[noreturn]] void fail_closed_or_broken(ssize_t received, const Buffer& incoming) {
  if (received < 0) {
    fail("receive");
  }
  throw std::runtime_error("the server closed the connection; received so far: " + printable(incoming.view()));
}

class Socket final : public Link {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  [[nodiscard]] int descriptor() const override { return descriptor_.number(); }

 private:
  Descriptor descriptor_;
};

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

std::unique_ptr<Link> connect_socket(const Endpoint& endpoint) {
  return std::make_unique<Socket>(endpoint.socket_path.empty() ? connect_tcp(endpoint.host, endpoint.port)
                                                               : connect_unix(endpoint.socket_path));
}

void send_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      fail("send");
    }
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(sent, 0)));
  }
}

void receive_some(int descriptor, Buffer& incoming) {
  pollfd readable{descriptor, POLLIN, 0};
  if (::poll(&readable, 1, opening_timeout_ms) <= 0) {
    throw std::runtime_error("no reply within " + std::to_string(opening_timeout_ms / 1000) +
                             " s; received so far: " + printable(incoming.view()));
  }
  if (!incoming.reserve(receive_bytes)) {
    throw std::bad_alloc();
  }
  const ssize_t received = ::recv(descriptor, incoming.end(), receive_bytes, 0);
  if (received <= 0) {
    fail_closed_or_broken(received, incoming);
  }
  incoming.advance(static_cast<size_t>(received));
}

void exchange(int descriptor, std::string_view request, std::string_view right_reply) {
  send_all(descriptor, request);
  Buffer incoming;
  while (incoming.size() < right_reply.size()) {
    receive_some(descriptor, incoming);
    if (!right_reply.starts_with(incoming.view())) {
      throw std::runtime_error("request " + printable(request) + " was answered " + printable(incoming.view()));
    }
  }
}

Connection::Connection(std::unique_ptr<Link> link, size_t in_flight_max) : link_(std::move(link)), pending_(in_flight_max) {
  (void)::fcntl(descriptor(), F_SETFL, ::fcntl(descriptor(), F_GETFL) | O_NONBLOCK);
}

bool Connection::send() {
  while (!outgoing_.empty()) {
    const ssize_t sent = ::send(descriptor(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      outgoing_.consume(static_cast<size_t>(sent));
      bytes_sent_ += static_cast<uint64_t>(sent);
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
    bytes_received_ += static_cast<uint64_t>(received);
  } else if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
    fail_closed_or_broken(received, incoming_);
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
    } else if (byte < ' ' || byte > '~') {
      std::array<char, 2> hexadecimal{'0', '0'};
      std::to_chars(hexadecimal.data() + (static_cast<unsigned char>(byte) < 16 ? 1 : 0), hexadecimal.data() + 2,
                    static_cast<unsigned char>(byte), 16);
      text.append("\\x").append(hexadecimal.data(), 2);
    } else {
      text += byte;
    }
  }
  return text + (bytes.size() > shown_max ? "\"..." : "\"");
}

}  // namespace rowsocket::bench
