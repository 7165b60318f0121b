// SPDX-License-Identifier: GPL-2.0-only
#include "server/connections.h"

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "base/invariant.h"
#include "base/memory.h"

namespace rowsocket::server {

using State = ClientConnection::State;

Connections::Connections(const Surroundings& surroundings)
    : inbox_(surroundings.inbox),
      counters_(surroundings.counters),
      log_(surroundings.log),
      handshakes_(surroundings.handshakes),
      poller_(surroundings.poller),
      send_ring_(surroundings.send_ring),
      allotments_(surroundings.account_loads, inbox_, counters_),
      is_usable_(inbox_.wakeup().valid() &&
                 poller_.change(inbox_.wakeup().fd(), net::Interest::none, net::Interest::input, nullptr)) {}

Connections::~Connections() {
  counters_.add(Counter::connections_closed, connections_.size());
  for (size_t i = 0; i < connections_.size(); ++i) {
    inbox_.connection_closed();
  }
}

// ---- a connection's life

ClientConnection& Connections::add(std::unique_ptr<ClientConnection> connection) {
  const size_t wanted = connections_.size() + 1;
  if (closed_.capacity() < wanted) {
    const size_t room = std::max<size_t>(2 * wanted, 16);
    connections_.reserve(room);
    closed_.reserve(room);
  }
  allotments_.place(*connection);
  try {
    roster_.add(*connection);
  } catch (...) {
    allotments_.remove(*connection);
    throw;
  }
  connection->slot = connections_.size();
  connections_.push_back(std::move(connection));
  ClientConnection& added = *connections_.back();
  watch(added, net::Interest::input);
  return added;
}

void Connections::close(ClientConnection& connection) {
  if (!connection.is_closed()) {
    connection.state = State::closed;
    allotments_.close(connection);
    closed_.push_back(&connection);
  }
}

void Connections::close_with_note(ClientConnection& connection, LogLevel level, std::string_view why) {
  note(connection, level, why);
  close(connection);
}

void Connections::remove_closed() {
  for (ClientConnection* connection : closed_) {
    const bool stays_counted = connection->left_for_handshake;
    connection->stream.input().clear();
    connection->stream.output().clear();
    connection->stream.give_back_empty(pool_);
    static_cast<void>(take_out(*connection));
    if (!stays_counted) {
      counters_.add(Counter::connections_closed);
      inbox_.connection_closed();
    }
  }
  closed_.clear();
}

std::unique_ptr<ClientConnection> Connections::release(ClientConnection& connection) {
  allotments_.close(connection);
  connection.stream.give_back_empty(pool_);
  return take_out(connection);
}

/// nullptr: for a bug of ours it stays, and nothing is done for it any more.
std::unique_ptr<ClientConnection> Connections::take_out(ClientConnection& connection) {
  const bool is_in_slot =
      connection.slot < connections_.size() && connections_[connection.slot].get() == &connection;
  if (!invariant(is_in_slot, "a connection stands in its slot")) {
    return nullptr;
  }
  roster_.remove(connection);
  allotments_.remove(connection);
  // A login may have the socket, too: then closing ours does not end the watch.
  watch(connection, net::Interest::none);
  held_bytes_ -= std::exchange(connection.held_bytes, 0);
  list_bytes_ -= std::exchange(connection.list_bytes, 0);
  const size_t slot = connection.slot;
  if (slot + 1 != connections_.size()) {
    connections_[slot].swap(connections_.back());
    connections_[slot]->slot = slot;
  }
  std::unique_ptr<ClientConnection> taken = std::move(connections_.back());
  connections_.pop_back();
  return taken;
}

// ---- its bytes

Connections::Received Connections::receive(ClientConnection& connection, size_t bytes_max) {
  if (!invariant(!connection.is_in_turn, "an input stays where it is while its requests are in a turn")) {
    close(connection);
    return {false, 0};
  }
  const net::Transfer transfer = connection.stream.receive(pool_, bytes_max);
  counters_.add(Counter::bytes_received, transfer.byte_count);
  connection.shown.bytes_received += transfer.byte_count;
  switch (transfer.status) {
    case net::Transfer::Status::moved:
      if (connection.state == State::lingering) {
        connection.stream.input().clear();
        connection.stream.give_back_empty(pool_);
        await_input(connection);
        return {false, transfer.byte_count};
      }
      return {true, transfer.byte_count};
    case net::Transfer::Status::blocked:
      connection.stream.give_back_empty(pool_);
      await_input(connection);
      return {false, 0};
    case net::Transfer::Status::ended:
    case net::Transfer::Status::failed:
      // Every complete request has been executed and answered: else we would not be reading.
      close(connection);
      return {false, 0};
    case net::Transfer::Status::misused:
      close_with_note(connection, LogLevel::note,
                      "changes keys, or asks for another handshake, too often: it is closed");
      return {false, 0};
    case net::Transfer::Status::out_of_memory:
      close_with_note(connection, LogLevel::error, "is closed: no memory to receive");
      return {false, 0};
    case net::Transfer::Status::begins_tls:
      if (!leave_for_handshake(connection)) {
        close_with_note(connection, LogLevel::warning, "begins with TLS, which is not served: it is closed");
      }
      return {false, 0};
  }
  return {false, 0};
}

/// It comes back through the inbox. False if there is nowhere to go.
bool Connections::leave_for_handshake(ClientConnection& connection) {
  if (handshakes_ == nullptr) {
    return false;
  }
  watch(connection, net::Interest::none);
  try {
    Arrival arrival{.transport = nullptr,
                    .peer = connection.peer,
                    .number = connection.number,
                    .port_access = connection.port_access,
                    .protocol = connection.protocol,
                    .is_unix = connection.is_unix,
                    .life = std::move(connection.life)};
    handshakes_->add({std::move(arrival), connection.stream.take_socket(), &inbox_});
  } catch (const std::exception&) {
    return false;
  }
  connection.left_for_handshake = true;
  close(connection);
  return true;
}

void Connections::send(ClientConnection& connection, uint64_t now_ms) {
  if (may_send(connection)) {
    note_sent(connection, connection.stream.send(), now_ms);
  }
}

bool Connections::may_send(ClientConnection& connection) {
  if (!invariant(!connection.is_in_turn, "replies leave when the turn that made them is committed")) {
    close(connection);
    return false;
  }
  return true;
}

void Connections::note_sent(ClientConnection& connection, const net::Transfer& transfer, uint64_t now_ms) {
  if (transfer.status == net::Transfer::Status::moved) {
    counters_.add(Counter::bytes_sent, transfer.byte_count);
    connection.shown.bytes_sent += transfer.byte_count;
    connection.last_progress_ms = now_ms;
  } else if (transfer.status == net::Transfer::Status::failed) {
    close(connection);
  }
}

bool Connections::has_ring() {
  if (send_ring_ == nullptr) {
    return false;
  }
  if (send_ring_->open()) [[likely]] {
    return true;
  }
  if (!std::exchange(has_told_of_ring_, true)) {
    log_.always(LogLevel::warning,
                "goes on without io_uring: " + std::generic_category().message(send_ring_->error()));
  }
  return false;
}

/// What is to be sent by the ring, where there is one and more than one reply.
class Connections::Sends {
 public:
  explicit Sends(Connections& all, uint64_t now_ms) : all_(all), now_ms_(now_ms) {}

