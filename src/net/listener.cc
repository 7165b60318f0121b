// SPDX-License-Identifier: GPL-2.0-only
#include "net/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/limits.h"

namespace rowsocket::net {
namespace {

constexpr int stream_flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

void switch_on(int fd, int level, int option) {
  const int on = 1;
  // A socket without the option still works.
  [[maybe_unused]] const int result = ::setsockopt(fd, level, option, &on, sizeof on);
}

/// What the system's error numbers mean, in words for the person that configures an address.
std::string explain(const std::string& name, int error) {
  switch (error) {
    case EADDRINUSE:
      return name + " is in use: stop what listens there, or choose another";
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
      return name + " is not an address of this machine";
    case EACCES:
    case EPERM:
      return name + ": permission denied";
    case ENOENT:
    case ENOTDIR:
      return name + ": the folder does not exist";
    default:
      return name + ": " + std::generic_category().message(error);
  }
}

bool unix_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path || path.find('\0') != std::string::npos) {
    return false;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

/// True if `path` is a socket and no process listens on it.
bool is_stale_socket(const std::string& path, const sockaddr_un& address) {
  struct stat file{};
  if (::lstat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) {
    return false;
  }
  const Descriptor probe(::socket(AF_UNIX, stream_flags, 0));
  return probe.valid() &&
         ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

/// The ways to make a Listener; each returns 0 or the system's error number.
struct ListenerMaker {
  static int tcp(const SocketAddress& address, Listener& listener) {
    Listener made;
    made.socket_ = Descriptor(::socket(address.family(), stream_flags, 0));
    if (!made.socket_.valid()) {
      return errno;
    }
    const int fd = made.socket_.get();
    switch_on(fd, SOL_SOCKET, SO_REUSEADDR);
    if (address.is_ipv6()) {
      switch_on(fd, IPPROTO_IPV6, IPV6_V6ONLY);  // 0.0.0.0 and :: side by side
    }
    SocketAddress bound;
    if (::bind(fd, address.data(), address.size()) != 0 || ::listen(fd, limits::listen_backlog) != 0 ||
        ::getsockname(fd, bound.data(), bound.size_for_kernel()) != 0) {
      return errno;
    }
    made.name_ = bound.text();
    made.port_ = bound.port();
    listener = std::move(made);
    return 0;
  }

  static int unix_socket(const std::string& path, const sockaddr_un& address, Listener& listener) {
    Listener made;
    made.socket_ = Descriptor(::socket(AF_UNIX, stream_flags, 0));
    if (!made.socket_.valid()) {
      return errno;
    }
    const int fd = made.socket_.get();
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(fd, generic, sizeof address) != 0) {
      const int error = errno;
      if (error != EADDRINUSE || !is_stale_socket(path, address)) {
        return error;
      }
      if (::unlink(path.c_str()) != 0 || ::bind(fd, generic, sizeof address) != 0) {
        return errno;
      }
    }
    struct stat file{};
    if (::lstat(path.c_str(), &file) == 0) {
      made.path_ = path;
      made.device_ = file.st_dev;
      made.inode_ = file.st_ino;
    }
    if (::chmod(path.c_str(), 0777) != 0 || ::listen(fd, limits::listen_backlog) != 0) {
      return errno;
    }
    made.name_ = path;
    listener = std::move(made);
    return 0;
  }
};

Listener& Listener::operator=(Listener&& other) noexcept {
  if (this != &other) {
    close();
    socket_ = std::move(other.socket_);
    name_ = std::move(other.name_);
    port_ = other.port_;
    path_ = std::exchange(other.path_, {});
    device_ = other.device_;
    inode_ = other.inode_;
  }
  return *this;
}

void Listener::close() {
  if (socket_.valid() && !path_.empty()) {
    struct stat file{};
    if (::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_) {
      ::unlink(path_.c_str());
    }
  }
  socket_.close();
}

Listener::Accepted Listener::accept(Descriptor& socket, Peer& peer) const {
  SocketAddress from;
  Descriptor accepted(::accept4(fd(), from.data(), from.size_for_kernel(), SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted.valid()) {
    switch (errno) {
      case EAGAIN:
        return Accepted::nothing;
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM:
        return Accepted::out_of_resources;
      default:
        return Accepted::try_again;  // accept(2) reports the new connection's own network errors here
    }
  }
  if (path_.empty()) {
    switch_on(accepted.get(), IPPROTO_TCP, TCP_NODELAY);
    switch_on(accepted.get(), SOL_SOCKET, SO_KEEPALIVE);
    peer = peer_at(from);
  } else {
    peer = unix_peer(accepted.get());
  }
  socket = std::move(accepted);
  return Accepted::connection;
}

namespace {

/// One attempt for all addresses. Returns 0, or the error of the address that failed, which `failed_name`
/// names.
int listen_once(const std::vector<SocketAddress>& addresses, uint16_t port, bool ipv6_optional,
                std::vector<Listener>& listeners, std::string& notes, std::string& failed_name) {
  listeners.clear();
  notes.clear();
  for (SocketAddress address : addresses) {
    // Port 0: the first address picks the port, the others join it.
    address.set_port(port == 0 && !listeners.empty() ? listeners.front().port() : port);
    Listener listener;
    const int error = ListenerMaker::tcp(address, listener);
    if (error == 0) {
      listeners.push_back(std::move(listener));
    } else if (ipv6_optional && address.is_ipv6() && (error == EAFNOSUPPORT || error == EADDRNOTAVAIL)) {
      notes = address.text() + " is left out: this machine has no IPv6";
    } else {
      failed_name = address.text();
      listeners.clear();
      return error;
    }
  }
  return 0;
}

}  // namespace

bool listen_tcp(const std::vector<SocketAddress>& addresses, uint32_t port, bool ipv6_optional,
                std::vector<Listener>& listeners, std::string& notes, std::string& failure) {
  if (port > UINT16_MAX) {
    failure = std::to_string(port) + " is not a port: the largest is 65535";
    return false;
  }
  // A port that is free on one address may be taken on the next: then another one is picked.
  int error = EADDRINUSE;
  std::string failed_name;
  for (uint32_t pick = 0; pick < (port == 0 ? limits::port_picks_max : 1) && error == EADDRINUSE; ++pick) {
    error = listen_once(addresses, static_cast<uint16_t>(port), ipv6_optional, listeners, notes, failed_name);
  }
  if (error == 0 && listeners.empty()) {
    failure = "no address is left to listen on";
    return false;
  }
  if (error != 0) {
    failure = explain(failed_name, error);
    if (error == EACCES && port != 0 && port < 1024) {
      failure += " (ports below 1024 need a privilege)";
    }
  }
  return error == 0;
}

bool listen_unix(const std::string& path, Listener& listener, std::string& failure) {
  sockaddr_un address;
  if (path.empty() || !unix_address(path, address)) {
    failure = "'" + path + "' can not be a unix socket: a path has 1 to " +
              std::to_string(sizeof address.sun_path - 1) + " bytes";
    return false;
  }
  const int error = ListenerMaker::unix_socket(path, address, listener);
  if (error == EADDRINUSE) {
    struct stat file{};
    const bool other_file = ::lstat(path.c_str(), &file) == 0 && !S_ISSOCK(file.st_mode);
    failure = other_file ? path + " exists and is not a socket: move it away, or choose another path"
                         : explain(path, error);
  } else if (error != 0) {
    failure = explain(path, error);
  }
  return error == 0;
}

}  // namespace rowsocket::net
