// SPDX-License-Identifier: GPL-2.0-only
//
// Clients that say the name of an account. The host decides, and that can take long: so it is asked on
// threads beside the workers. Meanwhile the client's connection waits, with everything that it asked behind.
//
//   worker ── begin ──► LoginQueue ──► a login thread: engine::Authenticator
//      ▲                                          │
//      └── wake-up ◄── LoginReturns of its loop ◄─┘
//
// The queue says which login is next, and slows down clients that guess (login_queue.h). So a flood of logins
// delays no client that is logged in, and the logins of others little. At most one login waits per
// connection. What the queue refuses without a try looks the same to the client. The client's socket is the
// connection's: a login has a descriptor of its own for it only while it is being tried.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "engine/engine.h"
#include "exec/account.h"
#include "net/address.h"
#include "net/descriptor.h"
#include "request/counters.h"
#include "request/request.h"
#include "server/account_loads.h"
#include "server/login_queue.h"

namespace rowsocket::server {

struct ClientConnection;

class LoginReturns;

/// One client that wants to log in.
class Login {
 public:
  /// May throw std::bad_alloc.
  Login(const Authenticate& request, int socket, const net::Peer& peer, std::shared_ptr<ssl_st> tls,
        AccountLoads& loads, uint32_t account_connections_max, std::shared_ptr<LoginReturns> returns);

  // For the thread that runs the connection's loop.
  [[nodiscard]] bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  /// When it is done; nullptr if it was refused, for `refusal`.
  [[nodiscard]] std::shared_ptr<engine::Identity> take_identity() { return std::move(identity_); }
  [[nodiscard]] const Error& refusal() const { return refusal_; }
  /// As one of its account's connections.
  [[nodiscard]] Seat take_seat() { return std::move(seat_); }
  /// The connection that waits; nullptr when that is closed, or does not wait any more.
  ClientConnection* connection = nullptr;
  /// Before the connection closes its socket.
  void abandon() {
    connection = nullptr;
    const MutexLock lock(mutex_);
    socket_ = -1;
  }

  // For Logins.
  [[nodiscard]] const std::string& party() const { return party_; }
  [[nodiscard]] const std::string& user() const { return credentials_.user; }
  using Outcome = LoginQueue::Outcome;  ///< `none`: it went away, or is one too many, and was no guess
  /// Blocks. Nothing is tried for a client that went away. May throw std::bad_alloc.
  [[nodiscard]] Outcome try_with(engine::Authenticator& authenticator);
  /// The last thing that is done with it here.
  static void end(const std::shared_ptr<Login>& login);

 private:
  [[nodiscard]] net::Descriptor take_socket() const;
  /// When it was tried: it is refused for rowsocket_max_account_connections.
  [[nodiscard]] bool found_no_seat() const { return found_no_seat_; }
  friend class Logins;

  engine::Credentials credentials_;
  mutable Mutex mutex_;
  int socket_ ROWSOCKET_GUARDED_BY(mutex_);  ///< the connection's; -1 once it is abandoned
  std::string party_;
  std::shared_ptr<LoginReturns> returns_;
  std::shared_ptr<engine::Identity> identity_;
  Error refusal_ = ErrorCode::not_authenticated;
  AccountLoads& loads_;
  uint32_t account_connections_max_;
  Seat seat_;
  bool found_no_seat_ = false;
  std::atomic<bool> is_done_{false};
};

/// The logins of a loop that are over. Outlives the loop where a login thread still holds it.
class LoginReturns {
 public:
  explicit LoginReturns(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// From any thread.
  void add(const std::shared_ptr<Login>& login);
  /// For the loop's thread: into an empty vector.
  void take(std::vector<std::shared_ptr<Login>>& logins);
  /// The loop ends, and is not woken any more.
  void close();

 private:
  Mutex mutex_;
  std::function<void()> wake_ ROWSOCKET_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Login>> logins_ ROWSOCKET_GUARDED_BY(mutex_);
};

class Logins {
 public:
  Logins(engine::Engine& engine, Log& log, const Clock& clock) : engine_(engine), log_(log), clock_(clock) {}
  ~Logins();  ///< stops
  Logins(const Logins&) = delete;
  Logins& operator=(const Logins&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// Logins that wait are forgotten. Those under way go on to their end.
  void request_stop();
  void join();

  /// Try it some time. False if it is refused at once. May throw std::bad_alloc.
  [[nodiscard]] bool add(const std::shared_ptr<Login>& login);
  /// A password that may not cross the network as it is, or a name that no account has.
  void count_untried();

  [[nodiscard]] uint64_t count(Counter counter) const { return counters_.read(counter); }

 private:
  /// What a thread does next: refuse those that have waited too long, or try one.
  struct Work {
    std::vector<std::shared_ptr<Login>> overdue;
    LoginQueue::Try turn;
  };

  void run();
  [[nodiscard]] bool take_work(Work& work);
  void try_one(engine::Authenticator* authenticator, const LoginQueue::Try& turn);

  engine::Engine& engine_;
  Log& log_;
  const Clock& clock_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool is_stopped_ ROWSOCKET_GUARDED_BY(mutex_) = true;
  LoginQueue queue_ ROWSOCKET_GUARDED_BY(mutex_);
  Counters counters_;  ///< written under the mutex
  std::vector<std::thread> threads_;
};

/// What a loop's turns know of all this.
class LoginDesk {
 public:
  /// Without `logins` every login is refused.
  LoginDesk(Logins* logins, AccountLoads& loads, std::function<void()> wake)
      : logins_(logins), loads_(loads), returns_(std::make_shared<LoginReturns>(std::move(wake))) {}
  ~LoginDesk() { returns_->close(); }
  LoginDesk(const LoginDesk&) = delete;
  LoginDesk& operator=(const LoginDesk&) = delete;

  /// Before an authentication is executed: true if nothing is to be waited for. Never throws.
  [[nodiscard]] bool is_ready(ClientConnection& connection, const Authenticate& request,
                              const Settings& settings);
  [[nodiscard]] LoginReturns& returns() { return *returns_; }

 private:
  [[nodiscard]] std::shared_ptr<Login> begin(ClientConnection& connection, const Authenticate& request,
                                             const Settings& settings);

  Logins* logins_;
  AccountLoads& loads_;
  std::shared_ptr<LoginReturns> returns_;
};

}  // namespace rowsocket::server
