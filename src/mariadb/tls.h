// SPDX-License-Identifier: GPL-2.0-only
//
// TLS with the server's own certificates and settings (`ssl_cert`, `ssl_key`, `ssl_ca`, `ssl_crl`,
// `tls_version`, `ssl_cipher`): each session is made of the context that the server has at that moment, as
// FLUSH SSL left it.
#pragma once

#include "tls/sessions.h"

namespace rowsocket::mariadb {

class ServerTls final : public tls::Sessions {
 public:
  ServerTls();
  [[nodiscard]] tls::Session make() override;

  /// False if the server has another TLS library than this plugin. A context of that library means nothing
  /// here: there is no TLS.
  [[nodiscard]] bool fits() const { return fits_; }

 private:
  bool fits_;
};

}  // namespace rowsocket::mariadb
