// SPDX-License-Identifier: GPL-2.0-only
#include "server/endpoints.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "wire/handlersocket/handlersocket.h"

namespace rowsocket::server {
namespace {

using engine::Intent;

class Opener {
 public:
  Opener(const Config& config, Endpoints& endpoints, std::string& failure)
      : config_(config), endpoints_(endpoints), failure_(failure) {}

  [[nodiscard]] bool open_all() { return open_ports() && open_sockets(); }

 private:
  [[nodiscard]] bool open_ports() {
    if (!config_.tcp) {
      return true;
    }
    std::string reason;
    if (!net::parse_address_list(config_.address, addresses_, reason)) {
      return fail("rowsocket_address", reason);
    }
    if (config_.port_read == config_.port_write && config_.port_read != 0) {
      const bool opened = open_port("rowsocket_port_write", config_.port_write, Intent::write, endpoints_.port_write);
      endpoints_.port_read = endpoints_.port_write;
      return opened;
    }
    return open_port("rowsocket_port_read", config_.port_read, Intent::read, endpoints_.port_read) &&
           open_port("rowsocket_port_write", config_.port_write, Intent::write, endpoints_.port_write);
  }

  [[nodiscard]] bool open_sockets() {
    const bool shared = config_.socket_read == config_.socket_write;
    return (shared || open_socket("rowsocket_socket_read", config_.socket_read, Intent::read)) &&
           open_socket("rowsocket_socket_write", config_.socket_write, Intent::write);
  }

  [[nodiscard]] bool open_port(std::string_view variable, uint32_t port, Intent intent, uint32_t& port_taken) {
    // Nobody asked for IPv6 by name: then a machine without it is no error.
    const bool ipv6_optional = config_.address == Config{}.address || config_.address.find('*') != std::string::npos;
    std::vector<net::Listener> listeners;
    std::string reason;
    if (!net::listen_tcp(addresses_, port, ipv6_optional, listeners, endpoints_.notes, reason)) {
      return fail(variable, reason);
    }
    port_taken = listeners.front().port();
    for (net::Listener& listener : listeners) {
      add(std::move(listener), intent);
    }
    return true;
  }

  [[nodiscard]] bool open_socket(std::string_view variable, const std::string& path, Intent intent) {
    if (path.empty()) {
      return true;
    }
    net::Listener listener;
    std::string reason;
    if (!net::listen_unix(path, listener, reason)) {
      return fail(variable, reason);
    }
    add(std::move(listener), intent);
    return true;
  }

  void add(net::Listener listener, Intent intent) {
    endpoints_.all.push_back({std::move(listener), intent, &wire::handlersocket::handlersocket_protocol()});
  }

  bool fail(std::string_view variable, const std::string& reason) {
    endpoints_ = {};
    failure_ = std::string(variable) + ": " + reason;
    return false;
  }

  const Config& config_;
  Endpoints& endpoints_;
  std::string& failure_;
  std::vector<net::SocketAddress> addresses_;
};

}  // namespace

bool Endpoints::serve(Intent intent) const {
  return std::any_of(all.begin(), all.end(), [intent](const Endpoint& endpoint) { return endpoint.intent == intent; });
}

bool open_endpoints(const Config& config, Endpoints& endpoints, std::string& failure) {
  return Opener(config, endpoints, failure).open_all();
}

}  // namespace rowsocket::server
