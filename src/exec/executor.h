// SPDX-License-Identifier: GPL-2.0-only
//
// Executes a turn's requests against the engine: authorises, walks the index, stages the replies to writes, commits once, and
// replays where the engine rolled everything back. One per worker, used by its thread only.
//
// Invariant 1: no reply to a write leaves before the commit that covers it. Replies are appended to the connections' output
// buffers while the turn runs, and the caller sends nothing before `end_turn` returned. From the first write of a turn on, every
// request is remembered together with where its reply begins ("staged"); if the commit fails, these replies are cut off and made
// anew.
//
// Invariant 2: a request is atomic. A request that fails is undone alone. If the engine rolls back the whole transaction, the
// staged requests are executed again one by one, each in its own transaction.
//
// A group is one request that holds others: it is undone, parked, staged and replayed as a whole (group.cc).
//
// What depends on no transaction (authentication, open_index, a refusal) is decided once: a replay gives the same answer again,
// and a staged request keeps the index that its id meant when it was executed, whatever its client opened or lost since.
//
// A reply that cannot even be written as an error leaves its buffer `failed()`. Nothing more is executed for such a connection
// and its buffer stays failed; the caller closes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/counters.h"
#include "base/limits.h"
#include "base/protocol.h"
#include "engine/engine.h"
#include "exec/client.h"
#include "exec/walk.h"

namespace rowsocket::exec {

/// What the configuration says about requests. Replaced between turns.
struct Policy {
  std::string secret_read;   ///< empty = reading needs no secret
  std::string secret_write;  ///< empty = writing needs the read secret, if there is one
  size_t reply_bytes_max;
  uint32_t index_id_max;      ///< ids are below this
  bool error_detail = false;  ///< replies carry the text for people
};

/// What a new connection may do before it authenticates.
[[nodiscard]] Access initial_access(Access port_access, const Policy& policy);

enum class Executed : uint8_t {
  done,   ///< a reply stands in `out`
  parked  ///< the request waits for a lock: nothing was done; present it again in a later turn, and nothing else of its
          ///< connection before it
};

class Executor {
 public:
  Executor(engine::Session& session, Counters& counters, const Policy& policy);

  void set_policy(const Policy& policy) { policy_ = policy; }

  void begin_turn(uint64_t now_ms);
  /// Execute one request. `client`, `out` and what `request` views must stay where they are until `end_turn` returned. Bytes in
  /// `out` before this call are never touched. Never throws.
  [[nodiscard]] Executed execute(Client& client, const Request& request, const Protocol& protocol, Buffer& out);
  /// What is executed from now on came after everything that was executed in this turn.
  void others_came() { session_.expire_snapshot(); }
  /// True if the last request was the first of its client that a strict server would refuse.
  [[nodiscard]] bool met_first_lenience() const { return met_first_lenience_; }
  /// Commit; afterwards every reply of the turn is final. Never throws.
  void end_turn();

  /// True if nothing is staged: what earlier requests of this turn viewed may be reused.
  [[nodiscard]] bool nothing_staged() const { return staged_.empty(); }

 private:
  using SharedIndex = std::shared_ptr<engine::Index>;

  /// A request whose reply may have to be made anew.
  struct Staged {
    const Protocol* protocol;
    Buffer* out;
    size_t reply_begin;  ///< size of `out` before the reply
    SharedIndex index;   ///< none: nothing to execute, `outcome` is the answer
    Request request;
    Error outcome = {};
    std::vector<SharedIndex> member_indexes = {};  ///< of a group that can run
    size_t failed_member = 0;                      ///< of a group: which one has `outcome` for its answer; see group.cc

    [[nodiscard]] bool can_run() const { return index != nullptr || !member_indexes.empty(); }
  };

  /// `failed_member` of a group that failed as a whole.
  static constexpr size_t group_itself = static_cast<size_t>(-1);  ///< it was refused: its beginning has the error
  static constexpr size_t every_member = static_cast<size_t>(-2);  ///< its commit failed: all but its beginning have the error

  /// Where the GTID of a commit is to stand.
  struct GtidPlace {
    const Protocol* protocol;
    Buffer* out;
    size_t position;
  };

