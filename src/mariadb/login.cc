// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "mariadb/accounts.h"
#include "mariadb/current_thd.h"
#include "mariadb/login.h"
#include "mariadb/performance_schema.h"
#include "mariadb/rights.h"
#include "mariadb/server_differences.h"
#include "mariadb/server_thread.h"
#include "mariadb/sql_client.h"
#include "mariadb/visitor.h"

namespace rowsocket::mariadb {
namespace {

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

/// A client that is logged in: one of its account's connections, as far as the server counts these.
class LoggedIn final : public Visitor {
 public:
  LoggedIn(const THD* thd, std::shared_ptr<const Account> account, USER_CONN* counted)
      : Visitor(thd->thread_id, text_of(thd->main_security_ctx.external_user),
                thd->main_security_ctx.proxy_user),
        account_(std::move(account)),
        counted_(counted),
        measured_(thd->thread_id, account_->names.user, thd->main_security_ctx.host_or_ip) {}
  ~LoggedIn() override {
    log_departure(*this);
    if (counted_ != nullptr) {
      decrease_user_connections(counted_);
    }
  }
  LoggedIn(const LoggedIn&) = delete;
  LoggedIn& operator=(const LoggedIn&) = delete;

  [[nodiscard]] uint64_t number() const override { return account_->number; }
  [[nodiscard]] std::string account_name() const override { return account_->whole_name(); }
  [[nodiscard]] std::shared_ptr<const Account> account() const override { return account_; }
  [[nodiscard]] const std::string& host() const override { return account_->names.host; }
  [[nodiscard]] const std::string& ip() const override { return account_->names.ip; }
  [[nodiscard]] PSI_thread* measured() const override { return measured_.thread(); }

 private:
  std::shared_ptr<const Account> account_;
  USER_CONN* counted_;
  MeasuredClient measured_;
};

/// The server's stream to the client in memory. Its descriptor is the client's real one: plugins ask it for
/// addresses and user ids. Nothing is read from it, or written to it.
struct MemoryStream {
  MemoryStream(const engine::Credentials& credentials, SqlClient& other_end) : client(&other_end) {
    mysql_socket_setfd(&vio.mysql_socket, credentials.socket);
    vio.type = credentials.is_unix ? VIO_TYPE_SOCKET : VIO_TYPE_TCPIP;
    if (credentials.tls != nullptr) {  // for REQUIRE, which looks at the client's certificate
      vio.type = VIO_TYPE_SSL;
      vio.ssl_arg = credentials.tls.get();
    }
    vio.state = VIO_STATE_ACTIVE;
    vio.desc = const_cast<char*>("rowsocket");
    vio.read_timeout = vio.write_timeout = -1;
    vio.read = read;
    vio.write = write;
    vio.vioerrno = [](Vio*) { return 0; };
    vio.viodelete = [](Vio*) {};
    vio.timeout = [](Vio*, uint, my_bool) { return 0; };
    vio.viokeepalive = [](Vio*, my_bool) { return 0; };
    vio.fastsend = [](Vio*) { return 0; };
    // The socket no longer knows it once the client has reset the connection: a client that goes during its
    // login has not guessed wrongly, and was no other one.
    has_address = !credentials.is_unix && note_address(credentials);
    vio.peer_addr = tell_address;
    vio.should_retry = [](Vio*) -> my_bool { return 0; };
    vio.was_timeout = [](Vio*) -> my_bool { return 0; };
    vio.vioclose = [](Vio*) { return 0; };
    vio.is_connected = [](Vio*) -> my_bool { return 1; };
    vio.shutdown = [](Vio*, int) { return 0; };
    vio.has_data = [](Vio*) -> my_bool { return 0; };
    vio.io_wait = [](Vio*, enum_vio_io_event, int) { return 1; };
    vio.vioblocking = [](Vio*, my_bool, my_bool*) { return 0; };
    vio.is_blocking = [](Vio*) -> my_bool { return 1; };
  }

  static size_t read(Vio* vio, uchar* place, size_t byte_count_max) {
    return of(vio).client->give(reinterpret_cast<char*>(place), byte_count_max);
  }
  static size_t write(Vio* vio, const uchar* bytes, size_t byte_count) {
    MemoryStream& stream = of(vio);
    try {
      stream.client->take({reinterpret_cast<const char*>(bytes), byte_count});
    } catch (const std::exception&) {
      return static_cast<size_t>(-1);  // nothing is thrown through the server
    }
    return byte_count;
  }
  /// As vio_peer_addr does it.
  [[nodiscard]] bool note_address(const engine::Credentials& credentials) {
    port = credentials.port;
    auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&vio.remote);
    auto* const ipv6 = reinterpret_cast<sockaddr_in6*>(&vio.remote);
    const bool is_ipv4 = inet_pton(AF_INET, credentials.host.c_str(), &ipv4->sin_addr) == 1;
    if (is_ipv4) {
      ipv4->sin_family = AF_INET;
      ipv4->sin_port = htons(port);
    } else if (inet_pton(AF_INET6, credentials.host.c_str(), &ipv6->sin6_addr) == 1) {
      ipv6->sin6_family = AF_INET6;
      ipv6->sin6_port = htons(port);
      ipv6->sin6_scope_id = credentials.scope_id;
    } else {
      return false;
    }
    const socklen_t bytes = is_ipv4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    return getnameinfo(reinterpret_cast<const sockaddr*>(&vio.remote), bytes, ip, sizeof ip, nullptr, 0,
                       NI_NUMERICHOST) == 0;
  }
  static my_bool tell_address(Vio* vio, char* place, uint16* port_place, size_t place_bytes) {
    const MemoryStream& stream = of(vio);
    if (!stream.has_address || place_bytes < sizeof stream.ip) {
      return 1;
    }
    std::memcpy(place, stream.ip, sizeof stream.ip);
    *port_place = stream.port;
    return 0;
  }
  static MemoryStream& of(Vio* vio) { return *reinterpret_cast<MemoryStream*>(vio); }

