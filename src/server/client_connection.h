// SPDX-License-Identifier: GPL-2.0-only
//
// One client: its byte stream, what its protocol and exec remember of it, and where it stands in its worker's
// turns.
//
//            receive          execute             send
//   reading ─────────► (turn) ───────► (replies) ──────► reading
//                        │ no room left in the turn:   unreached, cut ──► the next turn
//                        │ the request waits for a lock: parked ────────► a later turn
//                        │ it kept a processor for long: resting ───────► a later turn
//                        │ it gives a password:          logging_in ────► a later turn
//                        │ its account asks too much:    held_back ─────► a later turn
//                        │ an administrator ends it:     cut ───────────► closed
//                        │ a stream that makes no sense: condemned ─────► lingering ──► closed
//                        │ the end of the stream:        leaving ───────► closed
//
// Output that the client has not taken yet comes first: until it is sent, nothing is received or executed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "base/published.h"
#include "exec/client.h"
#include "net/address.h"
#include "net/connection.h"
#include "net/poller.h"
#include "request/protocol.h"
#include "server/account_loads.h"
#include "server/connection_figures.h"
#include "server/holders.h"
#include "server/inbox.h"
#include "server/lifelines.h"
#include "server/logins.h"
#include "server/own_time.h"

namespace rowsocket::server {

class Allotment;

struct ClientConnection final : engine::Presence, Holder {
  enum class State : uint8_t {
    reading,        ///< waits for bytes
    unreached,      ///< has bytes that the turn had no room for
    cut,            ///< had its share of the turn; may have more requests
    parked,         ///< its first request waits for a lock
    resting,        ///< what it had of the processors, others have now
    logging_in,     ///< its first request waits until the host has decided on its login
    held_back,      ///< its first request waits until others of its account were answered
    behind_commit,  ///< its first request writes, and comes behind a commit that goes on beside the loop
    condemned,      ///< is told why its stream can not be followed, and that nothing more comes
    lingering,      ///< was told so; its further bytes are dropped, so that our last reply reaches it
    leaving,        ///< is closed once its replies are sent
    failed,         ///< is closed, and its replies are not sent
    closed          ///< goes at the end of the turn
  };

  /// What it is as one of its account's: see allotments.h.
  struct Membership {
    Allotment* allotment = nullptr;
    uint64_t placed_as = 0;    ///< the number of the account that this is of
    Seat seat;                 ///< empty = it has not asked anything as that account
    uint32_t place_count = 0;  ///< requests that it may have under way
    uint32_t asked_count = 0;  ///< of these, those that it has asked in this turn
    bool is_held_back = false;
    bool is_asked_again = false;               ///< it was refused since the anonymous account was not there
    ClientConnection* waits_before = nullptr;  ///< while it is held back: its neighbours in the queue
    ClientConnection* waits_behind = nullptr;
  };
  /// What the log is to say of it once its turn is over.
  struct Note {
    LogLevel level = LogLevel::note;
    std::string text;  ///< empty = nothing
  };
  /// For administrators: see ConnectionFigures, and what there is const.
  struct Shown {
    Published<Doing> doing = Doing::idle;
    Published<uint64_t> account = 0;
    Published<uint64_t> bytes_received = 0;
    Published<uint64_t> bytes_sent = 0;
    Published<uint64_t> held_bytes = 0;
    Published<uint64_t> away_on_thread = 0;
  };

  /// May throw std::bad_alloc.
  ClientConnection(Arrival arrival, exec::Account account, uint64_t now_ms)
      : peer(std::move(arrival.peer)),
        stream(std::move(arrival.transport), peer.text),
        client(std::move(account)),
        encryption(stream.transport().encryption()),
        protocol(arrival.protocol),
        wire_state(protocol->new_state()),
        number(arrival.number),
        life(std::move(arrival.life)),
        connected_ms(now_ms),
        last_progress_ms(now_ms),
        port_access(arrival.port_access),
        is_unix(arrival.is_unix) {
    client.presence = this;
  }
  ~ClientConnection() override {
    if (login != nullptr) {
      stream.shut_down_output();  // the login thread may have the socket for a while yet
      forget_login();
    }
  }
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  /// Nobody waits for what it asked. From any thread, while it stays with its owner.
  [[nodiscard]] bool is_gone() const override { return is_killed() || stream.is_gone(); }
  /// An administrator has ended it: it is to be closed, and nothing more is executed.
  [[nodiscard]] bool is_killed() const override { return life != nullptr && life->is_killed(); }
  [[nodiscard]] bool is_lost() const override { return is_killed() || stream.is_broken(); }
  [[nodiscard]] std::string address() const override { return peer.host; }

  /// Without the memory for it there is no note.
  void set_note(LogLevel level, std::string_view text) noexcept {
    try {
      note = {level, std::string(text)};
    } catch (...) {
      note = {};
    }
  }
  /// It is closed, and its replies are not sent.
  void fail(std::string_view why) noexcept {
    state = State::failed;
    set_note(LogLevel::error, why);
  }
  /// Nothing more of its stream is parsed. What was asked before is answered, and the last reply comes after
  /// the commit: a replay may change those before it.
  void end_stream(const Parsed& parsed) noexcept {
    state = parsed.status == Parsed::Status::fatal ? State::condemned : State::leaving;
    fatal_error = parsed.error;
    if (!parsed.why.empty()) {
      set_note(LogLevel::warning, parsed.why);
    }
  }

