// SPDX-License-Identifier: GPL-2.0-only
//
// What the server knows of a client's account, as far as that decides what the client may do:
//
//   a stranger ...... came in at a port that has a secret, and has not said it
//   anonymous ....... no secret is needed, or it has said the port's; it has named no account. It acts as the
//                     account that the operator named for such clients, if there is one
//   logged in ....... the host knows its account. The port's secret does not concern it any more
//
// What an account may do with a table is the engine's to decide, for each request. Logging in takes a while,
// and happens elsewhere: whoever executes the request brings the outcome (`set_outcome`) first.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/engine.h"
#include "request/error.h"
#include "request/request.h"
#include "request/settings.h"

namespace rowsocket::exec {

/// What a client may do at its port. Ordered: each includes the ones before.
enum class Access : uint8_t { none, read, write };

class Account {
 public:
  /// As it comes in. `port_access` is the most that the port allows.
  Account(Access port_access, const Settings& settings);
  /// One that may already do this.
  Account(Access port_access, Access granted) : port_access_(port_access), granted_(granted) {}

  [[nodiscard]] bool may_read(const Settings& settings) const {
    return granted_ != Access::none && (identity_ != nullptr || !(settings.needs_account || is_barred_));
  }
  /// Without an account of its own it may do nothing: it came in a way that the anonymous one forbids.
  void set_barred(bool is_barred) { is_barred_ = is_barred; }
  [[nodiscard]] bool may_write() const { return granted_ == Access::write; }
  [[nodiscard]] Access granted() const { return granted_; }

  /// True if the request names an account, and the host has to be asked first.
  [[nodiscard]] bool needs_login(const Authenticate& request, const Settings& settings) const;
  /// What came of the login; nullptr = it was refused, for `why`. The next `authenticate` takes it.
  void set_outcome(std::shared_ptr<engine::Identity> identity, Error why = ErrorCode::not_authenticated) {
    outcome_ = std::move(identity);
    refusal_ = std::move(why);
  }

  /// The client names an account or sends a secret. If either is wrong, or it names nobody, the client is
  /// again what it was when it came in.
  [[nodiscard]] Error authenticate(const Authenticate& request, const Settings& settings);

  /// nullptr = it has not logged in.
  [[nodiscard]] const std::shared_ptr<engine::Identity>& identity() const { return identity_; }
  /// The same for people: 0 of a stranger, and of a client that is barred.
  [[nodiscard]] uint64_t shown_number() const {
    const bool is_out = granted_ == Access::none || (identity_ == nullptr && is_barred_);
    return is_out ? engine::own_account : number();
  }

  /// The same for all who log in as this user of this host, from wherever and whenever; 0 = they have not.
  [[nodiscard]] uint64_t name_hash() const { return identity_ == nullptr ? 0 : name_hash_; }

  /// Clients share what they opened with clients of the same number only.
  [[nodiscard]] uint64_t number() const {
    return identity_ == nullptr ? engine::anonymous_account : identity_->number();
  }

 private:
  [[nodiscard]] ErrorCode say_secret(const Authenticate& request, const Settings& settings);
  [[nodiscard]] Error take_outcome(const Settings& settings);

  Access port_access_;
  Access granted_;
  bool is_barred_ = false;
  std::shared_ptr<engine::Identity> identity_;  ///< nullptr = it has not logged in
  uint64_t name_hash_ = 0;                      ///< of the identity
  std::optional<std::shared_ptr<engine::Identity>> outcome_ = {};
  Error refusal_ = {};  ///< where the outcome is nullptr
};

}  // namespace rowsocket::exec
