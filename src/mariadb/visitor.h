// SPDX-License-Identifier: GPL-2.0-only
//
// A client as the server's logs and audit plugins know it, and the THD that stands for it where they look.
//
//   Visitor ... its names, from where it comes, and the number of its connection: the one that its login was
//               logged with
//   Scribe .... a THD that is in no list of the server. So it is not seen, and no KILL reaches it. It has
//               tables (log_output=TABLE), a transaction and diagnostics of its own, beside the session's
//   Pen ....... while it lives, the scribe is the thread's current THD, and looks like the visitor's
//
// The session's own THD is not used for this: it serves many clients, is seen by SHOW PROCESSLIST, and an
// account may KILL what has its name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "mariadb/accounts.h"
#include "mariadb/global_settings.h"
#include "mariadb/performance_schema.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class Visitor : public engine::Identity {
 public:
  Visitor(my_thread_id connection_id, std::string external_user, std::string proxy_user)
      : connection_id_(connection_id),
        external_user_(std::move(external_user)),
        proxy_user_(std::move(proxy_user)) {}
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  [[nodiscard]] uint64_t log_number() const override { return connection_id_; }
  [[nodiscard]] my_thread_id connection_id() const { return connection_id_; }
  [[nodiscard]] const std::string& external_user() const { return external_user_; }
  [[nodiscard]] const std::string& proxy_user() const { return proxy_user_; }
  /// Never nullptr.
  [[nodiscard]] virtual std::shared_ptr<const Account> account() const = 0;
  /// Its own, not those of the account.
  [[nodiscard]] virtual const std::string& host() const = 0;
  [[nodiscard]] virtual const std::string& ip() const = 0;
  /// For whom the performance schema measures what it asks; nullptr = for nobody in particular.
  [[nodiscard]] virtual PSI_thread* measured() const { return nullptr; }

 private:
  my_thread_id connection_id_;
  std::string external_user_;
  std::string proxy_user_;
};

/// On the thread that made it.
class Scribe {
 public:
  Scribe();
  ~Scribe();
  Scribe(const Scribe&) = delete;
  Scribe& operator=(const Scribe&) = delete;

  /// The server's global variables are taken over before the next entry, and audit plugins let go of.
  void rest();

 private:
  friend class Pen;

  void take_over_settings();

  THD* const before_;  ///< the thread's other THD, or nullptr
  THD* thd_;
  GlobalSettings settings_;
  my_thread_id wrote_for_ = 0;  ///< 0: for none since it rested
  std::string wrote_in_;        ///< the database
};

class Pen {
 public:
  /// Both outlive it.
  Pen(Scribe& scribe, const Visitor& visitor, std::string_view database);
  ~Pen();
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;

  [[nodiscard]] THD* thd() const { return thd_; }

 private:
  THD* thd_;
  THD* before_;
  std::shared_ptr<const Account> account_;
  std::string database_;
};

/// A client that has named no account came: as the server logs a login.
void log_arrival(Scribe& scribe, const Visitor& visitor);
/// The same of one that has sent a wrong secret: as the server logs a wrong password.
void log_refusal(Scribe& scribe, const Visitor& visitor);
/// The client of an account, or one that was logged so, is gone. On any thread.
void log_departure(const Visitor& visitor) noexcept;

}  // namespace rowsocket::mariadb
