// SPDX-License-Identifier: GPL-2.0-only
//
// What the generator asks of a wire protocol. An adapter is one file: a class, and its line in protocol.cc. It is made for one
// workload, whose requests it has parsed beforehand, and one object serves all connections; what it must know of each of them it
// keeps in its links.
//
// Replies are checked by writing the reply that a right server must give and comparing bytes: hardly an adapter parses anything,
// and no wrong answer goes unseen. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "bench/request_text.h"
#include "bench/workload.h"

namespace rowsocket::bench {

/// Where the server listens.
struct Endpoint {
  std::string host = "127.0.0.1";  ///< numeric
  uint16_t port = 0;
  std::string socket_path;  ///< a unix socket; not empty = used instead of host and port
};

/// As whom to ask, and where.
struct Access {
  std::string user = "root";
  std::string secret;  ///< empty = do not authenticate; no password
  std::string database = "bench";
};

/// An open connection that belongs to somebody who closes it in his own way.
class Link {
 public:
  virtual ~Link() = default;
  [[nodiscard]] virtual int descriptor() const = 0;
};

/// A server gave another answer than the right one.
class WrongAnswer : public std::runtime_error {
 public:
  WrongAnswer(std::string_view received, std::string_view right);
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Connect, and say what has to be said before the load, blocking. Throws std::runtime_error.
  [[nodiscard]] virtual std::unique_ptr<Link> connect(const Endpoint& endpoint) = 0;
  /// `link` is one that `connect` gave.
  virtual void write_request(const Link& link, const Operation& operation, Buffer& out) = 0;
  /// The size of the right reply that `received` begins with; 0 = its end is still to come. Throws WrongAnswer.
  [[nodiscard]] virtual size_t check_reply(const Operation& operation, std::string_view received) = 0;
};

/// A protocol whose right reply is known to the byte.
class ComparingProtocol : public Protocol {
 public:
  virtual void write_right_reply(const Operation& operation, Buffer& out) = 0;
  [[nodiscard]] size_t check_reply(const Operation& operation, std::string_view received) override;

 private:
  Buffer right_reply_;
};

/// For replies that say a number which nobody can foretell: `prefix` digits `\r\n`.
[[nodiscard]] size_t check_number_reply(std::string_view prefix, std::string_view received);

/// The request's text for this protocol; nullptr if it has none.
[[nodiscard]] const std::string* find_text(const Request& request, std::string_view protocol);
/// The same; throws std::runtime_error if it has none.
[[nodiscard]] const std::string& text_of(const Workload& workload, const Request& request, std::string_view protocol);
/// Every request's text for this protocol, parsed. Throws std::runtime_error if one has none.
[[nodiscard]] std::vector<RequestText> parse_requests(const Workload& workload, std::string_view protocol);

using MakeProtocol = std::unique_ptr<Protocol>(const Workload& workload, const Access& access);
MakeProtocol make_handlersocket;
/// The same, where a workload asks for one of RowSocket's extensions.
MakeProtocol make_rowsocket;
/// The generator's side of echo_server: HandlerSocket requests, always the same reply.
MakeProtocol make_floor;
MakeProtocol make_memcached;
MakeProtocol make_redis;
MakeProtocol make_sql_text;
MakeProtocol make_sql_prepared;

/// What the echo server answers to every line: HandlerSocket's reply to a typical request of the workload.
[[nodiscard]] std::string floor_reply(const Workload& workload);

/// `workload` outlives the protocol. Throws std::runtime_error if there is no such protocol, or the workload knows none of its
/// requests.
[[nodiscard]] std::unique_ptr<Protocol> make_protocol(std::string_view name, const Workload& workload, const Access& access);
/// For messages: the names that make_protocol knows.
[[nodiscard]] std::string protocol_names();
/// Those of them in which the workload can be asked.
[[nodiscard]] std::vector<std::string> protocols_of(const Workload& workload);

}  // namespace rowsocket::bench
