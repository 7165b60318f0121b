// SPDX-License-Identifier: GPL-2.0-only
//
// Sockets that wait for clients: TCP (IPv4 and IPv6) and unix. A listener owns its descriptor. A unix
// listener also owns its file, and removes the file at its end. A failure is a line for the operator, which
// says what is wrong and what to do.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/descriptor.h"

namespace rowsocket::net {

class Listener {
 public:
  Listener() = default;
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&& other) noexcept;
  ~Listener() { close(); }

  [[nodiscard]] int fd() const { return socket_.get(); }
  /// "127.0.0.1:9998", or the path.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] uint16_t port() const { return port_; }  ///< 0 for a unix socket

  enum class Accepted : uint8_t {
    connection,
    nothing,          ///< no client waits
    try_again,        ///< this client went away; perhaps another one waits
    out_of_resources  ///< no descriptor or memory is left: the client waits on, look again later
  };
  /// Take the next client: non-blocking, without delays (TCP_NODELAY) and with keep-alive probes.
  [[nodiscard]] Accepted accept(Descriptor& socket, Peer& peer) const;

  /// Close, and remove the unix socket's file if it is still ours.
  void close();

 private:
  friend struct ListenerMaker;

  Descriptor socket_;
  std::string name_;
  uint16_t port_ = 0;
  std::string path_;  ///< of the unix socket; empty for TCP
  dev_t device_ = 0;  ///< which file is ours: another program may have replaced it
  ino_t inode_ = 0;
};

/// Listen on one port of several addresses; port 0 takes a port that is free on all of them. With
/// `ipv6_optional`, an IPv6 address that this machine does not have is left out and named in `notes`.
[[nodiscard]] bool listen_tcp(const std::vector<SocketAddress>& addresses, uint32_t port, bool ipv6_optional,
                              std::vector<Listener>& listeners, std::string& notes, std::string& failure);

/// Listen on a unix socket. Any local user may connect to it, as to the server's own socket. A socket file is
/// replaced if no process listens on it.
[[nodiscard]] bool listen_unix(const std::string& path, Listener& listener, std::string& failure);

}  // namespace rowsocket::net
