// SPDX-License-Identifier: GPL-2.0-only
#include "bench/protocol.h"

#include <array>

namespace rowsocket::bench {

namespace {

struct Registration {
  std::string_view name;
  std::unique_ptr<Protocol> (*make)();
};

constexpr std::array registrations{
    Registration{"handlersocket", make_handlersocket},
    Registration{"floor", make_floor},
};

}  // namespace

std::unique_ptr<Protocol> make_protocol(std::string_view name) {
  for (const Registration& registration : registrations) {
    if (registration.name == name) {
      return registration.make();
    }
  }
  return nullptr;
}

std::string protocol_names() {
  std::string names;
  for (const Registration& registration : registrations) {
    names.append(names.empty() ? "" : ", ").append(registration.name);
  }
  return names;
}

}  // namespace rowsocket::bench
