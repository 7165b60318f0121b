// SPDX-License-Identifier: GPL-2.0-only
//
// What a worker has of the load of each account (account_loads.h): the accounts of its connections, the
// requests that they may have under way, the bytes that they hold. So a flood of one account is its own:
//
//   too many requests .... the connection is held back: nothing more of it is executed, and nothing received,
//                          until others of its account were answered. Then those that have waited longest go
//                          on, each with a place of its own
//   too many bytes ....... the connection of the account that holds most is closed, over all workers. (What
//                          is held is halves of requests and replies that are not read: waiting would not
//                          help)
//
// A place is one request: it is taken before the request is executed, and free when the turn is over. A
// request that is parked keeps its place.
//
// A client that names no account is an outsider until the anonymous account lets it in (it has a seat then).
// Outsiders have no limits: what they ask is refused, and what they hold is not that account's.
//
// One owner, one thread at a time: that of the loop. Allocates when a connection comes, or its account
// changes. Without limits (`Settings::account_*_max`) it keeps the order of those that hold most, and nothing
// else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "request/counters.h"
#include "request/settings.h"
#include "server/account_loads.h"
#include "server/client_connection.h"
#include "server/holders.h"

namespace rowsocket::server {

class Allotments;

/// One account's part. Ranked by what its connection that holds most holds.
class Allotment : public Holder {
 public:
  /// `joined`: of outsiders, the account that may let them in; else nullptr. May throw std::bad_alloc.
  Allotment(Allotments& all, std::shared_ptr<AccountLoad> of_account, std::shared_ptr<AccountLoad> joined,
            Inbox& worker, std::atomic<bool>& must_close);
  ~Allotment();  ///< gives everything back
  Allotment(const Allotment&) = delete;
  Allotment& operator=(const Allotment&) = delete;

  [[nodiscard]] AccountLoad& load() const { return *load_; }

  /// The connection's next request of this turn may be executed, as one of at most `count_max`. If not, it is
  /// to be held back. For the thread of the loop.
  [[nodiscard]] bool has_place(ClientConnection& connection, uint32_t count_max);
  /// An outsider takes a seat of the account that lets it in, and is its own from here on. False where the
  /// account has `count_max` connections already. For the thread of the loop.
  [[nodiscard]] bool let_in(ClientConnection& connection, uint32_t count_max);

 private:
  friend class Allotments;

  [[nodiscard]] bool take_place(uint32_t count_max);
  void free_places(ClientConnection& connection, uint32_t kept);
  [[nodiscard]] bool take_some(uint32_t count_max);
  [[nodiscard]] bool end_turn(uint32_t count_max);
  void hold_back(ClientConnection& connection);
  void let_go(ClientConnection& connection);
  void publish_bytes();

  Allotments& all_;
  const std::shared_ptr<AccountLoad> load_;
  const std::shared_ptr<AccountLoad> joined_;
  AccountLoad::Part part_;
  size_t connection_count_ = 0;

  uint32_t taken_ = 0;  ///< of the account's requests
  uint32_t used_ = 0;   ///< of them, those that a connection has a place for
  ClientConnection* first_waiting_ = nullptr;
  ClientConnection* last_waiting_ = nullptr;
  ClientConnection* next_looked_at_ = nullptr;  ///< whether it is still there
  bool waits_for_others_ = false;               ///< for other workers to give requests back
  bool is_busy_ = false;                        ///< some are taken, or a connection waits

  Holders holders_;  ///< has room for its connections
  size_t held_bytes_ = 0;
  size_t published_bytes_ = 0;
  bool has_changed_ = false;  ///< since its bytes were published
};

class Allotments {
 public:
  /// They outlive it.
  Allotments(AccountLoads& loads, Inbox& worker, Counters& counters)
      : loads_(loads), worker_(worker), counters_(counters) {}

  /// True if clients that name no account are of another one now: see `follow_account`. May throw
  /// std::bad_alloc.
  [[nodiscard]] bool use_settings(const Settings& settings);

