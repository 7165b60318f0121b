// SPDX-License-Identifier: GPL-2.0-only
#include "server/logins.h"

#include <fcntl.h>
#include <strings.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/limits.h"
#include "exec/readable.h"
#include "net/transport.h"
#include "server/client_connection.h"
#include "server/thread.h"

namespace rowsocket::server {
namespace {

/// What is no longer needed is not left in memory.
void wipe(std::string& secret) {
  ::explicit_bzero(secret.data(), secret.size());
  secret.clear();
}

}  // namespace

// ---- one login

Login::Login(const Authenticate& request, int socket, const net::Peer& peer, std::shared_ptr<ssl_st> tls,
             AccountLoads& loads, uint32_t account_connections_max, std::shared_ptr<LoginReturns> returns)
    : credentials_{.user = std::string(request.user.view()),
                   .password = std::string(request.password.view()),
                   .is_unix = peer.place == net::Peer::Place::unix_socket,
                   .host = peer.host,
                   .port = peer.port,
                   .scope_id = peer.scope_id,
                   .tls = std::move(tls)},
      socket_(socket),
      party_(peer.party),
      returns_(std::move(returns)),
      loads_(loads),
      account_connections_max_(account_connections_max) {
  credentials_.account_connections_max = account_connections_max;
  credentials_.has_room = [this](const std::string& account) {
    seat_ = loads_.of(account)->take_seat(account_connections_max_);
    found_no_seat_ = seat_.load() == nullptr;
    return !found_no_seat_;
  };
}

/// A second descriptor of it, since the connection may close its own at any time. None where it has done so,
/// or where the process has no descriptor left.
net::Descriptor Login::take_socket() const {
  const MutexLock lock(mutex_);
  return net::Descriptor(socket_ < 0 ? -1 : ::fcntl(socket_, F_DUPFD_CLOEXEC, 0));
}

Login::Outcome Login::try_with(engine::Authenticator& authenticator) {
  const net::Descriptor socket = take_socket();
  if (!socket.valid() || net::peer_is_broken(socket.get())) {
    return Outcome::none;
  }
  credentials_.socket = socket.get();
  identity_ = authenticator.log_in(credentials_, refusal_);
  if (identity_ != nullptr) {
    return Outcome::right;
  }
  seat_ = Seat();
  return refusal_.code == ErrorCode::too_many_connections ? Outcome::none : Outcome::wrong;
}

void Login::end(const std::shared_ptr<Login>& login) {
  wipe(login->credentials_.password);
  login->credentials_.tls = nullptr;
  const std::shared_ptr<LoginReturns> returns = std::move(login->returns_);
  login->is_done_.store(true, std::memory_order_release);
  returns->add(login);
}

void LoginReturns::add(const std::shared_ptr<Login>& login) {
  const MutexLock lock(mutex_);
  if (wake_ == nullptr) {
    return;
  }
  try {
    logins_.push_back(login);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The connection sees that it is done when it is looked at next: at its time-out at the latest.
  }
  wake_();
}

void LoginReturns::take(std::vector<std::shared_ptr<Login>>& logins) {
  const MutexLock lock(mutex_);
  logins.swap(logins_);
}

void LoginReturns::close() {
  const MutexLock lock(mutex_);
  wake_ = nullptr;
  logins_.clear();
}

// ---- the threads

Logins::~Logins() {
  request_stop();
  join();
}

bool Logins::start(std::string& failure) {
  {
    const MutexLock lock(mutex_);
    is_stopped_ = false;
  }
  for (uint32_t number = 0; number < limits::login_threads; ++number) {
    threads_.emplace_back();
    if (!start_thread(threads_.back(), "rowsocket-l" + std::to_string(number), [this] { run(); }, failure)) {
      threads_.pop_back();
      return false;
    }
  }
  return true;
}

void Logins::request_stop() {
  const MutexLock lock(mutex_);
  is_stopped_ = true;
  queue_.forget_waiting();
  changed_.notify_all();
}

void Logins::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) {
      thread.join();
    }
  }
  threads_.clear();
}

void Logins::run() {
  std::unique_ptr<engine::Authenticator> authenticator;
  bool is_made = false;
  Work work;
  while (take_work(work)) {
    for (const std::shared_ptr<Login>& login : work.overdue) {
      Login::end(login);
    }
    if (work.turn.login == nullptr) {
      continue;
    }
    try {
      if (!std::exchange(is_made, true)) {
        authenticator = engine_.create_authenticator();
      }
    } catch (const std::exception& error) {
      is_made = false;
      log_.write(LogLevel::error, std::string("rowsocket: can not log clients in: ") + error.what());
    }
    try_one(authenticator.get(), work.turn);
  }
}

