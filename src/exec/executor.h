// SPDX-License-Identifier: GPL-2.0-only
//
// Executes a turn's requests against the engine: authorises, walks the index, stages the replies to writes, commits once, and
// replays where the engine rolled everything back. One per worker, used by its thread only.
//
// Invariant 1: no reply to a write leaves before the commit that covers it. Replies are appended to the connections' output
// buffers while the turn runs, and the caller sends nothing before `end_turn` returned. From the first write of a turn on, every
// request is remembered together with where its reply begins ("staged"); if the commit fails, these replies are cut off and made anew.
//
// Invariant 2: a request is atomic. A request that fails is undone alone. If the engine rolls back the whole transaction, the
// staged requests are executed again one by one, each in its own transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/counters.h"
#include "base/protocol.h"
#include "engine/engine.h"
#include "exec/client.h"

namespace rowsocket::exec {

/// What the configuration says about requests. Replaced between turns.
struct Policy {
  std::string secret_read;   ///< empty = reading needs no secret
  std::string secret_write;  ///< empty = writing needs the read secret, if there is one
  size_t reply_bytes_max;
  uint32_t index_id_max;     ///< ids are below this
  bool error_detail = false; ///< replies carry the text for people
};

/// What a new connection may do before it authenticates.
[[nodiscard]] Access initial_access(Access port_access, const Policy& policy);

enum class Executed : uint8_t {
  done,    ///< a reply stands in `out`
  parked   ///< the request waits for a lock: nothing was done; present it again in a later turn, and nothing else of its connection before it
};

class Executor {
 public:
  Executor(engine::Session& session, Counters& counters, const Policy& policy);

  void set_policy(const Policy& policy) { policy_ = policy; }

  void begin_turn(uint64_t now_ms);
  /// Execute one request. `client`, `out` and what `request` views must stay where they are until `end_turn` returned. Bytes in `out`
  /// before this call are never touched. Never throws.
  [[nodiscard]] Executed execute(Client& client, const Request& request, const Protocol& protocol, Buffer& out);
  /// Commit; afterwards every reply of the turn is final. Never throws.
  void end_turn();

  /// True if nothing is staged: what earlier requests of this turn viewed may be reused.
  [[nodiscard]] bool nothing_staged() const { return staged_.empty(); }

 private:
  struct Staged {
    Client* client;
    const Protocol* protocol;
    Buffer* out;
    size_t reply_begin;  ///< size of `out` before the reply
    Request request;
  };

  engine::Session& session_;
  Counters& counters_;
  Policy policy_;
  uint64_t now_ms_ = 0;
  std::vector<Staged> staged_;
};

}  // namespace rowsocket::exec
