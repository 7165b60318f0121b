// SPDX-License-Identifier: GPL-2.0-only
//
// What a wire protocol is to the rest of RowSocket: a folder under src/wire that implements this, and one
// line of registration (server/protocols.h). One constant object per protocol serves every connection and
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/arena.h"
#include "base/buffer.h"
#include "request/counters.h"
#include "request/request.h"
#include "request/settings.h"
#include "request/unique_numbers.h"

namespace rowsocket {

/// What a protocol remembers of one connection between its requests, where it has to (a version agreed on, a
/// transaction that is being collected). The connection owns it. A request that has to wait for a lock is
/// parsed again in a later turn, and so are the requests behind it. If the engine has a part in a request,
/// parsing it again must leave the same state.
class WireState {
 public:
  virtual ~WireState() = default;
  /// Memory that clients make it hold, beyond its own size. It counts against rowsocket_max_held_bytes.
  [[nodiscard]] virtual size_t held_bytes() const { return 0; }
};

/// What a protocol can tell its clients of the server as a whole. Thread-safe.
class ServerFigures {
 public:
  virtual ~ServerFigures() = default;
  /// The sum over all workers.
  [[nodiscard]] virtual uint64_t counter(Counter counter) const = 0;
  [[nodiscard]] virtual uint64_t connections() const = 0;  ///< open now
  [[nodiscard]] virtual uint32_t workers() const = 0;
  [[nodiscard]] virtual uint64_t uptime_s() const = 0;
};

/// What a parse may use, and what it must respect.
struct Parsing {
  const Settings& settings;
  Arena& arena;                            ///< for the request, its reply, and what both view
  Buffer& out;                             ///< where replies of this connection go
  WireState* state;                        ///< nullptr where the protocol has none
  size_t& scanned_bytes;                   ///< see Protocol::parse
  uint64_t unix_time_us = 0;               ///< when the turn came to such a protocol, since 1970
  UniqueNumbers* numbers = nullptr;        ///< of the worker
  const ServerFigures* figures = nullptr;  ///< nullptr where there is no server (tests)
  /// The requests before this one, which were stateless, are still to be executed. So this parse must not
  /// change the state: where it would, it says `later` instead.
  bool is_ahead = false;
};

struct Parsed {
  enum class Status : uint8_t {
    request,    ///< `request` is there; the first `consumed_bytes` of the input are its own
    need_more,  ///< no complete request yet
    nothing,    ///< the first `consumed_bytes`, at least one, ask for nothing: they are dropped
    later,      ///< see Parsing::is_ahead
    fatal,      ///< the stream can not be followed any further: answer `error` and close
    hang_up  ///< answer what was asked before, and close (another protocol's stream, which may carry requests
             ///< of ours in it; a goodbye)
  };
  Status status;
  size_t consumed_bytes = 0;
  const Request* request = nullptr;
  /// Of a request that is one step of what its bytes ask: it takes none of them, and they are parsed again in
  /// the connection's next turn. The request changes the state, so that its step is final by then.
  bool is_step = false;
  /// The parse has changed no state, and to execute it changes none that a parse ahead looks at. So requests
  /// behind it may be parsed before it is executed (`Parsing::is_ahead`).
  bool is_stateless = false;
  ErrorCode error = ErrorCode::none;
  std::string_view why =
      {};  ///< of `fatal` and `hang_up`, the line for the log; empty where nothing is logged
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  /// For a new connection. May throw std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<WireState> new_state() const { return nullptr; }
  /// Whether its parser looks at `Parsing::unix_time_us` or `Parsing::numbers`. To read the time of day costs
  /// a turn of one request something.
  [[nodiscard]] virtual bool uses_time() const { return true; }

  /// Decode the next request of `input`, which is not empty. `parsing.scanned_bytes` remembers, between calls
  /// for one connection, how much of the input is known to hold no end of a request (0 at first, and reset to
  /// 0 by the caller when it consumes).
  [[nodiscard]] virtual Parsed parse(std::string_view input, const Parsing& parsing) const = 0;

  /// The last reply of a connection: its stream can not be followed any further.
  virtual void refuse_stream(Buffer& out, const Error& error, const Settings& settings) const = 0;
};

}  // namespace rowsocket