  // ---- whose a connection is

  /// A new connection, or one whose account may have changed. May throw std::bad_alloc; then it is as before.
  void place(ClientConnection& connection);
  /// Its turn is over: places that it does not need are free.
  void end_turn_of(ClientConnection& connection);
  /// It is its account's from here on.
  void follow_account(ClientConnection& connection);
  /// It is closed, and not removed yet: it holds nothing any more.
  void close(ClientConnection& connection);
  void remove(ClientConnection& connection);

  // ---- requests

  /// A place was taken for it, and its turn goes on with another thread.
  void note_use(ClientConnection& connection);
  /// To be called by `end_turn_of`'s caller, where the connection is held back.
  void hold_back(ClientConnection& connection);
  [[nodiscard]] bool some_wait() const { return waiting_count_ > 0; }
  /// Some that are held back may go on at once.
  [[nodiscard]] bool some_may_go_on() const { return some_may_go_on_; }
  /// Calls `go_on` for those that are held back and have a place now.
  template <typename GoOn>
  void take_waiting(const GoOn& go_on) {
    some_may_go_on_ = false;
    while (ClientConnection* const connection = waiting_count_ > 0 ? next_with_place() : nullptr) {
      go_on(*connection);
    }
  }
  /// What this turn did not need is the other workers'.
  void end_turn();
  /// Up to `count` of each account's that are held back, each time others. `look` may close them.
  template <typename Look>
  void look_at_waiting(size_t count, const Look& look) {
    for (Allotment* const allotment : busy_) {
      for (size_t number = 0; number < count; ++number) {
        if (ClientConnection* const connection = next_to_look_at(*allotment); connection != nullptr) {
          look(*connection);
        }
      }
    }
  }

  // ---- bytes

  /// The connection holds so much now.
  void rank(ClientConnection& connection, size_t bytes);
  /// It is not found as the one that holds most, and what it holds does not count, until it is ranked again.
  void pass_over(ClientConnection& connection);
  /// The connection that holds most; nullptr if none holds anything.
  [[nodiscard]] ClientConnection* largest_holder() const;
  /// One that must go since its account holds too much; nullptr: none.
  [[nodiscard]] ClientConnection* holder_of_too_much();

 private:
  [[nodiscard]] Allotment& of(const std::string& account);
  [[nodiscard]] Allotment& of_nameless(const ClientConnection& connection);
  [[nodiscard]] Allotment& add(const std::string& name, std::shared_ptr<AccountLoad> joined);
  [[nodiscard]] ClientConnection* next_with_place();
  [[nodiscard]] static ClientConnection* next_to_look_at(Allotment& allotment);
  void move(ClientConnection& connection, Allotment& to);
  void stop_waiting(ClientConnection& connection);
  void rank(Allotment& allotment);
  void note_bytes(Allotment& allotment);
  void note_change(Allotment& allotment);
  void forget(Allotment& allotment);

  AccountLoads& loads_;
  Inbox& worker_;
  Counters& counters_;
  std::atomic<bool> some_must_close_{false};  ///< another worker says so
  std::unordered_map<std::string, std::unique_ptr<Allotment>> all_;
  std::string anonymous_account_;
  Allotment* anonymous_ = nullptr;  ///< of connections that have named no account; nullptr = none is in
  Allotment* outsiders_ = nullptr;  ///< those of them that are not in; nullptr = none has come
  uint32_t requests_max_ = 0;
  size_t bytes_max_ = 0;
  size_t waiting_count_ = 0;  ///< connections that are held back
  bool some_may_go_on_ = false;
  Holders holders_;  ///< the allotments
  // Each has room for all.
  std::vector<Allotment*> busy_;     ///< with requests taken, or with connections that wait
  std::vector<Allotment*> changed_;  ///< with bytes that are not published
};

}  // namespace rowsocket::server
