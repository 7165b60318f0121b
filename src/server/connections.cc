// SPDX-License-Identifier: GPL-2.0-only
#include "server/connections.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace rowsocket::server {

using State = ClientConnection::State;

Connections::Connections(const Surroundings& surroundings)
    : inbox_(surroundings.inbox),
      counters_(surroundings.counters),
      log_(surroundings.log),
      is_usable_(poller_.valid() && inbox_.wakeup().valid() &&
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
    closed_.reserve(std::max<size_t>(2 * wanted, 16));
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
    closed_.push_back(&connection);
  }
}

void Connections::close_with_note(ClientConnection& connection, LogLevel level, std::string_view why) {
  note(connection, level, why);
  close(connection);
}

void Connections::remove_closed() {
  counters_.add(Counter::connections_closed, closed_.size());
  for (ClientConnection* connection : closed_) {
    connection->stream.input().clear();
    connection->stream.output().clear();
    connection->stream.give_back_empty(pool_);
    remove(*connection);
    inbox_.connection_closed();
  }
  closed_.clear();
}

void Connections::remove(ClientConnection& connection) {
  const bool is_in_slot =
      connection.slot < connections_.size() && connections_[connection.slot].get() == &connection;
  if (!invariant(is_in_slot, "a connection stands in its slot")) {
    return;  // it stays, closed, and nothing is done for it any more
  }
  held_bytes_ -= connection.held_bytes;
  list_bytes_ -= connection.list_bytes;
  const size_t slot = connection.slot;
  if (slot + 1 != connections_.size()) {
    connections_[slot].swap(connections_.back());
    connections_[slot]->slot = slot;
  }
  connections_.pop_back();
}

// ---- its bytes

bool Connections::receive(ClientConnection& connection) {
  if (!invariant(!connection.is_in_turn, "an input stays where it is while its requests are in a turn")) {
    close(connection);
    return false;
  }
  const net::Transfer transfer = connection.stream.receive(pool_);
  counters_.add(Counter::bytes_received, transfer.byte_count);
  switch (transfer.status) {
    case net::Transfer::Status::moved:
      if (connection.state == State::lingering) {
        connection.stream.input().clear();
        connection.stream.give_back_empty(pool_);
        return false;
      }
      return true;
    case net::Transfer::Status::blocked:
      connection.stream.give_back_empty(pool_);
      return false;
    case net::Transfer::Status::ended:
    case net::Transfer::Status::failed:
      // Every complete request has been executed and answered: else we would not be reading.
      close(connection);
      return false;
    case net::Transfer::Status::out_of_memory:
      close_with_note(connection, LogLevel::error, "is closed: no memory to receive");
      return false;
  }
  return false;
}

void Connections::send(ClientConnection& connection, uint64_t now_ms) {
  if (!invariant(!connection.is_in_turn, "replies leave when the turn that made them is committed")) {
    close(connection);
    return;
  }
  const net::Transfer transfer = connection.stream.send();
  if (transfer.status == net::Transfer::Status::moved) {
    counters_.add(Counter::bytes_sent, transfer.byte_count);
    connection.last_progress_ms = now_ms;
  } else if (transfer.status == net::Transfer::Status::failed) {
    close(connection);
  }
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

// ---- all together

void Connections::count_held_bytes(ClientConnection& connection) {
  const size_t held_bytes = connection.stream.held_bytes();
  held_bytes_ = held_bytes_ - connection.held_bytes + held_bytes;
  connection.held_bytes = held_bytes;
  const size_t list_bytes = connection.client.list_bytes();
  list_bytes_ = list_bytes_ - connection.list_bytes + list_bytes;
  connection.list_bytes = list_bytes;
}

/// nullptr if no connection holds anything. Looks at all of them.
ClientConnection* Connections::largest_holder() const {
  ClientConnection* largest = nullptr;
  size_t largest_bytes = 0;
  for (const auto& connection : connections_) {
    if (connection->is_away) {
      continue;  // another thread's
    }
    const size_t held_bytes =
        connection->held_bytes + connection->list_bytes + connection->client.held_bytes();
    if (!connection->is_closed() && held_bytes > largest_bytes) {
      largest = connection.get();
      largest_bytes = held_bytes;
    }
  }
  return largest;
}

void Connections::bound_held_bytes(size_t held_bytes_max, const engine::OpenedSelections& selections) {
  while (held_bytes_ + list_bytes_ + selections.held_bytes() > held_bytes_max) [[unlikely]] {
    ClientConnection* const largest = largest_holder();
    if (largest == nullptr) {
      return;
    }
    close_with_note(*largest, LogLevel::warning,
                    "holds most of too much memory (half a request, replies not read, or opened indexes): "
                    "it is closed");
    largest->stream.input().release();
    largest->stream.output().release();
    largest->client.forget_selections();
    count_held_bytes(*largest);
  }
}

void Connections::note(const ClientConnection& connection, LogLevel level, std::string_view what) {
  log_.about_connection(level, connection.number, connection.stream.peer(), what);
}

}  // namespace rowsocket::server
