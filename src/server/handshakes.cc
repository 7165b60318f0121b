// SPDX-License-Identifier: GPL-2.0-only
#include "server/handshakes.h"

#include <exception>
#include <new>
#include <utility>

#include "base/limits.h"
#include "net/transport.h"
#include "server/thread.h"

namespace rowsocket::server {
namespace {

/// Without a reason where there is no memory for one.
std::string failure_of(const tls::TlsTransport& transport) {
  try {
    return "is closed: its TLS handshake failed: " + transport.failure();
  } catch (const std::exception&) {
    return "is closed";  // no text of this length takes memory
  }
}

}  // namespace

Handshakes::~Handshakes() { stop(); }

bool Handshakes::start(std::string& failure) {
  if (!wakeup_.valid() || !poller_.change(wakeup_.fd(), net::Interest::none, net::Interest::input, nullptr)) {
    failure = "can not poll TLS handshakes: the process is out of file descriptors";
    return false;
  }
  return start_thread(thread_, "rowsocket-tls", [this] { run(); }, failure);
}

void Handshakes::stop() {
  stop_requested_.store(true, std::memory_order_release);
  wakeup_.notify();
  if (thread_.joinable()) {
    thread_.join();
  }
  const MutexLock lock(mutex_);
  for (const Newcomer& newcomer : newcomers_) {
    newcomer.inbox->connection_closed();
  }
  newcomers_.clear();
}

void Handshakes::add(Newcomer newcomer) {
  {
    const MutexLock lock(mutex_);
    newcomers_.push_back(std::move(newcomer));
  }
  wakeup_.notify();
}

// ---- on the thread

void Handshakes::run() {
  while (!stop_requested_.load(std::memory_order_acquire)) {
    bool has_newcomers = false;
    for (const net::Poller::Event& event : poller_.wait(time_to_wait_ms())) {
      if (event.tag == nullptr) {
        has_newcomers = true;
      } else {
        came(*static_cast<Handshake*>(event.tag));
      }
    }
    if (has_newcomers) {
      take_newcomers();
      end_killed();
    }
    end_overdue();  // before the step: what that takes is no client's fault
    if (Handshake* const handshake = queue_.next()) {
      take_step(*handshake);
    }
  }
  deadlines_.clear();
  while (Handshake* const handshake = queue_.most_dispensable()) {
    handshake->newcomer.inbox->connection_closed();
    queue_.remove(*handshake);
  }
}

int Handshakes::time_to_wait_ms() const {
  if (queue_.some_may_go_on()) {
    return 0;
  }
  if (deadlines_.empty()) {
    return net::Poller::forever;
  }
  const uint64_t now_ms = clock_.now_ms();
  const uint64_t deadline_ms = deadlines_.begin()->first;
  return deadline_ms <= now_ms ? 0 : static_cast<int>(deadline_ms - now_ms);
}

void Handshakes::take_newcomers() {
  wakeup_.drain();
  std::vector<Newcomer> newcomers;
  {
    const MutexLock lock(mutex_);
    newcomers.swap(newcomers_);
  }
  for (Newcomer& newcomer : newcomers) {
    Inbox& inbox = *newcomer.inbox;
    try {
      admit(std::move(newcomer));
    } catch (const std::exception&) {
      counters_.add(Counter::connections_closed);
      inbox.connection_closed();
      log_.limited(LogLevel::error, "a TLS handshake is broken off: no memory");
    }
  }
}

/// It costs next to nothing until its turn.
void Handshakes::admit(Newcomer newcomer) {
  const std::string party = newcomer.arrival.peer.party;
  while (queue_.size() >= limits::handshakes_max) {
    fail(*queue_.most_dispensable(),
         "has not finished its TLS handshake, and there are too many: it is closed");
  }
  queue_.add(party, std::move(newcomer));
}

/// What its handshake has waited for: bytes, or room for them. It is not polled until its turn.
void Handshakes::came(Handshake& handshake) {
  const uint64_t now_ms = clock_.now_ms();
  handshake.left_ms = handshake.deadline_ms > now_ms ? handshake.deadline_ms - now_ms : 0;
  stop_waiting(handshake);
  queue_.make_ready(handshake);
}

void Handshakes::take_step(Handshake& handshake) {
  try {
    if (handshake.transport != nullptr || begin(handshake)) {
      go_on(handshake);
    }
  } catch (const std::exception&) {
    fail(handshake, "is closed: no memory for its TLS handshake");
  }
}

/// False if it has failed.
bool Handshakes::begin(Handshake& handshake) {
  Newcomer& newcomer = handshake.newcomer;
  if (net::peer_is_gone(newcomer.socket.get())) {
    fail(handshake, "is closed: its TLS handshake failed: the client went away");
    return false;
  }
  tls::Session session = sessions_ == nullptr ? nullptr : sessions_->make();
  if (session == nullptr) {
    fail(handshake, "begins with TLS, but the server has no certificate (ssl_cert): it is closed");
    return false;
  }
  handshake.transport = tls::TlsTransport::make(std::move(session), std::move(newcomer.socket), open_count_);
  if (handshake.transport == nullptr) {
    throw std::bad_alloc();
  }
  return true;
}

void Handshakes::go_on(Handshake& handshake) {
  switch (handshake.transport->shake_hands()) {
    case tls::TlsTransport::Step::done:
      finish(handshake);
      return;
    case tls::TlsTransport::Step::wants_input:
      wait_for(handshake, net::Interest::input);
      return;
    case tls::TlsTransport::Step::wants_output:
      wait_for(handshake, net::Interest::output);
      return;
    case tls::TlsTransport::Step::failed:
      fail(handshake, failure_of(*handshake.transport));
      return;
  }
}

void Handshakes::wait_for(Handshake& handshake, net::Interest wanted) {
  handshake.deadline_ms = clock_.now_ms() + handshake.left_ms;
  deadlines_.emplace(handshake.deadline_ms, &handshake);
  if (!poller_.change(handshake.transport->fd(), handshake.interest, wanted, &handshake)) {
    fail(handshake, "is closed: its TLS handshake can not be polled");
    return;
  }
  handshake.interest = wanted;
}

void Handshakes::stop_waiting(Handshake& handshake) {
  deadlines_.erase({handshake.deadline_ms, &handshake});
  if (handshake.interest != net::Interest::none) {
    static_cast<void>(
        poller_.change(handshake.transport->fd(), handshake.interest, net::Interest::none, nullptr));
    handshake.interest = net::Interest::none;
  }
}

void Handshakes::finish(Handshake& handshake) {
  counters_.add(Counter::tls_handshakes);
  Newcomer& newcomer = handshake.newcomer;
  newcomer.arrival.transport = std::move(handshake.transport);
  if (!newcomer.inbox->offer_back(newcomer.arrival)) {
    counters_.add(Counter::connections_closed);
    newcomer.inbox->connection_closed();
  }
  forget(handshake);
}

void Handshakes::fail(Handshake& handshake, std::string_view why) {
  const Newcomer& newcomer = handshake.newcomer;
  log_.about_connection(LogLevel::note, newcomer.arrival.number, newcomer.arrival.peer.text, why);
  counters_.add(Counter::tls_handshakes_failed);
  counters_.add(Counter::connections_closed);
  newcomer.inbox->connection_closed();
  forget(handshake);
}

void Handshakes::forget(Handshake& handshake) {
  stop_waiting(handshake);
  queue_.remove(handshake);
}

void Handshakes::end_overdue() {
  if (deadlines_.empty()) {
    return;
  }
  const uint64_t now_ms = clock_.now_ms();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_ms) {
    fail(*deadlines_.begin()->second, "has not finished its TLS handshake in time: it is closed");
  }
}

/// One whose handshake is done meanwhile is closed by its worker.
void Handshakes::end_killed() {
  if (lifelines_ == nullptr || !lifelines_->some_are_killed()) {
    return;
  }
  while (Handshake* const handshake = queue_.first_killed()) {
    counters_.add(Counter::connections_killed);
    fail(*handshake, "is closed: killed (rowsocket_kill)");
  }
}

}  // namespace rowsocket::server
