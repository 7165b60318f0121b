// SPDX-License-Identifier: GPL-2.0-only
#include "server/handshakes.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/limits.h"
#include "net/address.h"
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
        go_on(*static_cast<Handshake*>(event.tag));
      }
    }
    if (has_newcomers) {
      take_newcomers();
    }
    end_overdue();
  }
  for (Handshake& handshake : handshakes_) {
    handshake.newcomer.inbox->connection_closed();
  }
  handshakes_.clear();
}

int Handshakes::time_to_wait_ms() const {
  if (handshakes_.empty()) {
    return net::Poller::forever;
  }
  const uint64_t now_ms = clock_.now_ms();
  const uint64_t deadline_ms = handshakes_.front().deadline_ms;
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
      begin(std::move(newcomer));
    } catch (const std::exception&) {
      counters_.add(Counter::connections_closed);
      inbox.connection_closed();
      log_.limited(LogLevel::error, "a TLS handshake is broken off: no memory");
    }
  }
}

void Handshakes::begin(Newcomer newcomer) {
  tls::Session session = sessions_ == nullptr ? nullptr : sessions_->make();
  if (session == nullptr) {
    fail(newcomer, "begins with TLS, but the server has no certificate (ssl_cert): it is closed");
    return;
  }
  make_room();
  std::string party = net::peer_of(newcomer.socket.get()).party;
  auto transport = tls::TlsTransport::make(std::move(session), std::move(newcomer.socket), open_count_);
  if (transport == nullptr) {
    throw std::bad_alloc();
  }
  uint32_t& party_count = parties_[party];
  handshakes_.push_back({std::move(newcomer), std::move(transport), std::move(party),
                         clock_.now_ms() + limits::handshake_timeout_ms});
  ++party_count;
  Handshake& handshake = handshakes_.back();
  handshake.place = std::prev(handshakes_.end());
  go_on(handshake);
}

/// Who has most of them loses one.
void Handshakes::make_room() {
  if (handshakes_.size() < limits::handshakes_max) {
    return;
  }
  const auto most =
      std::max_element(parties_.begin(), parties_.end(),
                       [](const auto& one, const auto& other) { return one.second < other.second; });
  const auto oldest =
      std::find_if(handshakes_.begin(), handshakes_.end(),
                   [&most](const Handshake& handshake) { return handshake.party == most->first; });
  if (oldest != handshakes_.end()) {
    fail(*oldest, "has not finished its TLS handshake, and there are too many: it is closed");
  }
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
  if (!poller_.change(handshake.transport->fd(), handshake.interest, wanted, &handshake)) {
    fail(handshake, "is closed: its TLS handshake can not be polled");
    return;
  }
  handshake.interest = wanted;
}

void Handshakes::finish(Handshake& handshake) {
  counters_.add(Counter::tls_handshakes);
  static_cast<void>(
      poller_.change(handshake.transport->fd(), handshake.interest, net::Interest::none, nullptr));
  Newcomer& newcomer = handshake.newcomer;
  newcomer.arrival.transport = std::move(handshake.transport);
  if (!newcomer.inbox->offer_back(newcomer.arrival)) {
    counters_.add(Counter::connections_closed);
    newcomer.inbox->connection_closed();
  }
  forget(handshake);
}

void Handshakes::fail(Handshake& handshake, std::string_view why) {
  fail(handshake.newcomer, why);
  forget(handshake);
}

void Handshakes::fail(const Newcomer& newcomer, std::string_view why) {
  counters_.add(Counter::tls_handshakes_failed);
  counters_.add(Counter::connections_closed);
  newcomer.inbox->connection_closed();
  log_.about_connection(LogLevel::note, newcomer.arrival.number, newcomer.arrival.peer, why);
}

void Handshakes::forget(Handshake& handshake) {
  const auto party = parties_.find(handshake.party);
  if (party != parties_.end() && --party->second == 0) {
    parties_.erase(party);
  }
  handshakes_.erase(handshake.place);
}

void Handshakes::end_overdue() {
  if (handshakes_.empty()) {
    return;
  }
  const uint64_t now_ms = clock_.now_ms();
  while (!handshakes_.empty() && handshakes_.front().deadline_ms <= now_ms) {
    fail(handshakes_.front(), "has not finished its TLS handshake in time: it is closed");
  }
}

}  // namespace rowsocket::server
