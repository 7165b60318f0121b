// SPDX-License-Identifier: GPL-2.0-only
#include "server/roster.h"

#include <algorithm>
#include <array>

#include "server/client_connection.h"

namespace rowsocket::server {
namespace {

uint64_t since(uint64_t then_ms, uint64_t now_ms) { return now_ms - std::min(now_ms, then_ms); }

ConnectionFigures figures_of(const ClientConnection& connection, uint64_t now_ms, uint64_t thread) {
  const uint64_t own_thread = connection.shown.away_on_thread;
  return {.number = connection.number,
          .protocol = connection.protocol,
          .protocol_name = {},
          .port_access = connection.port_access,
          .account = connection.shown.account,
          .log_number = connection.client.log_number,
          .peer = connection.stream.peer(),
          .encryption = connection.encryption,
          .connected_ms = since(connection.connected_ms, now_ms),
          .idle_ms = since(connection.last_progress_ms, now_ms),
          .requests = connection.client.requests_answered,
          .bytes_received = connection.shown.bytes_received,
          .bytes_sent = connection.shown.bytes_sent,
          .held_bytes = connection.shown.held_bytes,
          .doing = connection.shown.doing,
          .thread = own_thread != 0 ? own_thread : thread};
}

}  // namespace

std::string_view name_of(Doing doing) {
  constexpr std::array<std::string_view, 8> names{"idle",       "reading", "queued",  "executing",
                                                  "committing", "waiting", "sending", "closing"};
  return names[static_cast<size_t>(doing)];
}

void Roster::add(ClientConnection& connection) {
  const MutexLock lock(mutex_);
  by_number_.insert_or_assign(connection.number, &connection);
}

void Roster::remove(const ClientConnection& connection) {
  const MutexLock lock(mutex_);
  const auto known = by_number_.find(connection.number);
  if (known != by_number_.end() && known->second == &connection) {
    by_number_.erase(known);
  }
}

ClientConnection* Roster::find(uint64_t number) const {
  const MutexLock lock(mutex_);
  const auto known = by_number_.find(number);
  return known == by_number_.end() ? nullptr : known->second;
}

bool Roster::copy_behind(uint64_t number, size_t count_max, uint64_t now_ms, uint64_t thread,
                         std::vector<ConnectionFigures>& figures) const {
  figures.reserve(figures.size() + count_max);
  const MutexLock lock(mutex_);
  auto next = by_number_.upper_bound(number);
  for (size_t count = 0; count < count_max && next != by_number_.end(); ++count, ++next) {
    figures.push_back(figures_of(*next->second, now_ms, thread));
  }
  return next != by_number_.end();
}

}  // namespace rowsocket::server
