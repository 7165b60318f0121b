// SPDX-License-Identifier: GPL-2.0-only
//
// Where TLS sessions come from. The certificates and settings are the host's: it makes a session of the
// context that is its own now, so that a client of ours meets what a client of the host's own port would.
//
// A session is an `SSL` of OpenSSL, which this header only names.
#pragma once

#include <memory>

struct ssl_st;

namespace rowsocket::tls {

struct SessionDeleter {
  void operator()(ssl_st* session) const;
};
using Session = std::unique_ptr<ssl_st, SessionDeleter>;

class Sessions {
 public:
  virtual ~Sessions() = default;
  /// For a client that has just come; nullptr where the host has no certificate, or no memory. Any thread.
  [[nodiscard]] virtual Session make() = 0;
};

}  // namespace rowsocket::tls
