// SPDX-License-Identifier: GPL-2.0-only
#include "server/turn.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "server/allotments.h"

namespace rowsocket::server {
namespace {

using State = ClientConnection::State;

/// At least one more than the limit in whole milliseconds: the clock's current one has begun already.
uint64_t parked_retry_ms(uint64_t parked_ms) {
  constexpr uint64_t first_ms = (limits::parked_retry_us + 999) / 1000 + 1;
  return std::clamp<uint64_t>(parked_ms / limits::parked_retry_share, first_ms, limits::parked_retry_ms_max);
}

constexpr Parsed without_tls{.status = Parsed::Status::fatal,
                             .error = ErrorCode::needs_tls,
                             .why = "comes without TLS, which rowsocket_require_tls asks for: it is closed"};

constexpr Parsed too_many{
    .status = Parsed::Status::fatal,
    .error = ErrorCode::too_many_connections,
    .why = "is one too many of its account (rowsocket_max_account_connections): it is closed"};

void note(ClientConnection& connection, LogLevel level, std::string_view what) {
  connection.note_level = level;
  connection.note = what;
}

void fail(ClientConnection& connection, std::string_view why) {
  connection.state = State::failed;
  note(connection, LogLevel::error, why);
}

/// What was asked before is answered. The last reply comes after the commit: a replay may change those before
/// it.
void end_stream(ClientConnection& connection, const Parsed& parsed) {
  const bool is_fatal = parsed.status == Parsed::Status::fatal;
  connection.state = is_fatal ? State::condemned : State::leaving;
  connection.fatal_error = parsed.error;
  if (!parsed.why.empty()) {
    note(connection, LogLevel::warning, parsed.why);
  }
}

/// It has nothing to do, or says who its client is: it takes no place of its account's.
bool is_free(const Request& request) {
  return request.kind == RequestKind::authenticate || request.kind == RequestKind::nothing;
}

/// Nothing of it depends on who its client is.
bool is_for_anybody(const Request& request) { return is_free(request) && !request.for_readers; }

/// Requests that were put back are parsed again: whatever was found behind them is forgotten.
void rewind(ClientConnection& connection, size_t put_back_at, uint64_t retry_at_ms) {
  connection.parsed_bytes = put_back_at;
  connection.scanned_bytes = 0;
  connection.retry_at_ms = retry_at_ms;
  if (connection.state != State::failed) {
    connection.state = State::parked;
  }
}

}  // namespace

Turn::Turn(const Surroundings& surroundings, std::shared_ptr<const Settings> settings)
    : session_(surroundings.session),
      counters_(surroundings.counters),
      clock_(surroundings.clock),
      token_(surroundings.token),
      desk_(surroundings.desk),
      figures_(surroundings.figures),
      settings_(std::move(settings)),
      executor_(session_, counters_, settings_, clock_,
                {.takes_long = surroundings.takes_long, .settled = [this] { note_settled(); }},
                surroundings.ledger),
      numbers_(surroundings.numbers) {}

void Turn::use_settings(const std::shared_ptr<const Settings>& settings) {
  if (settings == settings_) [[likely]] {
    return;
  }
  settings_ = settings;
  executor_.use_settings(settings_);
}

void Turn::begin(uint64_t now_ms) {
  clear(now_ms);
  executor_.begin_turn(now_ms);
}

void Turn::run_patiently(ClientConnection& connection, uint64_t now_ms) {
  clear(now_ms);
  is_patient_ = true;
  session_.set_patient(true);
  connection.shown.away_on_thread = session_.host_thread();
  session_.note_waited(now_ms - std::min(now_ms, connection.client.parked_since_ms));
  executor_.begin_turn(now_ms, true);
  members_.push_back(&connection);
  execute();
  now_ms_ = clock_.now_ms();  // if it is put back, it is tried again from now on
  commit();
  session_.set_patient(false);
  is_patient_ = false;
}

void Turn::clear(uint64_t now_ms) {
  now_ms_ = now_ms;
  unix_time_us_ = 0;
  requests_ = 0;
  reply_bytes_ = 0;
  reached_ = 0;
  is_adrift_ = false;
  members_.clear();
}

void Turn::join(ClientConnection& connection) {
  if (!invariant(!connection.is_in_turn, "a connection joins a turn once")) {
    return;
  }
  connection.is_in_turn = true;
  connection.membership.asked_count = 0;
  connection.shown.doing = Doing::queued;
  connection.last_progress_ms = now_ms_;
  members_.push_back(&connection);
}

bool Turn::is_full() const {
  return requests_ >= limits::requests_per_turn || reply_bytes_ >= limits::reply_bytes_per_turn ||
         arena_.held_bytes() >= limits::arena_bytes_per_turn;
}

/// Of one connection: the fewer others there are, the less is a long pipeline in their way.
uint32_t Turn::requests_of_one_max() const {
  if (is_patient_) {
    return 1;
  }
  const size_t others = members_.size() - 1;
  return others == 0 ? limits::requests_per_connection_turn
                     : static_cast<uint32_t>(std::clamp<size_t>(others * limits::requests_per_other,
                                                                limits::requests_beside_others_min,
                                                                limits::requests_per_connection_turn));
}

// ---- execute

void Turn::execute() {
  executor_.note_time();
  for (; reached_ < members_.size(); ++reached_) {
    ClientConnection& connection = *members_[reached_];
    if (is_full()) {
      connection.state = State::unreached;
    } else {
      execute_or_close(connection);
      if (is_adrift_) [[unlikely]] {
        return;
      }
    }
  }
}

void Turn::keep_unsettled() {
  members_.resize(reached_ + 1);
  if (was_settled_) {
    members_.erase(members_.begin(), members_.end() - 1);
  }
}

void Turn::execute_or_close(ClientConnection& connection) {
  connection.shown.doing = is_patient_ ? Doing::waiting : Doing::executing;
  try {
    execute(connection);
    if (connection.state != State::parked && connection.state != State::logging_in &&
        connection.state != State::held_back) {
      connection.shown.doing = executor_.nothing_staged() ? Doing::sending : Doing::committing;
    }
  } catch (const std::exception& error) {
    fail(connection, error.what());
  } catch (...) {
    fail(connection, "is closed: unknown exception");
  }
}

/// Execute the connection's complete requests, as far as its share of the turn goes. Bytes that ask for
/// nothing also take their part of the share.
void Turn::execute(ClientConnection& connection) {
  connection.state = State::reading;
  if (settings_->require_tls && !connection.is_protected()) [[unlikely]] {
    end_stream(connection, without_tls);
    return;
  }
  if (unix_time_us_ == 0 && connection.protocol->uses_time()) {
    unix_time_us_ = clock_.unix_time_us();
    numbers_.set_time(unix_time_us_);
  }
  const std::string_view input = connection.stream.input().view();
  const Parsing parsing{.settings = *settings_,
                        .arena = arena_,
                        .out = connection.stream.output(),
                        .state = connection.wire_state.get(),
                        .scanned_bytes = connection.scanned_bytes,
                        .unix_time_us = unix_time_us_,
                        .numbers = &numbers_,
                        .figures = figures_};
  const uint32_t requests_max = requests_of_one_max();
  for (uint32_t taken = 0; connection.parsed_bytes < input.size(); ++taken) {
    if (taken == requests_max || is_full() || is_adrift_) {
      connection.state = State::cut;
      return;
    }
    if (executor_.nothing_staged()) {
      arena_.reset();
    }
    if (!execute_next(connection, input.substr(connection.parsed_bytes), parsing)) {
      return;
    }
  }
}

/// False if that was all for this turn.
bool Turn::execute_next(ClientConnection& connection, std::string_view input, const Parsing& parsing) {
  const Parsed parsed = connection.protocol->parse(input, parsing);
  if (parsed.status == Parsed::Status::need_more) {
    return false;
  }
  connection.scanned_bytes = 0;
  if (parsed.status == Parsed::Status::fatal || parsed.status == Parsed::Status::hang_up) [[unlikely]] {
    end_stream(connection, parsed);
    return false;
  }
  if (!invariant((parsed.consumed_bytes > 0) != parsed.is_step && parsed.consumed_bytes <= input.size(),
                 "a parser takes at least one byte, and no more than there are")) {
    connection.state = State::failed;
    return false;
  }
  const Request* request = parsed.request;
  if (parsed.status == Parsed::Status::request &&
      (waits_for_login(connection, *request) || !is_welcome(connection, request) ||
       is_held_back(connection, *request) || !execute(connection, *request))) {
    return false;
  }
  connection.parsed_bytes += parsed.consumed_bytes;
  const bool is_somebody_else = connection.membership.allotment != nullptr &&
                                connection.membership.placed_as != connection.client.account.number();
  if (parsed.is_step || is_somebody_else) [[unlikely]] {
    connection.state = State::cut;  // what somebody else asks counts from the next turn on
    return false;
  }
  return true;
}

/// Then the request is parsed again when the host has decided.
bool Turn::waits_for_login(ClientConnection& connection, const Request& request) {
  if (request.kind != RequestKind::authenticate || desk_ == nullptr) [[likely]] {
    return false;
  }
  if (desk_->is_ready(connection, static_cast<const Authenticate&>(request), *settings_)) {
    return false;
  }
  connection.state = State::logging_in;
  return true;
}

/// A request that is answered that its client has not logged in. May throw std::bad_alloc.
const Request* Turn::turned_away(const Request& request) {
  auto* const refused = arena_.make<Request>();
  if (refused == nullptr) {
    throw std::bad_alloc();
  }
  refused->mistake = ErrorCode::not_authenticated;
  refused->changes_state = request.changes_state;
  refused->reply = request.reply;
  return refused;
}

/// The host may be busy with its accounts: another thread may take over the loop meanwhile.
engine::Admittance Turn::admittance_of(const ClientConnection& connection) {
  const net::Transport& transport = connection.stream.transport();
  const engine::Entrance entrance{.is_unix = connection.is_unix, .tls = transport.portrait()};
  open_to_take_over();
  try {
    const engine::Admittance admittance = session_.admittance_of(entrance);
    close_to_take_over();
    return admittance;
  } catch (...) {
    close_to_take_over();
    throw;
  }
}

/// A client that names no account comes in with the first request that the anonymous account may ask: it has
/// come as this account wants it, and takes a seat of it. False where the account has too many. What asks for
/// no table is then refused alone, in the place of `request`: behind it the client may log in. False, too,
/// where the loop is another thread's by now, as are the accounts: the host is asked again.
bool Turn::is_welcome(ClientConnection& connection, const Request*& request) {
  if (connection.membership.seat.load() != nullptr || connection.membership.allotment == nullptr) [[likely]] {
    return true;
  }
  if (is_patient_ || is_for_anybody(*request)) {
    return true;
  }
  exec::Account& account = connection.client.account;
  if (std::exchange(connection.membership.is_asked_again, false)) {
    account.set_barred(false);
  }
  if (!account.may_read(*settings_)) {
    return true;
  }
  const engine::Admittance admittance = admittance_of(connection);
  if (is_adrift_) [[unlikely]] {
    connection.state = State::cut;
    return false;
  }
  if (admittance != engine::Admittance::granted) {
    account.set_barred(true);
    connection.membership.is_asked_again = admittance == engine::Admittance::unknown;
    connection.shown.account = account.shown_number();
    if (admittance == engine::Admittance::refused) {
      note(connection, LogLevel::warning,
           "comes without the TLS, or the certificate, that rowsocket_anonymous_account asks for: it may do "
           "nothing");
    }
    return true;
  }
  if (connection.membership.allotment->let_in(connection, settings_->account_connections_max)) {
    connection.shown.account = connection.client.account.shown_number();
    return true;
  }
  if (request->kind == RequestKind::nothing) {
    connection.shown.account = engine::own_account;
    request = turned_away(*request);
    return true;
  }
  counters_.add(Counter::account_connections_refused);
  end_stream(connection, too_many);
  return false;
}

/// Then the request is parsed again when others of its account were answered.
bool Turn::is_held_back(ClientConnection& connection, const Request& request) {
  const uint32_t count_max = settings_->account_requests_max;
  if (count_max == 0 || is_patient_ || is_free(request) || connection.membership.allotment == nullptr ||
      connection.membership.allotment->has_place(connection, count_max)) [[likely]] {
    return false;
  }
  connection.state = State::held_back;
  return true;
}

/// False if the connection waits for a lock.
bool Turn::execute(ClientConnection& connection, const Request& request) {
  const size_t reply_begin = connection.stream.output().size();
  open_to_take_over();
  const exec::Executed executed = executor_.execute(connection.client, request, connection.parsed_bytes);
  close_to_take_over();
  if (executed == exec::Executed::parked) {
    return false;
  }
  if (executor_.met_first_lenience()) [[unlikely]] {
    note(connection, LogLevel::note,
         "sends what rowsocket_strict would refuse (values beyond the columns, empty amounts, or keys that "
         "are no value of their column); it is served as earlier servers did");
  }
  if (request.kind == RequestKind::authenticate) [[unlikely]] {
    connection.shown.account = connection.client.account.shown_number();
  }
  ++requests_;
  reply_bytes_ += connection.stream.output().size() - reply_begin;
  return true;
}

/// In the middle of a request. Who takes the loop from now on takes the other connections with it: their
/// replies need not wait for what this request waits for.
void Turn::note_settled() {
  if (ticket_ != 0 && token_->leave(ticket_)) {
    was_settled_ = true;
    ticket_ = token_->enter(was_settled_);
  }
}

// ---- commit

std::optional<uint64_t> Turn::commit() {
  std::optional<uint64_t> commit_us;
  if (executor_.nothing_staged()) {
    executor_.end_turn();
  } else {
    const uint64_t began_us = clock_.now_us();
    executor_.end_turn();
    commit_us = clock_.now_us() - began_us;
  }
  session_.yield_tables();
  arena_.reset();
  for (ClientConnection* connection : members_) {
    finish(*connection);
  }
  return commit_us;
}

void Turn::send_large_replies() {
  for (ClientConnection* connection : members_) {
    if (connection->state == State::failed || connection->stream.output().size() < limits::receive_bytes) {
      continue;
    }
    const net::Transfer transfer = connection->stream.send();
    if (transfer.status == net::Transfer::Status::moved) {
      counters_.add(Counter::bytes_sent, transfer.byte_count);
      connection->shown.bytes_sent += transfer.byte_count;
    } else if (transfer.status == net::Transfer::Status::failed) {
      connection->state = State::failed;
    }
  }
}

void Turn::finish(ClientConnection& connection) {
  net::Connection& stream = connection.stream;
  const auto put_back_at = std::exchange(connection.client.put_back_at, {});
  if (!invariant(connection.parsed_bytes <= stream.input().size() &&
                     put_back_at.value_or(0) <= connection.parsed_bytes,
                 "a turn takes, and puts back, requests that its input holds")) {
    connection.state = State::failed;
    return;
  }
  if (put_back_at.has_value()) {
    const uint64_t parked_ms = now_ms_ - std::min(now_ms_, connection.client.parked_since_ms);
    rewind(connection, *put_back_at, now_ms_ + parked_retry_ms(parked_ms));
  }
  stream.input().consume(std::exchange(connection.parsed_bytes, 0));
  if (connection.state == State::condemned || connection.state == State::leaving) [[unlikely]] {
    stream.input().clear();
  }
  if (connection.state == State::condemned) [[unlikely]] {
    counters_.add(counter_of(connection.fatal_error));
    connection.protocol->refuse_stream(stream.output(), connection.fatal_error, *settings_);
  }
  if (stream.output().failed() && connection.state != State::failed) {
    fail(connection, "is closed: no memory for its replies");
  }
}

}  // namespace rowsocket::server
