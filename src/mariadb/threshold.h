// SPDX-License-Identifier: GPL-2.0-only
//
// What the account of clients that name none asks of the way in which a client comes: REQUIRE SSL, X509,
// ISSUER, SUBJECT, CIPHER, and `require_secure_transport` of the server. At a login the server looks at this
// by itself; these clients never log in. The server tells plugins what an account asks in one way only: as
// the text of SHOW CREATE USER.
//
// On the session's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/authenticator.h"
#include "mariadb/accounts.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// What stands behind REQUIRE. Nothing named: any.
struct Requirement {
  bool needs_tls = false;
  bool needs_certificate = false;
  std::optional<std::string> issuer = {};
  std::optional<std::string> subject = {};
  std::optional<std::string> cipher = {};
};

class Threshold {
 public:
  explicit Threshold(THD* thd) : thd_(thd) { context_.init(); }

  /// Whether the client that came so may act as the anonymous account. May throw std::bad_alloc.
  [[nodiscard]] engine::Admittance admittance_of(const engine::Entrance& entrance);

 private:
  THD* thd_;
  Security_context context_;  ///< a member: SHOW PROCESSLIST may still read it when the call is over
};

/// Of the text of SHOW CREATE USER. Nothing where it cannot be told: the server escapes no quote in it.
[[nodiscard]] std::optional<Requirement> requirement_of(std::string_view create_user);

}  // namespace rowsocket::mariadb
