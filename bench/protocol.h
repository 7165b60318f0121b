// SPDX-License-Identifier: GPL-2.0-only
//
// What the generator asks of a wire protocol. An adapter is one file: a class and its line in `make_protocol` (protocol.cc). It
// is pure functions over buffers and holds no connection's state, so one object serves all connections.
//
// Replies are checked by writing the reply that a right server must give and comparing bytes: no adapter parses, and no wrong
// answer goes unseen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"

namespace rowsocket::bench {

enum class Workload : uint8_t {
  point,    ///< the row of one key
  in_list,  ///< the rows of several keys, in the keys' order
  insert    ///< a new row
};

/// One request: what to do with which keys.
struct Operation {
  Workload workload = Workload::point;
  std::vector<uint32_t> keys;
};

/// A request that a new connection makes before the load, and its only right reply.
struct Exchange {
  std::string request;
  std::string reply;
};

/// What is asked for, in any protocol.
struct Target {
  Workload workload = Workload::point;
  std::string database = "bench";
  std::string table = "user";
  std::string secret;  ///< empty = do not authenticate
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  [[nodiscard]] virtual std::vector<Exchange> opening(const Target& target) const = 0;
  virtual void write_request(const Operation& operation, Buffer& out) const = 0;
  virtual void write_right_reply(const Operation& operation, Buffer& out) const = 0;
};

std::unique_ptr<Protocol> make_handlersocket();
/// The generator's side of echo_server: HandlerSocket requests, always the same reply.
std::unique_ptr<Protocol> make_floor();
/// What the echo server answers to every line: the reply to a point request.
[[nodiscard]] std::string floor_reply();

/// nullptr if there is no such protocol.
[[nodiscard]] std::unique_ptr<Protocol> make_protocol(std::string_view name);
/// For messages: the names that make_protocol knows.
[[nodiscard]] std::string protocol_names();

}  // namespace rowsocket::bench