  // One request (executor.cc).
  [[nodiscard]] engine::Begin admit(Client& client, const Request& request, const SharedIndex*& index, Error& error);
  [[nodiscard]] engine::Begin admit_on_index(Client& client, const Request& request, const SharedIndex*& index, Error& error);
  [[nodiscard]] engine::Begin open_index(Client& client, const Request& request, Error& error);
  [[nodiscard]] engine::Begin run(engine::Index& index, const Request& request, const Protocol& protocol, Buffer& out,
                                  Error& error);
  [[nodiscard]] engine::Begin run_statement(engine::Index& index, const Request& request, const Protocol& protocol, Buffer& out,
                                            RowCounts& rows, Error& error);
  [[nodiscard]] engine::Begin run_rows_alone(engine::Index& index, const Request& request, const Protocol& protocol, Buffer& out,
                                             RowCounts& rows, Error& error);
  [[nodiscard]] static engine::Intent intent_of(const Request& request);
  [[nodiscard]] bool parks(Client& client, Error& error);
  [[nodiscard]] engine::Begin stage_and_run(const SharedIndex*& index, const Request& request, const Protocol& protocol,
                                            Buffer& out, Error& error);
  [[nodiscard]] bool is_put_off(engine::Begin begin, Client& client, Error& error);
  [[nodiscard]] Executed finish(const Request& request);
  void unstage();
  void answer(const Protocol& protocol, Buffer& out, bool ran, Error& error);
  void count(const Request& request);
  void note_lenience(Client& client);

  // Groups (group.cc).
  [[nodiscard]] Executed execute_group(Client& client, const Request& group, const Protocol& protocol, Buffer& out);
  [[nodiscard]] engine::Begin admit_group(Client& client, const Request& group, Staged& staged);
  [[nodiscard]] engine::Begin run_group(Staged& staged);
  [[nodiscard]] engine::Begin begin_group(Staged& staged);
  [[nodiscard]] engine::Begin run_members(Staged& staged, RowCounts& rows);
  [[nodiscard]] size_t reply_bytes_left(const Buffer& out) const;
  [[nodiscard]] engine::Begin remember_gtid_place(Staged& staged);
  void answer_group(Staged& staged);

  // The transaction, and what is staged in it (transaction.cc).
  [[nodiscard]] bool stage(Staged&& request);
  void settle();
  [[nodiscard]] bool commit(Error& error, bool& worth_another_try);
  void roll_back();
  void forget_transaction();
  [[nodiscard]] bool transaction_is_full() const {
    return uncommitted_.changed() >= limits::rows_per_transaction || session_.wants_commit();
  }
  void fill_in_gtids();
  void replay_if_lost();
  void replay();
  void fail_writes(const Error& commit_error);
  void cut_staged_replies();
  void remake(Staged& staged);
  [[nodiscard]] engine::Begin run_staged(Staged& staged);
  void answer_staged(Staged& staged);
  [[nodiscard]] bool run_alone(Staged& staged);
  [[nodiscard]] Error redo_alone(Staged unstaged);
  void forget_staged();

  engine::Session& session_;
  Counters& counters_;
  Policy policy_;
  uint64_t now_ms_ = 0;
  uint64_t turn_requests_ = 0;
  bool transaction_open_ = false;             ///< something began since the last commit or rollback
  bool transaction_writes_ = false;           ///< and it may have changed rows
  RowCounts uncommitted_;                     ///< rows changed by it
  uint64_t rows_read_ = 0;                    ///< in this turn
  std::vector<Staged> staged_;                ///< in order of execution
  std::vector<GtidPlace> gtid_places_;        ///< in order of execution: ascending within each buffer
  std::vector<Value> in_keys_;                ///< scratch of a find with an IN list
  std::vector<engine::GroupMember> members_;  ///< scratch of a group
  bool is_lenient_ = false;                   ///< the request under way, so far
  bool met_first_lenience_ = false;           ///< see the function
  bool in_group_ = false;
  size_t group_reply_begin_ = 0;  ///< where the replies of the group that is under way begin
};

}  // namespace rowsocket::exec