  [[nodiscard]] bool is_closed() const { return state == State::closed; }
  /// What it asked lately keeps others waiting: see Intake.
  [[nodiscard]] bool takes_long() const {
    return walked_us >= limits::heavy_us || own_time.is_heavy() || client.given_up.count > 0;
  }
  /// What it asks now is likely to outlast a slice, and to go on without the loop.
  [[nodiscard]] bool outlasts_slice() const {
    return walked_us >= limits::slice_us || client.given_up.count > 0;
  }
  /// It costs several times what a request of one row costs: see Intake.
  [[nodiscard]] bool is_middling() const { return own_time.is_middling(); }
  /// Of those that take long: its walks are short as a rule, so that it does not wait for all that take much.
  [[nodiscard]] bool takes_little() const {
    return usual_walk_eighths / 8 < limits::little_us && !own_time.is_heavy() && client.given_up.count == 0;
  }
  /// Its requests of this turn have walked for so long.
  void note_walk(uint64_t us) {
    walked_us = std::max(us, walked_us / 2);
    if (us > 0) [[unlikely]] {
      usual_walk_eighths = usual_walk_eighths == 0
                               ? 8 * counted_us(us)
                               : usual_walk_eighths - usual_walk_eighths / 8 + counted_us(us);
    }
  }
  /// And the last of them, which went on beside the loop, took so long by itself. What is shorter than a
  /// slice has most likely waited, and `own_time` measures it.
  void note_beside(uint64_t us) {
    if (us >= limits::slice_us) {
      walked_us = std::max(us, walked_us);
      usual_walk_eighths = 8 * limits::slice_us;
    }
  }
  /// Of a walk, in `usual_walk_eighths`.
  [[nodiscard]] static uint32_t counted_us(uint64_t us) {
    return static_cast<uint32_t>(std::min<uint64_t>(us, limits::slice_us));
  }
  /// What is sent can neither be read on a network nor changed there.
  [[nodiscard]] bool is_protected() const { return is_unix || stream.transport().is_encrypted(); }
  /// Of what its protocol remembers.
  [[nodiscard]] size_t state_bytes() const { return wire_state == nullptr ? 0 : wire_state->held_bytes(); }
  /// What becomes of a login under way does not matter any more.
  void forget_login() {
    if (login != nullptr) {
      login->abandon();
      login = nullptr;
    }
  }

  const net::Peer peer;
  net::Connection stream;
  exec::Client client;
  const net::Encryption encryption;
  const Protocol* const protocol;
  std::unique_ptr<WireState> wire_state;  ///< nullptr where the protocol has none
  std::shared_ptr<Login> login;           ///< that its first request waits for; nullptr = none
  const uint64_t number;
  std::unique_ptr<Lifeline> life;  ///< nullptr: no administrator reaches it; it has left for its handshake
  const uint64_t connected_ms;
  Published<uint64_t>
      last_progress_ms;         ///< when bytes last came or went, or a request ran; since when it lingers
  uint64_t retry_at_ms = 0;     ///< when parked or resting
  uint64_t rests_until_ms = 0;  ///< 0: it need not rest
  uint64_t walked_us = 0;       ///< how long its requests of a turn walk, of late
  /// The mean of turns with walks, of which the last one is an eighth, and a slice the most that counts:
  /// others may have had the processor.
  uint32_t usual_walk_eighths = 0;
  OwnTime own_time;          ///< of its last turns
  size_t scanned_bytes = 0;  ///< see Protocol::parse
  size_t parsed_bytes = 0;   ///< front of the input that this turn has dealt with; consumed after the commit
  size_t held_bytes = 0;     ///< by its buffers, as the worker last counted them
  size_t list_bytes = 0;     ///< the same of its list of opened ids
  size_t slot = 0;           ///< where the worker keeps it
  ErrorCode fatal_error = ErrorCode::none;  ///< when condemned: the reply that is still to be written
  State state = State::reading;
  Note note;
  bool is_in_line = false;        ///< it waits for a turn: see Intake
  bool wrote_last = false;        ///< it asked for a write, in the last turn in which it asked for anything
  bool is_in_turn = false;        ///< its requests are the turn's; what they view must stay
  bool was_over_time = false;     ///< it has had all of its time in its last turn: see TimeShare
  bool is_long_pipeline = false;  ///< it has had all that it may have of its last turn: see Pipelines
  bool is_away = false;  ///< the turn is another thread's, which alone touches it: see TurnLoop::take_over
  bool closes_when_back = false;
  bool stays_meanwhile = false;     ///< it could not move to another worker: see TurnLoop::relieve
  bool left_for_handshake = false;  ///< closed here only; it comes back with a stream inside TLS
  const exec::Access port_access;
  const bool is_unix;

  net::Interest interest = net::Interest::none;
  Membership membership;
  Shown shown;
};

}  // namespace rowsocket::server
