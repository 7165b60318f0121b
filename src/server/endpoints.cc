// SPDX-License-Identifier: GPL-2.0-only
#include "server/endpoints.h"

#include <algorithm>
#include <utility>

namespace rowsocket::server {
namespace {

using engine::Intent;

class Opener {
 public:
  Opener(const Config& config, Endpoints& endpoints, std::string& failure)
      : config_(config), endpoints_(endpoints), failure_(failure) {}

  [[nodiscard]] bool open_all() {
    endpoints_.ports.resize(config_.doors.size());
    return open_ports() && open_sockets();
  }

 private:
  [[nodiscard]] bool open_ports() {
    if (!config_.tcp) {
      return true;
    }
    std::string reason;
    if (!net::parse_address_list(config_.address, addresses_, reason)) {
      return fail("rowsocket_address", reason);
    }
    for (size_t i = 0; i < config_.doors.size(); ++i) {
      const Door& door = config_.doors[i];
      if (door.port == port_off) {
        continue;
      }
      const bool shared =
          is_shared(door, [&door](const Door& other) { return other.port == door.port && door.port != 0; });
      if (!shared && !open_port(door, endpoints_.ports[i])) {
        return false;
      }
      if (shared) {
        endpoints_.ports[i] = door.port;
      }
    }
    return true;
  }

  [[nodiscard]] bool open_sockets() {
    for (const Door& door : config_.doors) {
      const bool shared = is_shared(door, [&door](const Door& other) { return other.socket == door.socket; });
      if (!door.socket.empty() && !shared && !open_socket(door)) {
        return false;
      }
    }
    return true;
  }

  /// A door that allows more serves the clients of this one too.
  template <typename SamePlace>
  [[nodiscard]] bool is_shared(const Door& door, SamePlace is_same_place) const {
    return std::any_of(config_.doors.begin(), config_.doors.end(), [&](const Door& other) {
      return other.protocol == door.protocol && other.intent > door.intent && is_same_place(other);
    });
  }

  [[nodiscard]] bool open_port(const Door& door, uint32_t& port_taken) {
    // If no address of IPv6 was configured, a machine without IPv6 is no error.
    const bool ipv6_optional =
        config_.address == Config{}.address || config_.address.find('*') != std::string::npos;
    std::vector<net::Listener> listeners;
    std::string reason;
    if (!net::listen_tcp(addresses_, door.port, ipv6_optional, listeners, endpoints_.notes, reason)) {
      return fail(std::string("rowsocket_port_").append(door.name), reason);
    }
    port_taken = listeners.front().port();
    for (net::Listener& listener : listeners) {
      add(std::move(listener), door);
    }
    return true;
  }

  [[nodiscard]] bool open_socket(const Door& door) {
    net::Listener listener;
    std::string reason;
    if (!net::listen_unix(door.socket, listener, reason)) {
      return fail(std::string("rowsocket_socket_").append(door.name), reason);
    }
    add(std::move(listener), door);
    return true;
  }

  void add(net::Listener listener, const Door& door) {
    endpoints_.all.push_back({std::move(listener), door.intent, door.protocol, door.protocol_name});
  }

  bool fail(const std::string& variable, const std::string& reason) {
    endpoints_ = {};
    failure_ = variable + ": " + reason;
    return false;
  }

  const Config& config_;
  Endpoints& endpoints_;
  std::string& failure_;
  std::vector<net::SocketAddress> addresses_;
};

}  // namespace

bool Endpoints::serve(Intent intent) const {
  return std::any_of(all.begin(), all.end(),
                     [intent](const Endpoint& endpoint) { return endpoint.intent == intent; });
}

bool open_endpoints(const Config& config, Endpoints& endpoints, std::string& failure) {
  return Opener(config, endpoints, failure).open_all();
}

}  // namespace rowsocket::server
