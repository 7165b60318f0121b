// SPDX-License-Identifier: GPL-2.0-only
//
// Clients that name an account: what they say, which account the host finds, and why it refuses them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "request/error.h"

struct ssl_st;  // a session of OpenSSL

namespace rowsocket::engine {

/// The account that a client has logged in with, for as long as it stays logged in. Any thread may hold it.
class Identity {
 public:
  virtual ~Identity() = default;
  /// Of the account, as a selection's description has it; first_account or above.
  [[nodiscard]] virtual uint64_t number() const = 0;
  /// Of the account, from wherever and in whatever role its clients come; as Settings::anonymous_account has
  /// it.
  [[nodiscard]] virtual std::string account_name() const = 0;
  /// Of this client in the host's logs; 0 = it has none there.
  [[nodiscard]] virtual uint64_t log_number() const { return 0; }
};

/// What a client says of itself.
struct Credentials {
  std::string user;
  std::string password;
  int socket = -1;       ///< the client's, open until the login is over
  bool is_unix = false;  ///< it came through a unix socket
  /// Where it came from, which the socket may not know any more: a numeric address of IPv4 or IPv6.
  std::string host = {};
  uint16_t port = 0;
  uint32_t scope_id = 0;  ///< of an address of IPv6 that is good on one link only
  /// What it agreed on with TLS, as a session of OpenSSL that only the login uses; nullptr = it has no TLS.
  std::shared_ptr<ssl_st> tls = {};
  /// Asked when the client has proven who it is, with the account's name: may it have one more connection?
  std::function<bool(const std::string& account)> has_room = {};
  uint32_t account_connections_max = 0;  ///< for the text where it has none
};

/// How a client came that names no account. `tls` is as of Credentials.
struct Entrance {
  bool is_unix = false;
  std::shared_ptr<ssl_st> tls = {};
};

/// Whether a client may come in that names no account.
enum class Admittance : uint8_t {
  granted,
  refused,  ///< it came in a way that the account forbids
  unknown   ///< the account is not there now
};

/// Logs clients in, on the thread that made it. It may block for long: for names of hosts, for other
/// services.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  /// nullptr: refused. The host has logged that. `why` is set where the client is not wrong, but one too
  /// many. May throw std::bad_alloc.
  [[nodiscard]] virtual std::shared_ptr<Identity> log_in(const Credentials& credentials, Error& why) = 0;
};

}  // namespace rowsocket::engine
