// SPDX-License-Identifier: GPL-2.0-only
//
// Which of the connections that have something for a turn take part in it, and how much is received of them.
//
//   ready ─── light ────────────────────────────────────────────────────► takes part
//     └────── middling or heavy ─── waits in line ─── their time ───────► takes part
//
// A connection is heavy as long as it costs the loop time: its last requests walked for long, or it sends a
// large request, whose bytes are copied into memory that is new. The replies of a turn wait for all of its
// requests. So the light ones come first, and the heavy ones behind them, one after the other. Where light
// ones come, all heavy ones together have a part of the loop's time: after each of them the light ones have
// the loop for a while (limits::long_requests_share, large_senders_share). Where none comes, no heavy one
// waits. Of those in line the ones that take little and the ones that take much have the same part of the
// time, in which they come in their order. Who waits in line is not polled.
//
// A connection is middling whose requests take several times what those for one row take, and are no walks: a
// list of keys. A hundred of these would take most of the time of a turn. So where light ones come, middling
// ones wait in a line of their own, and have up to a third of the time. They need not wait while no light one
// has something to execute, and what they take then is not counted. Where no light one comes, they are not
// told from light ones.
//
// Where memory is short, large requests wait for it, and one sender at a time goes on: the one that has sent
// most. So requests come to their end one after the other, and none is closed for the bytes of the others. A
// sender that stops in the middle lets the next one go on after a while.
//
// One owner, one thread. Allocates in `reserve` only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "server/connections.h"

namespace rowsocket::server {

class Intake {
  enum Kind : uint8_t { middling, takes_little, takes_much };

 public:
  /// Both outlive it.
  Intake(Connections& connections, const Clock& clock);

  /// From now on so many connections can wait. May throw std::bad_alloc.
  void reserve(size_t connection_count) {
    for (Line& line : lines_) {
      line.waiting.reserve(connection_count);
    }
    waiting_for_memory_.reserve(connection_count);
  }

  /// The time is that of the poll.
  void begin_turn(uint64_t now_ms);
  /// The connection has something to receive. True if there is something new to execute now. A heavy one, or
  /// a middling one, goes to the end of its line.
  [[nodiscard]] bool receive(ClientConnection& connection);
  /// The connection has requests. True if it takes part now. A heavy one, or a middling one, goes to the end
  /// of its line.
  [[nodiscard]] bool admit(ClientConnection& connection);
  /// Behind the light ones: the next one in line that has something to execute. nullptr where those in line
  /// have to wait for a later turn. `has_changes`: the turn has changed something, so that there is a commit
  /// for it to share.
  [[nodiscard]] ClientConnection* next_heavy(bool has_changes);
  /// The loop does nothing more for the one that `next_heavy` returned last. Idempotent.
  void end_service();
  void end_turn();
  /// Behind a turn: whether large requests have to wait for memory now.
  void share_memory(bool is_short);

  /// In line. Those that wait for memory do not: `share_memory` puts them back.
  [[nodiscard]] bool some_wait() const {
    return std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return !line.waiting.empty(); });
  }
  /// The loop need not wait for light ones before it goes on with those in line.
  [[nodiscard]] bool need_not_wait() const { return !lines_[middling].waiting.empty() || is_their_time(); }
  /// The loop has waited, and no light one has come.
  void note_quiet() { light_ones_come_ = false; }
  /// When another large sender may go on; see Clock::now_ms.
  [[nodiscard]] uint64_t due_ms() const { return waiting_for_memory_.empty() ? never : sole_until_ms_; }
  /// The one that goes on where memory is short; nullptr where all do, or none is left.
  [[nodiscard]] const ClientConnection* sole_sender() const { return sole_sender_; }
  /// Connections that were closed are about to go.
  void forget_closed();
  /// The connection, which is not in line, is about to become another loop's.
  void forget(const ClientConnection& connection);

 private:
  static constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

  /// The one that has waited longest comes first.
  struct Line {
    std::vector<ClientConnection*> waiting;
    size_t unpolled = 0;  ///< the first so many
  };

  [[nodiscard]] static Kind kind_of(ClientConnection& connection);
  [[nodiscard]] bool gives_way(const ClientConnection& connection) const;
  void note_part(const ClientConnection& connection);
  void wait_in_line(ClientConnection& connection);
  /// Those in line need not wait for light ones any more.
  [[nodiscard]] bool is_their_time() const { return !light_ones_come_ || clock_.now_us() >= theirs_at_us_; }
  [[nodiscard]] bool is_meanwhile(Kind kind) const;
  [[nodiscard]] bool may_take(Kind kind, bool has_changes) const;
  [[nodiscard]] ClientConnection* take_next_in_line(bool has_changes);
  [[nodiscard]] bool has_to_wait_for_memory(ClientConnection& connection);
  [[nodiscard]] bool has_stopped(ClientConnection& sender) const;
  void choose_sole_sender();

  Connections& connections_;
  const Clock& clock_;
  std::array<Line, 3> lines_;                          ///< of each kind
  std::vector<ClientConnection*> waiting_for_memory_;  ///< none of them is polled

  // This turn.
  uint64_t began_ms_ = 0;
  size_t left_bytes_ = 0;        ///< for all that send little
  size_t large_left_bytes_ = 0;  ///< for all heavy ones
  uint64_t used_us_ = 0;         ///< by those that were in line
  bool has_light_ = false;       ///< a light one takes part

  // From turn to turn.
  bool light_ones_come_ = false;
  uint64_t light_until_ms_ = 0;       ///< for so long after a light one has come, middling ones wait
  uint64_t theirs_at_us_ = 0;         ///< from when on the next in line may take part where light ones come
  uint64_t service_began_us_ = 0;     ///< 0: none of those in line is served
  uint32_t share_ = 0;                ///< of the one that is served
  Kind kind_ = takes_little;          ///< the same
  bool is_counted_ = true;            ///< the same: what it takes is not the others' time
  std::array<uint64_t, 3> had_us_{};  ///< by those of each kind; who did not wait counts as the others then
  uint64_t reached_us_ = 0;           ///< by the kind that was served last, before that
  bool is_memory_short_ = false;
  ClientConnection* sole_sender_ = nullptr;
  uint64_t sole_until_ms_ = 0;  ///< where a turn that begins later finds nothing of it, another goes on
};

}  // namespace rowsocket::server
