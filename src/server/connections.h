// SPDX-License-Identifier: GPL-2.0-only
//
// The connections of one worker, with what they share: the poller that tells which of them are ready, the
// pool of their buffers, the count of what they hold together. Moves bytes, and knows neither requests nor
// turns.
//
// One owner, one thread. Allocates when a connection comes, and not later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/log.h"
#include "engine/opened_selections.h"
#include "net/buffer_pool.h"
#include "net/poller.h"
#include "net/send_ring.h"
#include "request/counters.h"
#include "server/allotments.h"
#include "server/client_connection.h"
#include "server/handshakes.h"
#include "server/inbox.h"
#include "server/limited_log.h"
#include "server/roster.h"

namespace rowsocket::server {

class Connections {
 public:
  struct Surroundings {
    Inbox& inbox;
    net::Poller& poller;  ///< for these connections alone
    Counters& counters;
    LimitedLog& log;
    AccountLoads& account_loads;
    Handshakes* handshakes = nullptr;    ///< nullptr: clients that begin with TLS are closed
    net::SendRing* send_ring = nullptr;  ///< for these connections alone; nullptr: there is none
  };

  explicit Connections(const Surroundings& surroundings);
  ~Connections();  ///< closes all of them
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// False if the system refused what polling needs.
  [[nodiscard]] bool is_usable() const { return is_usable_; }

  [[nodiscard]] size_t size() const { return connections_.size(); }
  [[nodiscard]] const std::vector<std::unique_ptr<ClientConnection>>& all() const { return connections_; }

  // ---- waiting

  using Events = std::span<const net::Poller::Event>;
  /// The descriptors that are ready; see net::Poller. The tag is the ClientConnection, or nullptr for the
  /// inbox's wakeup.
  [[nodiscard]] Events wait(int timeout_ms) { return poller_.wait(timeout_ms); }
  /// Before a long wait: whether a burst left memory that can be given back.
  [[nodiscard]] bool has_surplus() const { return pool_.has_surplus(); }
  void trim() { pool_.trim(); }

  // ---- a connection's life

  /// May throw std::bad_alloc; then nothing changed.
  ClientConnection& add(std::unique_ptr<ClientConnection> connection);
  /// The next `remove_closed` removes it. Until then its buffers stay as they are.
  void close(ClientConnection& connection);
  void close_with_note(ClientConnection& connection, LogLevel level, std::string_view why);
  [[nodiscard]] bool some_are_closed() const { return !closed_.empty(); }
  /// Destroys the closed connections, and so closes their sockets.
  void remove_closed();
  /// It is not one of these any more. Between turns, of one that is not closed.
  [[nodiscard]] std::unique_ptr<ClientConnection> release(ClientConnection& connection);

  /// For readers on other threads.
  [[nodiscard]] const Roster& roster() const { return roster_; }

  // ---- its bytes

  struct Received {
    bool is_new;        ///< there is something new to execute
    size_t byte_count;  ///< that came, be they of use or not
  };
  [[nodiscard]] Received receive(ClientConnection& connection, size_t bytes_max = limits::receive_bytes);
  void send(ClientConnection& connection, uint64_t now_ms);
  /// The same for all of these that have something to send. Each is there once.
  void send_all(std::span<ClientConnection* const> connections, uint64_t now_ms);
  /// Take memory for replies, if the connection has none.
  void lend_output(ClientConnection& connection) { connection.stream.borrow_output(pool_); }
  /// Take back the memory that the connection does not need between turns, and count anew what it holds.
  void rest(ClientConnection& connection);
  /// From now on `wait` tells of this event of the connection, and of no other.
  void watch(ClientConnection& connection, net::Interest wanted);
  /// From now on `wait` tells when something can be received.
  void await_input(ClientConnection& connection);

  // ---- all together

  /// In their buffers.
  [[nodiscard]] size_t held_bytes() const { return held_bytes_; }
  /// In all: the opened selections, too.
  [[nodiscard]] size_t held_bytes(const engine::OpenedSelections& selections) const {
    return held_bytes_ + list_bytes_ + selections.held_bytes();
  }
  /// Connections hold unfinished requests, replies that were not read, and opened selections. The connection
  /// that holds most is closed, until all together hold no more than `held_bytes_max`; `spared` is not.
  void bound_held_bytes(size_t held_bytes_max, const engine::OpenedSelections& selections,
                        const ClientConnection* spared = nullptr);
  /// The same for each account, over all workers.
  void bound_bytes_of_accounts();
  void use_settings(const Settings& settings);
  /// Some that were held back may go on at once.
  [[nodiscard]] bool some_may_go_on() const { return allotments_.some_may_go_on(); }
  /// What they have of what their accounts may have.
  [[nodiscard]] Allotments& allotments() { return allotments_; }

  /// A line of the log about one connection.
  void note(const ClientConnection& connection, LogLevel level, std::string_view what);

 private:
  class Sends;
  [[nodiscard]] bool has_ring();
  [[nodiscard]] bool may_send(ClientConnection& connection);
  void note_sent(ClientConnection& connection, const net::Transfer& transfer, uint64_t now_ms);
  [[nodiscard]] bool leave_for_handshake(ClientConnection& connection);
  void count_held_bytes(ClientConnection& connection);
  void rank(ClientConnection& connection);
  size_t close_holder(ClientConnection& connection, std::string_view why);
  [[nodiscard]] ClientConnection* largest_holder(const ClientConnection* spared);
  [[nodiscard]] std::unique_ptr<ClientConnection> take_out(ClientConnection& connection);

  Inbox& inbox_;
  Counters& counters_;
  LimitedLog& log_;
  Handshakes* handshakes_;
  net::Poller& poller_;
  net::SendRing* send_ring_;
  bool has_told_of_ring_ = false;  ///< that there is none, or none any more
  net::BufferPool pool_;
  Allotments allotments_;  ///< of all that are not closed
  std::vector<std::unique_ptr<ClientConnection>> connections_;
  Roster roster_;                          ///< the same
  std::vector<ClientConnection*> closed_;  ///< has room for all
  size_t held_bytes_ = 0;
  size_t list_bytes_ = 0;  ///< of all lists of opened ids
  bool is_usable_;
};

}  // namespace rowsocket::server
