// SPDX-License-Identifier: GPL-2.0-only
//
// The vocabulary of this folder's tests: a client that speaks bytes, a log that remembers, a table to ask.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/log.h"
#include "base/mutex.h"
#include "engine/memory/memory_engine.h"
#include "net/address.h"
#include "net/descriptor.h"
#include "net/transport.h"
#include "server/client_connection.h"
#include "wire/handlersocket/handlersocket.h"

namespace rowsocket::server {

/// The other end of a connection. Waits at most 20 seconds for anything.
class TestClient {
 public:
  explicit TestClient(net::Descriptor socket) : socket_(std::move(socket)) {}

  static TestClient over_tcp(uint32_t port, const std::string& host = "127.0.0.1") {
    net::SocketAddress address;
    EXPECT_TRUE(net::SocketAddress::from_numeric(host, static_cast<uint16_t>(port), address));
    net::Descriptor socket(::socket(address.family(), SOCK_STREAM, 0));
    EXPECT_EQ(::connect(socket.get(), address.data(), address.size()), 0)
        << std::generic_category().message(errno);
    return TestClient(std::move(socket));
  }
  static TestClient over_unix(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    net::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0)
        << std::generic_category().message(errno);
    return TestClient(std::move(socket));
  }

  /// Send all of it, or as much as the other side takes before it closes.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  /// As much as there is room for right now; how much that was.
  size_t send_some(std::string_view bytes) {
    size_t sent_bytes = 0;
    ssize_t sent = 0;
    while (sent_bytes < bytes.size() &&
           (sent = ::send(socket_.get(), bytes.data() + sent_bytes, bytes.size() - sent_bytes,
                          MSG_NOSIGNAL | MSG_DONTWAIT)) > 0) {
      sent_bytes += static_cast<size_t>(sent);
    }
    return sent_bytes;
  }

  /// What is there right now.
  std::string received() {
    std::string bytes;
    std::array<char, 65536> piece;
    ssize_t count = 0;
    while ((count = ::recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT)) > 0) {
      bytes.append(piece.data(), static_cast<size_t>(count));
    }
    ended_ = count == 0 || (errno != EAGAIN && errno != EINTR);
    return bytes;
  }
  /// The other side has closed (as far as `received` has seen).
  bool sees_end() {
    received();
    return ended_;
  }

  /// Wait for `count` lines; fewer if the other side closes before.
  std::string lines(size_t count) {
    std::string bytes;
    while (static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '\n')) < count && wait_readable()) {
      bytes += received();
      if (ended_) {
        break;
      }
    }
    return bytes;
  }
  std::string ask(std::string_view request) {
    send(request);
    return lines(1);
  }
  /// Everything up to the other side's close.
  std::string rest() {
    std::string bytes;
    while (!ended_ && wait_readable()) {
      bytes += received();
    }
    EXPECT_TRUE(ended_) << "the connection is still open";
    return bytes;
  }

  void close_output() { ::shutdown(socket_.get(), SHUT_WR); }
  void close() { socket_.close(); }
  /// Close as a crashed machine would: the peer gets a reset.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    socket_.close();
  }
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  [[nodiscard]] bool wait_readable() const {
    pollfd waiting{socket_.get(), POLLIN, 0};
    const bool ready = ::poll(&waiting, 1, 20'000) == 1;
    EXPECT_TRUE(ready) << "nothing came";
    return ready;
  }

  net::Descriptor socket_;
  bool ended_ = false;
};

/// Thread-safe.
class TestLog final : public Log {
 public:
  void write(LogLevel, std::string_view line) override {
    const MutexLock lock(mutex_);
    lines_.emplace_back(line);
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const MutexLock lock(mutex_);
    return lines_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::string> lines_ ROWSOCKET_GUARDED_BY(mutex_);
};

inline constexpr size_t big_name_bytes = 4 * limits::mebibyte;

/// shop.item: (1, pen), (2, ink), and (3, four MiB of x).
inline void create_items(engine::memory::MemoryEngine& engine) {
  using namespace engine::memory;
  engine.create_table("shop.item", {.columns = {integer("id"), text("name", 2 * big_name_bytes)},
                                    .indexes = {{"PRIMARY", {"id"}, true}}});
  EXPECT_TRUE(engine.insert("shop.item", {"1", "pen"}));
  EXPECT_TRUE(engine.insert("shop.item", {"2", "ink"}));
  EXPECT_TRUE(engine.insert("shop.item", {"3", std::string(big_name_bytes, 'x')}));
}

inline constexpr std::string_view open_items = "P\t0\tshop\titem\t\tid,name\n";
inline constexpr std::string_view find_pen = "0\t=\t1\t1\n";
inline constexpr std::string_view find_ink = "0\t=\t1\t2\n";
inline constexpr std::string_view find_big = "0\t=\t1\t3\n";
inline constexpr std::string_view ok = "0\t1\n";
inline constexpr std::string_view pen = "0\t2\t1\tpen\n";
inline constexpr std::string_view ink = "0\t2\t2\tink\n";

inline std::string big() { return "0\t2\t3\t" + std::string(big_name_bytes, 'x') + "\n"; }

inline std::string repeat(std::string_view text, size_t times) {
  std::string repeated;
  repeated.reserve(text.size() * times);
  while (times-- > 0) {
    repeated += text;
  }
  return repeated;
}

/// A connection whose client is gone.
inline std::unique_ptr<ClientConnection> make_connection(const Settings& settings) {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
  const net::Descriptor client(fds[0]);
  Arrival arrival{std::make_unique<net::PlainTransport>(net::Descriptor(fds[1])),
                  {"test"},
                  1,
                  exec::Access::read,
                  &wire::handlersocket::handlersocket_protocol()};
  return std::make_unique<ClientConnection>(std::move(arrival), exec::Account(exec::Access::read, settings),
                                            0);
}

}  // namespace rowsocket::server
