// SPDX-License-Identifier: GPL-2.0-only
//
// The floor under every figure: a single-threaded epoll server that answers every line with the reply that it
// read from standard input, and looks nothing up. What a database costs beyond this is its own. Listens on a
// free loopback port, prints it, and serves until it is killed.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

namespace rowsocket::bench {
namespace {

constexpr size_t events_per_poll = 1024;
constexpr size_t receive_bytes = 64 * 1024;

[[noreturn]] void give_up(const char* what) {
  std::cerr << "echo_server: " << what << ": " << std::strerror(errno) << std::endl;
  std::exit(1);
}

int listen_on_free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t address_bytes = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || ::bind(listener, generic, address_bytes) != 0 || ::listen(listener, SOMAXCONN) != 0 ||
      ::getsockname(listener, generic, &address_bytes) != 0) {
    give_up("cannot listen");
  }
  std::cout << ntohs(address.sin_port) << std::endl;
  return listener;
}

void watch(int epoll_descriptor, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  if (::epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    give_up("epoll_ctl");
  }
}

void accept_all(int epoll_descriptor, int listener) {
  for (;;) {
    const int descriptor = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) {
      return;
    }
    const int on = 1;
    (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    watch(epoll_descriptor, descriptor);
  }
}

/// The socket blocks on sending, which is all the flow control that a floor needs.
void answer(int descriptor, const std::string& reply, std::string& replies) {
  std::array<char, receive_bytes> bytes;
  const ssize_t received = ::recv(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)) {
    ::close(descriptor);
    return;
  }
  const auto line_count = std::count(bytes.data(), bytes.data() + std::max<ssize_t>(received, 0), '\n');
  replies.clear();
  for (auto i = line_count; i > 0; --i) {
    replies += reply;
  }
  for (std::string_view unsent = replies; !unsent.empty();) {
    const ssize_t sent = ::send(descriptor, unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      return;  // the client went away; the next recv sees it
    }
    unsent.remove_prefix(static_cast<size_t>(sent));
  }
}

[[noreturn]] void serve(const std::string& reply) {
  const int listener = listen_on_free_port();
  const int epoll_descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  watch(epoll_descriptor, listener);
  std::string replies;
  std::array<epoll_event, events_per_poll> events;
  for (;;) {
    const int ready = ::epoll_wait(epoll_descriptor, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      if (events[i].data.fd == listener) {
        accept_all(epoll_descriptor, listener);
      } else {
        answer(events[i].data.fd, reply, replies);
      }
    }
  }
}

}  // namespace
}  // namespace rowsocket::bench

int main() { rowsocket::bench::serve({std::istreambuf_iterator<char>(std::cin), {}}); }