  void add(ClientConnection& connection) {
    connections_[count_] = &connection;
    sends_[count_] = connection.stream.to_send();
    if (++count_ == sends_.size()) {
      send();
    }
  }
  void send() {
    if (count_ > 1 && all_.has_ring()) {
      all_.send_ring_->send({sends_.data(), count_});
      for (size_t number = 0; number < count_; ++number) {
        connections_[number]->stream.note_sent(sends_[number].transfer);
        all_.note_sent(*connections_[number], sends_[number].transfer, now_ms_);
      }
    } else {
      std::for_each_n(connections_.begin(), count_, [&](auto* one) { all_.send(*one, now_ms_); });
    }
    count_ = 0;
  }

 private:
  Connections& all_;
  uint64_t now_ms_;
  std::array<ClientConnection*, net::SendRing::sends_max> connections_;
  std::array<net::SendRing::Send, net::SendRing::sends_max> sends_;
  size_t count_ = 0;
};

void Connections::send_all(std::span<ClientConnection* const> connections, uint64_t now_ms) {
  Sends together(*this, now_ms);
  for (ClientConnection* const connection : connections) {
    if (connection->is_closed() || !connection->stream.has_output()) {
      continue;
    }
    if (connection->stream.sends_by_ring()) {
      if (may_send(*connection)) {
        together.add(*connection);
      }
    } else {
      send(*connection, now_ms);
    }
  }
  together.send();
}

void Connections::rest(ClientConnection& connection) {
  connection.stream.give_back_empty(pool_);
  count_held_bytes(connection);
}

void Connections::watch(ClientConnection& connection, net::Interest wanted) {
  if (connection.interest == wanted) [[likely]] {
    return;
  }
  if (!poller_.change(connection.stream.fd(), connection.interest, wanted, &connection) &&
      wanted != net::Interest::none) {
    close_with_note(connection, LogLevel::error, "is closed: it can not be polled");
    return;
  }
  connection.interest = wanted;
}

void Connections::await_input(ClientConnection& connection) {
  const bool sends_first = connection.stream.transport().receives_when_writable();
  watch(connection, sends_first ? net::Interest::output : net::Interest::input);
}

// ---- all together

/// May throw std::bad_alloc. Clients that name no account may be of another one now.
void Connections::use_settings(const Settings& settings) {
  if (!allotments_.use_settings(settings)) [[likely]] {
    return;
  }
  for (const auto& connection : connections_) {
    if (!connection->is_closed() && !connection->is_away) {
      allotments_.follow_account(*connection);
    }
  }
}

void Connections::count_held_bytes(ClientConnection& connection) {
  const size_t held_bytes =
      (connection.is_closed() ? connection.stream.buffer_bytes() : connection.stream.held_bytes()) +
      connection.state_bytes();
  held_bytes_ = held_bytes_ - connection.held_bytes + held_bytes;
  connection.held_bytes = held_bytes;
  const size_t list_bytes = connection.client.list_bytes();
  list_bytes_ = list_bytes_ - connection.list_bytes + list_bytes;
  connection.list_bytes = list_bytes;
  rank(connection);
}

/// By what it would give back if it were closed alone.
void Connections::rank(ClientConnection& connection) {
  const size_t bytes = connection.held_bytes + connection.list_bytes + connection.client.held_bytes();
  // One that was passed over while it was away is ranked as holding nothing.
  const bool is_known = bytes == connection.ranked_bytes && bytes == connection.shown.held_bytes;
  if (!is_known && !connection.is_closed()) {
    allotments_.rank(connection, bytes);
  }
}

/// nullptr if no other connection holds anything. One that is away is another thread's: it is ranked again
/// when it is back. One that is spared is when its turn ends.
ClientConnection* Connections::largest_holder(const ClientConnection* spared) {
  while (ClientConnection* const largest = allotments_.largest_holder()) {
    if (!largest->is_away && largest != spared) {
      return largest;
    }
    allotments_.pass_over(*largest);
  }
  return nullptr;
}

void Connections::bound_held_bytes(size_t held_bytes_max, const engine::OpenedSelections& selections,
                                   const ClientConnection* spared) {
  size_t opened_bytes = 0;  // of the connections that are closed
  while (held_bytes(selections) > held_bytes_max) [[unlikely]] {
    ClientConnection* const largest = largest_holder(spared);
    if (largest == nullptr) {
      break;
    }
    opened_bytes += close_holder(
        *largest,
        "holds most of too much memory (half a request, a transaction, replies not read, or opened indexes): "
        "it is closed");
  }
  if (opened_bytes >= limits::kept_bytes_min) [[unlikely]] {
    give_back_freed_memory();
  }
}

void Connections::bound_bytes_of_accounts() {
  size_t opened_bytes = 0;
  while (ClientConnection* const largest = allotments_.holder_of_too_much()) {
    counters_.add(Counter::account_connections_closed);
    opened_bytes += close_holder(*largest,
                                 "holds most of what is too much memory for its account "
                                 "(rowsocket_max_account_bytes): it is closed");
  }
  if (opened_bytes >= limits::kept_bytes_min) [[unlikely]] {
    give_back_freed_memory();
  }
}

/// Returns how much its opened selections held.
size_t Connections::close_holder(ClientConnection& connection, std::string_view why) {
  close_with_note(connection, LogLevel::warning, why);
  connection.stream.input().release();
  connection.stream.output().release();
  const size_t opened_bytes = connection.client.held_bytes();
  connection.wire_state.reset();
  connection.client.forget_selections();
  count_held_bytes(connection);
  return opened_bytes;
}

void Connections::note(const ClientConnection& connection, LogLevel level, std::string_view what) {
  log_.about_connection(level, connection.number, connection.stream.peer(), what);
}

}  // namespace rowsocket::server