  Vio vio{};  ///< the first member: see `of`
  SqlClient* client;
  char ip[NI_MAXHOST] = {};
  uint16 port = 0;
  bool has_address = false;
};

/// A THD as the server makes it for a connection of SQL.
class ConnectionThread {
 public:
  ConnectionThread(MemoryStream& stream, bool is_unix) : thd_(make_thd(next_thread_id())) {
    make_current(thd_);
    my_net_init(&thd_->net, &stream.vio, thd_, MYF(MY_THREAD_SPECIFIC));
    init_net_server_extension(thd_);
    if (is_unix) {
      thd_->security_ctx->host = my_localhost;
    }
    thd_->set_time();
    lex_start(thd_);
    server_threads.insert(thd_);
  }
  ~ConnectionThread() {
    end_connection(thd_);
    server_threads.erase(thd_);
    lex_end(thd_->lex);
    thd_->net.vio = nullptr;  // it is not the THD's
    thd_->reset_globals();
    make_current(thd_);
    delete thd_;
  }
  ConnectionThread(const ConnectionThread&) = delete;
  ConnectionThread& operator=(const ConnectionThread&) = delete;

  [[nodiscard]] THD* thd() const { return thd_; }

 private:
  THD* thd_;
};

/// A login puts an account's own MAX_STATEMENT_TIME where the server's stood. The two can be the same number:
/// so what stands there before is a number that neither can be. What limits statements meanwhile, those of
/// init_connect, is another variable.
class OwnStatementTime {
 public:
  explicit OwnStatementTime(system_variables& variables) : variables_(variables) {
    variables_.max_statement_time_double = none;
  }
  /// Behind the login, in microseconds; 0 = the account has none.
  [[nodiscard]] uint64_t us() const {
    return variables_.max_statement_time_double == none ? 0 : variables_.max_statement_time;
  }

 private:
  static constexpr double none = -1;
  system_variables& variables_;
};

/// As for a connection of SQL, with `init_connect`, which may set another role or fail. True if the client is
/// refused.
bool is_refused(THD* thd) { return thd_prepare_connection(thd) || thd->killed != NOT_KILLED; }

/// The server's answer to an account that has as many connections as it may.
bool is_one_too_many(int error_number) {
  return error_number == ER_TOO_MANY_USER_CONNECTIONS || error_number == ER_USER_LIMIT_REACHED;
}

/// In the server's own words.
Error one_too_many(const AccountNames& names, uint32_t count_max) {
  char text[MYSQL_ERRMSG_SIZE];
  std::snprintf(text, sizeof text, ER_DEFAULT(ER_USER_LIMIT_REACHED), names.user.c_str(),
                "rowsocket_max_account_connections", static_cast<long>(count_max));
  return Error(ErrorCode::too_many_connections, ER_USER_LIMIT_REACHED, text);
}

AccountNames names_of(const Security_context& context, uint64_t statement_us_max) {
  return {.user = text_of(context.user),
          .host = text_of(context.host),
          .ip = text_of(context.ip),
          .priv_user = context.priv_user,
          .priv_host = context.priv_host,
          .role = context.priv_role,
          .statement_us_max = statement_us_max};
}

class Authenticator final : public engine::Authenticator {
 public:
  Authenticator() { my_thread_init(); }
  ~Authenticator() override {
    leave_thread();
    my_thread_end();
  }
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  std::shared_ptr<engine::Identity> log_in(const engine::Credentials& credentials, Error& why) override {
    // The server's packets end names with a byte 0.
    if (credentials.user.find('\0') != std::string::npos ||
        credentials.password.find('\0') != std::string::npos) {
      return nullptr;
    }
    SqlClient client(credentials.user, credentials.password);
    MemoryStream stream(credentials, client);
    const ConnectionThread connection(stream, credentials.is_unix);
    THD* const thd = connection.thd();
    const OwnStatementTime own_time(thd->variables);
    // A new password can not be set here: with an expired one the login is refused.
    if (is_refused(thd)) {
      if (is_one_too_many(client.error_number())) {
        why = Error(ErrorCode::too_many_connections, client.error_number(), client.error_text());
      }
      return nullptr;
    }
    if (thd->main_security_ctx.password_expired) {
      mysql_audit_notify_connection_disconnect(thd, ER_MUST_CHANGE_PASSWORD_LOGIN);
      return nullptr;
    }
    const AccountNames names = names_of(thd->main_security_ctx, own_time.us());
    Security_context found;
    if (!take_account(found, names)) {
      sql_print_warning("rowsocket: refuses a login as '%s'@'%s': can not tell it from another account",
                        names.priv_user.c_str(), names.priv_host.c_str());
      mysql_audit_notify_connection_disconnect(thd, ER_ACCESS_DENIED_ERROR);
      return nullptr;
    }
    std::shared_ptr<const Account> account = Accounts::all().entered(names);
    if (credentials.has_room && !credentials.has_room(account->whole_name())) {
      why = one_too_many(names, credentials.account_connections_max);
      mysql_audit_notify_connection_disconnect(thd, ER_USER_LIMIT_REACHED);
      return nullptr;
    }
    auto identity = std::make_shared<LoggedIn>(thd, std::move(account), thd->user_connect);
    thd->user_connect = nullptr;  // it is the identity's to give back
    return identity;
  }
};

}  // namespace

std::unique_ptr<engine::Authenticator> make_authenticator() { return std::make_unique<Authenticator>(); }

}  // namespace rowsocket::mariadb
