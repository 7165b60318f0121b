// SPDX-License-Identifier: GPL-2.0-only
#include "server/gate.h"

#include <new>
#include <utility>

#include "server/allotments.h"

namespace rowsocket::server {
namespace {

using State = ClientConnection::State;

constexpr Parsed too_many{
    .status = Parsed::Status::fatal,
    .error = ErrorCode::too_many_connections,
    .why = "is one too many of its account (rowsocket_max_account_connections): it is closed"};

/// The request has nothing to do, or names an account: it takes no place of the connection's account.
bool is_free(const Request& request) {
  return request.kind == RequestKind::authenticate || request.kind == RequestKind::nothing;
}

/// The answer is the same for every client.
bool is_for_anybody(const Request& request) { return is_free(request) && !request.for_readers; }

}  // namespace

bool Gate::lets_pass_after_questions(ClientConnection& connection, const Request*& request,
                                     const Settings& settings, bool has_entered) {
  if (waits_for_login(connection, *request, settings)) {
    connection.state = State::logging_in;
    return false;
  }
  if (has_entered) {
    return true;
  }
  if (!lets_in(connection, request, settings)) {
    return false;
  }
  if (is_held_back(connection, *request, settings)) {
    connection.state = State::held_back;
    return false;
  }
  return true;
}

bool Gate::waits_for_login(ClientConnection& connection, const Request& request, const Settings& settings) {
  if (request.kind != RequestKind::authenticate || turn_.desk == nullptr) [[likely]] {
    return false;
  }
  return !turn_.desk->is_ready(connection, static_cast<const Authenticate&>(request), settings);
}

/// False: the account has too many connections, and this one's stream ends. False, too, where the loop is
/// another thread's by now, as are the accounts: the host is asked again.
bool Gate::lets_in(ClientConnection& connection, const Request*& request, const Settings& settings) {
  if (connection.membership.seat.load() != nullptr || connection.membership.allotment == nullptr) [[likely]] {
    return true;
  }
  exec::Account& account = connection.client.account;
  if (is_for_anybody(*request)) {
    return true;
  }
  if (std::exchange(connection.membership.is_asked_again, false)) {
    account.set_barred(false);
  }
  if (!account.may_read(settings)) {
    return true;
  }
  const engine::Admittance admittance = admittance_of(connection);
  if (turn_.hold.is_adrift()) [[unlikely]] {
    connection.state = State::cut;
    return false;
  }
  if (admittance == engine::Admittance::granted) {
    return takes_seat(connection, request, settings);
  }
  account.set_barred(true);
  connection.membership.is_asked_again = admittance == engine::Admittance::unknown;
  connection.shown.account = account.shown_number();
  if (admittance == engine::Admittance::refused) {
    connection.set_note(LogLevel::warning,
                        "comes without the TLS, or the certificate, that rowsocket_anonymous_account asks "
                        "for: it may do nothing");
  }
  return true;
}

engine::Admittance Gate::admittance_of(const ClientConnection& connection) {
  const net::Transport& transport = connection.stream.transport();
  const LoopHold::Entered entered(turn_.hold);
  return turn_.session.admittance_of({.is_unix = connection.is_unix, .tls = transport.portrait()});
}

/// A request that asks for no table is refused alone where there is no seat: behind it the client may log in.
bool Gate::takes_seat(ClientConnection& connection, const Request*& request, const Settings& settings) {
  if (connection.membership.allotment->let_in(connection, settings.account_connections_max)) {
    connection.shown.account = connection.client.account.shown_number();
    return true;
  }
  if (request->kind == RequestKind::nothing) {
    connection.shown.account = engine::own_account;
    request = refused_before_login(*request);
    return true;
  }
  turn_.counters.add(Counter::account_connections_refused);
  connection.end_stream(too_many);
  return false;
}

/// In the place of a request: the answer that its client has not logged in. May throw std::bad_alloc.
const Request* Gate::refused_before_login(const Request& request) {
  auto* const refused = turn_.arena.make<Request>();
  if (refused == nullptr) {
    throw std::bad_alloc();
  }
  refused->mistake = ErrorCode::not_authenticated;
  refused->changes_state = request.changes_state;
  refused->reply = request.reply;
  return refused;
}

bool Gate::is_held_back(ClientConnection& connection, const Request& request, const Settings& settings) {
  const uint32_t count_max = settings.account_requests_max;
  if (count_max == 0 || is_free(request) || connection.membership.allotment == nullptr) [[likely]] {
    return false;
  }
  return !connection.membership.allotment->has_place(connection, count_max);
}

}  // namespace rowsocket::server
