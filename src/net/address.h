// SPDX-License-Identifier: GPL-2.0-only
//
// Numeric socket addresses: from an operator's list, and as text for people. No name is ever looked up.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rowsocket::net {

class SocketAddress {
 public:
  SocketAddress() = default;

  /// "127.0.0.1", "::1" or "fe80::1%eth0". False if it is none of these.
  [[nodiscard]] static bool from_numeric(const std::string& host, uint16_t port, SocketAddress& address);

  [[nodiscard]] bool is_ipv6() const { return storage_.ss_family == AF_INET6; }
  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] uint16_t port() const;
  void set_port(uint16_t port);
  /// "127.0.0.1:9998", "[::1]:9998".
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] sockaddr* data() { return reinterpret_cast<sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const { return size_; }
  /// For calls that fill an address in: how much room there is, then how much was taken.
  [[nodiscard]] socklen_t* size_for_kernel() {
    size_ = sizeof storage_;
    return &size_;
  }

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

/// Who is at the other end of a socket. That is asked when it is accepted: a socket that the other end has
/// reset does not know it any more.
struct Peer {
  enum class Place : uint8_t { unix_socket, loopback, network };
  std::string text = {};  ///< for people: "192.0.2.7:40000", "pid 1000"
  Place place = Place::network;
  /// What one party can have only one of: "uid 1000", "192.0.2.7", "2001:db8:1:2" (a network of 64 bits).
  std::string party = {};
  /// The numeric address. An address of IPv6 that only wraps one of IPv4 is that. Empty: a unix socket's.
  std::string host = {};
  uint16_t port = 0;
  uint32_t scope_id = 0;  ///< of an address of IPv6 that is good on one link only
};

/// May throw std::bad_alloc.
[[nodiscard]] Peer peer_at(const SocketAddress& address);
/// Of a connected unix socket. May throw std::bad_alloc.
[[nodiscard]] Peer unix_peer(int fd);

/// The hosts of a comma-separated list, blanks around them dropped; "*" stands for all addresses of both
/// families. On a host that is no numeric address, returns false and names it in `failure`.
[[nodiscard]] bool parse_address_list(std::string_view list, std::vector<SocketAddress>& addresses,
                                      std::string& failure);

}  // namespace rowsocket::net