void Logins::try_one(engine::Authenticator* authenticator, const LoginQueue::Try& turn) {
  auto outcome = Login::Outcome::none;
  try {
    if (authenticator != nullptr) {
      outcome = turn.login->try_with(*authenticator);
    }
  } catch (const std::exception&) {
    outcome = Login::Outcome::none;  // no memory: it is refused, and was no guess
  }
  {
    const MutexLock lock(mutex_);
    try {
      queue_.end(turn, outcome, clock_.now_ms());
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // No memory to remember the account by.
    }
    if (outcome != Login::Outcome::none) {
      counters_.add(outcome == Login::Outcome::wrong ? Counter::logins_refused : Counter::logins);
    }
    if (turn.login->found_no_seat()) {
      counters_.add(Counter::account_connections_refused);
    }
    changed_.notify_all();
  }
  Login::end(turn.login);
}

/// Waits for something to do. False when it is time to stop.
bool Logins::take_work(Work& work) {
  work = {};
  MutexLock lock(mutex_);
  while (!is_stopped_) {
    const uint64_t now_ms = clock_.now_ms();
    try {
      queue_.take_overdue(now_ms, work.overdue);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // No memory for the others: later.
    }
    if (!work.overdue.empty()) {
      counters_.add(Counter::logins_untried, work.overdue.size());
      return true;
    }
    uint64_t next_at_ms = UINT64_MAX;
    work.turn = queue_.pick(now_ms, next_at_ms);
    if (work.turn.login != nullptr) {
      return true;
    }
    if (next_at_ms == UINT64_MAX) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, std::chrono::milliseconds(next_at_ms - now_ms));
    }
  }
  return false;
}

bool Logins::add(const std::shared_ptr<Login>& login) {
  const MutexLock lock(mutex_);
  if (is_stopped_) {
    return true;  // as those that wait: nobody tries it, and its connection ends with the server
  }
  if (!queue_.add(login->party(), login->user(), login, clock_.now_ms())) {
    counters_.add(Counter::logins_untried);
    return false;
  }
  changed_.notify_one();
  return true;
}

void Logins::count_untried() {
  const MutexLock lock(mutex_);
  counters_.add(Counter::logins_untried);
}

// ---- a loop's side

bool LoginDesk::is_ready(ClientConnection& connection, const Authenticate& request,
                         const Settings& settings) {
  if (!connection.client.account.needs_login(request, settings)) {
    connection.forget_login();
    return true;
  }
  try {
    if (connection.login == nullptr) {
      connection.login = begin(connection, request, settings);
    }
  } catch (const std::exception&) {
    connection.login = nullptr;  // no memory
  }
  if (connection.login != nullptr && !connection.login->is_done()) {
    return false;
  }
  if (connection.login == nullptr) {
    connection.membership.seat = Seat();
    connection.client.account.set_outcome(nullptr);
  } else {
    std::shared_ptr<engine::Identity> identity = connection.login->take_identity();
    connection.membership.seat = identity != nullptr ? connection.login->take_seat() : Seat();
    connection.client.account.set_outcome(std::move(identity), connection.login->refusal());
  }
  connection.forget_login();
  return true;
}

/// nullptr if it is refused at once.
std::shared_ptr<Login> LoginDesk::begin(ClientConnection& connection, const Authenticate& request,
                                        const Settings& settings) {
  if (logins_ == nullptr) {
    return nullptr;
  }
  const net::Peer& peer = connection.peer;
  // A password crosses no network in clear text.
  const bool is_exposed = peer.place == net::Peer::Place::network &&
                          !connection.stream.transport().is_encrypted() && request.password.size > 0;
  // The host writes the name into its logs as it is.
  if (is_exposed || request.user.size > limits::login_user_bytes_max ||
      request.password.size > limits::login_password_bytes_max ||
      !exec::is_line_of_text(request.user.view())) {
    logins_->count_untried();
    if (is_exposed) {
      connection.set_note(LogLevel::warning,
                          "sends a password over a network without encryption: it is not looked at");
    }
    return nullptr;
  }
  auto login =
      std::make_shared<Login>(request, connection.stream.fd(), peer, connection.stream.transport().portrait(),
                              loads_, settings.account_connections_max, returns_);
  login->connection = &connection;
  return logins_->add(login) ? login : nullptr;
}

}  // namespace rowsocket::server
