// SPDX-License-Identifier: GPL-2.0-only
#include "server/turn.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "server/time_share.h"

namespace rowsocket::server {
namespace {

using State = ClientConnection::State;

constexpr Parsed without_tls{.status = Parsed::Status::fatal,
                             .error = ErrorCode::needs_tls,
                             .why = "comes without TLS, which rowsocket_require_tls asks for: it is closed"};

}  // namespace

Turn::Turn(const Surroundings& surroundings, std::shared_ptr<const Settings> settings)
    : session_(surroundings.session),
      counters_(surroundings.counters),
      clock_(surroundings.clock),
      hold_(surroundings.token, surroundings.session),
      drill_(surroundings.drill),
      lifelines_(surroundings.lifelines),
      figures_(surroundings.figures),
      settings_(std::move(settings)),
      executor_(session_, counters_, settings_, clock_,
                {.takes_long = surroundings.takes_long,
                 .settled = [this] { note_settled(); },
                 .undone = [this] { note_undone(); },
                 .commits = surroundings.commits},
                surroundings.ledger, surroundings.long_requests),
      gate_({.session = session_,
             .counters = counters_,
             .desk = surroundings.desk,
             .arena = arena_,
             .executor = executor_,
             .hold = hold_}),
      settled_adrift_(surroundings.settled_adrift),
      numbers_(surroundings.numbers) {}

void Turn::use_settings(const std::shared_ptr<const Settings>& settings) {
  if (settings == settings_) [[likely]] {
    return;
  }
  settings_ = settings;
  executor_.use_settings(settings_);
}

void Turn::begin(uint64_t now_ms, Pipelines& pipelines, bool holds_writes_back) {
  clear(now_ms);
  pipelines_ = &pipelines;
  pipelines.begin_turn();
  holds_writes_back_ = holds_writes_back;
  executor_.begin_turn(now_ms);
}

void Turn::run_patiently(ClientConnection& connection, uint64_t now_ms) {
  clear(now_ms);
  pipelines_ = &alone_;
  holds_writes_back_ = false;
  is_patient_ = true;
  session_.set_patient(true);
  session_.work_for_request();  // what told an earlier guest to stop is not meant for this one
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
  settled_ = 0;
  has_readers_ = false;
  static_cast<void>(executor_.take_walked());  // of the last commit, where it ran requests again
  hold_.begin_turn();
  is_committing_ = false;
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

/// Beside the connection that is executed. Who took part in the last turn is about to come back.
size_t Turn::others() const {
  return std::max({members_.size(), pipelines_->members_before(), size_t{1}}) - 1;
}

// ---- execute

void Turn::execute() {
  executor_.note_time();
  before_ = measure();
  received_at_ticks_ = before_.ticks;
  put_readers_first();
  while (reached_ < members_.size()) {
    ClientConnection& connection = *members_[reached_];
    if (is_full()) {
      connection.state = State::unreached;
    } else {
      execute_or_close(connection);
      if (hold_.is_adrift()) [[unlikely]] {
        return;
      }
      if (std::exchange(lets_readers_pass_, false)) [[unlikely]] {
        put_behind_readers();
        continue;
      }
    }
    ++reached_;
  }
}

/// Of those that have joined now, but for those for which an earlier turn had no room: they come first.
/// Replies behind the first write wait for the commit, and those before it do not.
void Turn::put_readers_first() {
  const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(reached_);
  const auto had_room = [](const auto* one) { return one->state != State::unreached; };
  const auto reads = [](const auto* one) { return !one->wrote_last; };
  const auto others = std::find_if(begin, members_.end(), had_room);
  if (!std::is_partitioned(others, members_.end(), reads)) {
    std::stable_partition(others, members_.end(), reads);
  }
  were_no_readers_ = 0;
  readers_end_ = static_cast<size_t>(std::find_if_not(others, members_.end(), reads) - members_.begin());
}

/// The next one, which was taken for a reader and asks for a write: a new connection, say.
void Turn::put_behind_readers() {
  const auto here = members_.begin() + static_cast<std::ptrdiff_t>(reached_);
  (*here)->shown.doing = Doing::queued;
  std::rotate(here, here + 1, members_.begin() + static_cast<std::ptrdiff_t>(readers_end_));
  ++were_no_readers_;
}

/// In the middle of a request: all earlier replies are final now. A thread that takes the loop from here on
/// takes their connections with it: they need not wait for what this request waits for. If another thread has
/// the loop already, it has left them with the turn.
void Turn::note_settled() {
  if (executor_.rollback_count() != before_.rollbacks) [[unlikely]] {
    before_ = measure();  // others have run again
    static_cast<void>(executor_.take_walked());
  }
  if (hold_.ticket() == 0 || settled_ == reached_) {
    return;
  }
  const bool has_loop = hold_.enter_again([this] { settled_ = reached_; });
  if (!has_loop && settled_adrift_) {
    settled_adrift_();
  }
}

/// In the middle of a request.
void Turn::note_undone() { undone_ = {.at = measure(), .walked = executor_.take_walked()}; }

void Turn::execute_or_close(ClientConnection& connection) {
  connection.shown.doing = is_patient_ ? Doing::waiting : Doing::executing;
  wait_began_us_ = 0;
  last_own_us_ = 0;
  undone_.reset();
  asks_write_.reset();
  const uint32_t requests_before = requests_;
  try {
    execute(connection);
    if (connection.state != State::parked && connection.state != State::logging_in &&
        connection.state != State::held_back && connection.state != State::behind_commit) {
      connection.shown.doing = executor_.nothing_staged() ? Doing::sending : Doing::committing;
    }
  } catch (const std::exception& error) {
    connection.fail(error.what());
  } catch (...) {
    connection.fail("is closed: unknown exception");
  }
  ahead_.forget(connection.scanned_bytes);
  connection.wrote_last = asks_write_.value_or(connection.wrote_last);
  has_readers_ = has_readers_ || !connection.wrote_last;
  const uint32_t requests = requests_ - requests_before;
  if (!is_adrift()) [[likely]] {
    pipelines_->note(requests, connection.state == State::cut);
  }
  note_own_time(connection, requests);
}

Turn::Measured Turn::measure() const {
  return {.ticks = clock_.ticks(),
          .commit_ticks = executor_.commit_ticks(),
          .work_in_commits_us = executor_.work_in_commits_us(),
          .rollbacks = executor_.rollback_count(),
          .waited_us = waited_us_};
}

/// What requests took by themselves, without waits and commits. Where others' requests had to run again it is
/// not known. What is hardly anything is 0.
std::optional<uint64_t> Turn::own_us(const Measured& from, const Measured& to) const {
  // Two cores may differ by a few.
  const uint64_t since_ticks = from.ticks + (to.commit_ticks - from.commit_ticks);
  const uint64_t ticks = to.ticks - std::min(to.ticks, since_ticks);
  const uint64_t work_us = to.work_in_commits_us - from.work_in_commits_us;
  if ((ticks < limits::own_ticks_min && work_us == 0) || drill_ != nullptr) [[likely]] {
    return 0;
  }
  if (from.rollbacks != to.rollbacks) {
    return std::nullopt;
  }
  const uint64_t us = clock_.us_of(ticks) + work_us;
  return us - std::min(us, to.waited_us - from.waited_us);
}

/// What ends one request's time begins that of the next one, whoever asks it.
std::optional<uint64_t> Turn::take_own_us() {
  const Measured before = std::exchange(before_, measure());
  return own_us(before, undone_.has_value() ? undone_->at : before_);
}

void Turn::note_request_time(ClientConnection& connection, const Request& request) {
  const std::optional<uint64_t> us = take_own_us();
  const std::optional<Undone> undone = std::exchange(undone_, {});
  last_own_us_ = us.value_or(0);
  if (us != 0 || connection.client.is_unknown) [[unlikely]] {
    exec::Runner::Walked walked = executor_.take_walked();
    if (undone.has_value()) {
      walked = undone->walked;
    }
    executor_.note_took(connection.client, {.us = us, .walked = walked, .was_beside = hold_.is_adrift()});
    walked_us_ += us.has_value() ? walked.us : 0;
    const uint32_t free_us = writes(request) ? limits::own_us_free_per_write : 0;
    of_loop_us_ += last_own_us_ - std::min<uint64_t>(last_own_us_, free_us);
    add_own_us(last_own_us_ - std::min(last_own_us_, walked.us),
               writes(request) ? limits::own_us_free_per_write : limits::own_us_free_per_read);
  }
}

void Turn::add_own_us(uint64_t us, uint32_t free_us) { slow_us_ += us - std::min<uint64_t>(us, free_us); }

/// Of the turn, in which it has been given so many answers. A walk measures itself.
void Turn::note_own_time(ClientConnection& connection, uint32_t requests) {
  // What was parsed behind the last request.
  add_own_us(take_own_us().value_or(0), limits::own_us_free_per_read);
  connection.note_walk(std::exchange(walked_us_, 0) + executor_.take_walked().us);
  const uint64_t us = std::exchange(slow_us_, 0);
  const uint64_t of_loop_us = std::exchange(of_loop_us_, 0);
  if (requests > 0 || us > 0) {
    connection.own_time.add(us, of_loop_us);
  }
  if (connection.client.is_unknown) [[unlikely]] {
    executor_.end_usual(connection.client);
  }
  if (std::exchange(is_put_off_, false)) [[unlikely]] {
    connection.own_time.presume_heavy();
  }
}

/// Execute the connection's complete requests, as far as its share of the turn goes. Bytes that ask for
/// nothing also take their part of the share. The loop closes a connection that was killed.
void Turn::execute(ClientConnection& connection) {
  connection.state = State::reading;
  if (settings_->require_tls && !connection.is_protected()) [[unlikely]] {
    connection.end_stream(without_tls);
    return;
  }
  if (unix_time_us_ == 0 && connection.protocol->uses_time()) {
    unix_time_us_ = clock_.unix_time_us();
    numbers_.set_time(unix_time_us_);
  }
  connection.client.is_unknown = connection.own_time.is_unknown() && others() > 0;
  connection.client.comes_behind = connection.takes_long();
  const std::string_view input = connection.stream.input().view();
  const Parsing parsing{.settings = *settings_,
                        .arena = arena_,
                        .out = connection.stream.output(),
                        .state = connection.wire_state.get(),
                        .scanned_bytes = connection.scanned_bytes,
                        .unix_time_us = unix_time_us_,
                        .numbers = &numbers_,
                        .figures = figures_};
  const bool wrote = connection.wrote_last;
  const uint32_t requests_max = is_patient_ ? 1 : pipelines_->requests_max(members_.size(), wrote);
  TimeShare time(clock_, others(), pipelines_->sharers(members_.size(), wrote),
                 std::exchange(connection.was_over_time, false) || connection.takes_long());
  connection.is_long_pipeline = false;
  uint64_t looked_at_ticks = received_at_ticks_;
  for (uint32_t taken = 0; connection.parsed_bytes < input.size(); ++taken) {
    if (is_full() || hold_.is_adrift() || is_killed(connection) || has_left(connection, looked_at_ticks)) {
      connection.state = State::cut;
      return;
    }
    const bool is_over = time.is_over(taken);
    if (taken == requests_max || is_over) {
      connection.was_over_time = is_over;
      connection.is_long_pipeline = true;
      connection.state = State::cut;
      return;
    }
    const std::string_view rest = input.substr(connection.parsed_bytes);
    if (ahead_.is_empty()) {
      if (executor_.nothing_staged()) {
        arena_.reset();
      }
      // What was put back may be put back again: those behind it would be parsed anew for each try.
      ahead_.parse(*connection.protocol, rest, parsing,
                   connection.client.was_put_back() ? 1 : requests_max - taken);
    }
    if (!execute_next(connection, rest, ahead_.take())) {
      return;
    }
  }
}

/// A request of it was stopped; or a while has passed since it was received of, or looked for, and it has
/// been reset meanwhile.
bool Turn::has_left(ClientConnection& connection, uint64_t& looked_at_ticks) {
  if (before_.ticks - looked_at_ticks >= limits::look_ticks && !connection.client.left_at.has_value())
      [[unlikely]] {
    looked_at_ticks = before_.ticks;
    if (connection.stream.is_broken()) {
      counters_.add(Counter::requests_stopped);
      connection.client.left_at = connection.parsed_bytes;
    }
  }
  return connection.client.left_at.has_value();
}

/// False if that was all for this turn.
bool Turn::execute_next(ClientConnection& connection, std::string_view input, const Parsed& parsed) {
  if (parsed.status == Parsed::Status::need_more) {
    return false;
  }
  if (parsed.status == Parsed::Status::fatal || parsed.status == Parsed::Status::hang_up) [[unlikely]] {
    connection.end_stream(parsed);
    return false;
  }
  if (!invariant((parsed.consumed_bytes > 0) != parsed.is_step && parsed.consumed_bytes <= input.size(),
                 "a parser takes at least one byte, and no more than there are")) {
    connection.state = State::failed;
    return false;
  }
  if (executor_.nothing_staged()) {
    settled_ = reached_;
  }
  const Request* request = parsed.request;
  if (parsed.status == Parsed::Status::request) {
    asks_write_ = asks_write_.value_or(false) || writes(*request);
    if (holds_writes_back_ && writes(*request)) [[unlikely]] {
      connection.state = State::behind_commit;
      return false;
    }
    if (!connection.wrote_last && writes(*request) && executor_.nothing_staged() &&
        reached_ + 1 + were_no_readers_ < readers_end_) {
      lets_readers_pass_ = true;
      return false;
    }
    if (!gate_.lets_pass(connection, request, *settings_, is_patient_) || !execute(connection, *request)) {
      return false;
    }
  }
  connection.parsed_bytes += parsed.consumed_bytes;
  const bool has_other_account = connection.membership.allotment != nullptr &&
                                 connection.membership.placed_as != connection.client.account.number();
  if (parsed.is_step || has_other_account) [[unlikely]] {
    connection.state = State::cut;  // what the other account asks counts from the next turn on
    return false;
  }
  return true;
}

/// False if the request is not done: it waits for a lock, or comes behind those of others.
bool Turn::execute(ClientConnection& connection, const Request& request) {
  const size_t reply_begin = connection.stream.output().size();
  const exec::Executed executed = run(connection, request);
  note_request_time(connection, request);
  if (executed == exec::Executed::put_off) [[unlikely]] {
    is_put_off_ = true;
    connection.state = State::unreached;
    return false;
  }
  if (executed == exec::Executed::parked) {
    return false;
  }
  if (executor_.met_first_lenience()) [[unlikely]] {
    connection.set_note(
        LogLevel::note,
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

/// While it runs, another thread may take the loop. That ends with the request, whichever way the request
/// ends.
exec::Executed Turn::run(ClientConnection& connection, const Request& request) {
  if (is_patient_) {
    return executor_.execute(connection.client, request, connection.parsed_bytes);
  }
  only_reads_ = executor_.nothing_staged() && !writes(request);
  const LoopHold::Entered entered(hold_);
  pass_drill();
  const exec::Executed executed = executor_.execute(connection.client, request, connection.parsed_bytes);
  pass_drill();
  return executed;
}

/// At the begin of a request and at its end.
void Turn::pass_drill() {
  if (drill_ != nullptr) [[unlikely]] {
    drill_->pass_place(hold_.ticket());
  }
}

}  // namespace rowsocket::server
