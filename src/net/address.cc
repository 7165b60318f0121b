// SPDX-License-Identifier: GPL-2.0-only
#include "net/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

namespace rowsocket::net {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// An in_addr or an in6_addr; empty where it is none.
std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, address, text.data(), text.size());
  return text.data();
}

}  // namespace

bool SocketAddress::from_numeric(const std::string& host, uint16_t port, SocketAddress& address) {
  address = {};
  auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&address.storage_);
  if (::inet_pton(AF_INET, host.c_str(), &ipv4->sin_addr) == 1) {
    ipv4->sin_family = AF_INET;
    address.size_ = sizeof(sockaddr_in);
    address.set_port(port);
    return true;
  }
  auto* const ipv6 = reinterpret_cast<sockaddr_in6*>(&address.storage_);
  const size_t percent = host.find('%');
  if (::inet_pton(AF_INET6, host.substr(0, percent).c_str(), &ipv6->sin6_addr) != 1) {
    return false;
  }
  if (percent != std::string::npos) {
    ipv6->sin6_scope_id = ::if_nametoindex(host.c_str() + percent + 1);
    if (ipv6->sin6_scope_id == 0) {
      return false;
    }
  }
  ipv6->sin6_family = AF_INET6;
  address.size_ = sizeof(sockaddr_in6);
  address.set_port(port);
  return true;
}

uint16_t SocketAddress::port() const {
  return ntohs(is_ipv6() ? reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port
                         : reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port);
}

void SocketAddress::set_port(uint16_t port) {
  if (is_ipv6()) {
    reinterpret_cast<sockaddr_in6*>(&storage_)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&storage_)->sin_port = htons(port);
  }
}

std::string SocketAddress::text() const {
  const void* const bytes =
      is_ipv6() ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr)
                : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr);
  const std::string host = text_of(storage_.ss_family, bytes);
  if (host.empty()) {
    return "unknown";
  }
  const std::string port_text = std::to_string(port());
  return is_ipv6() ? "[" + host + "]:" + port_text : host + ":" + port_text;
}

Peer unix_peer(int fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  const bool is_known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
  return {.text = is_known ? "pid " + std::to_string(credentials.pid) : "unix",
          .place = Peer::Place::unix_socket,
          .party = is_known ? "uid " + std::to_string(credentials.uid) : "unknown uid"};
}

Peer peer_at(const SocketAddress& address) {
  Peer peer{.text = address.text(), .port = address.port()};
  if (!address.is_ipv6()) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in*>(address.data())->sin_addr;
    const bool is_loopback = (ntohl(ipv4.s_addr) >> 24) == 127;
    peer.place = is_loopback ? Peer::Place::loopback : Peer::Place::network;
    peer.party = peer.host = text_of(AF_INET, &ipv4);
    return peer;
  }
  const auto& given = *reinterpret_cast<const sockaddr_in6*>(address.data());
  in6_addr ipv6 = given.sin6_addr;
  const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&ipv6);
  const bool is_loopback = IN6_IS_ADDR_LOOPBACK(&ipv6) || (is_mapped && ipv6.s6_addr[12] == 127);
  peer.place = is_loopback ? Peer::Place::loopback : Peer::Place::network;
  peer.host = is_mapped ? text_of(AF_INET, &ipv6.s6_addr[12]) : text_of(AF_INET6, &ipv6);
  peer.scope_id = given.sin6_scope_id;
  if (!is_mapped && !is_loopback) {
    std::fill(std::begin(ipv6.s6_addr) + 8, std::end(ipv6.s6_addr), uint8_t{0});
  }
  peer.party = text_of(AF_INET6, &ipv6);
  return peer;
}

bool parse_address_list(std::string_view list, std::vector<SocketAddress>& addresses, std::string& failure) {
  addresses.clear();
  for (size_t begin = 0; begin <= list.size();) {
    const size_t comma = std::min(list.find(',', begin), list.size());
    const std::string host(trimmed(list.substr(begin, comma - begin)));
    begin = comma + 1;
    SocketAddress address;
    if (host == "*") {
      for (const char* any : {"0.0.0.0", "::"}) {
        if (SocketAddress::from_numeric(any, 0, address)) {
          addresses.push_back(address);
        }
      }
    } else if (SocketAddress::from_numeric(host, 0, address)) {
      addresses.push_back(address);
    } else {
      failure =
          "'" + host + "' is not a numeric IPv4 or IPv6 address (separate several with commas; * means all)";
      return false;
    }
  }
  return true;
}

}  // namespace rowsocket::net
