// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include "mariadb/current_thd.h"
#include "mariadb/server_thread.h"
#include "mariadb/visitor.h"

namespace rowsocket::mariadb {
namespace {

template <size_t size>
void copy_to(char (&place)[size], const std::string& text) {
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(place, text.data(), length);
  place[length] = '\0';
}

const char* text_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

/// The thread has what the server's threads have, for a while where it was none of them.
class ServersThread {
 public:
  ServersThread() : is_foreign_(my_thread_var == nullptr) {
    if (is_foreign_) {
      my_thread_init();
    }
  }
  ~ServersThread() {
    if (is_foreign_) {
      my_thread_end();
    }
  }
  ServersThread(const ServersThread&) = delete;
  ServersThread& operator=(const ServersThread&) = delete;

 private:
  bool is_foreign_;
};

/// What points into a visitor is no part of the THD.
void forget_names(THD* thd) {
  Security_context& context = thd->main_security_ctx;
  context.user = nullptr;
  context.host = nullptr;
  context.ip = nullptr;
  context.external_user = nullptr;
  context.host_or_ip = "";
}

}  // namespace

// ---- the THD

Scribe::Scribe() : before_(current_thd), thd_(make_thd(0)) {
  make_current(thd_);
  thd_->system_thread = SYSTEM_THREAD_GENERIC;
  thd_->set_command(COM_QUERY);
  my_net_init(&thd_->net, nullptr, thd_, MYF(MY_THREAD_SPECIFIC));
  lex_start(thd_);
  thd_->init_for_queries();
  forget_names(thd_);
  if (before_ != nullptr) {
    make_current(before_);
  }
}

Scribe::~Scribe() {
  set_current_thd(thd_);
  lex_end(thd_->lex);
  thd_->reset_globals();
  make_current(thd_);
  delete thd_;
  set_current_thd(before_);
  if (before_ != nullptr) {
    make_current(before_);
  }
}

/// Like a session that begins, so that audit plugins take it for a new one of this visitor in this database.
void Scribe::take_over_settings() {
  settings_.take_over(thd_);
  system_variables& own = thd_->variables;
  own.character_set_client = &my_charset_utf8mb4_general_ci;  // as our texts are
  thd_->update_charset();
  own.option_bits = (own.option_bits & ~OPTION_NOT_AUTOCOMMIT) | OPTION_AUTOCOMMIT;
  own.wsrep_on = false;
  own.max_mem_used = LONGLONG_MAX;
}

void Scribe::rest() {
  set_current_thd(thd_);
  mysql_audit_release(thd_);
  free_root(thd_->mem_root, MYF(MY_KEEP_PREALLOC));
  set_current_thd(before_);
  wrote_for_ = 0;
}

// ---- as a visitor

Pen::Pen(Scribe& scribe, const Visitor& visitor, std::string_view database)
    : thd_(scribe.thd_), before_(scribe.before_), account_(visitor.account()), database_(database) {
  set_current_thd(thd_);
  thd_->thread_id = visitor.connection_id();
  if (scribe.wrote_for_ != visitor.connection_id() || scribe.wrote_in_ != database_) {
    scribe.take_over_settings();
    scribe.wrote_for_ = visitor.connection_id();
    scribe.wrote_in_ = database_;
  }
  thd_->reset_for_next_command(true);
  thd_->set_time();
  const AccountNames& names = account_->names;
  Security_context& context = thd_->main_security_ctx;
  context.user = names.user.c_str();
  context.host = text_or_null(visitor.host());
  context.ip = text_or_null(visitor.ip());
  context.host_or_ip = context.host != nullptr ? context.host : visitor.ip().c_str();
  context.external_user = const_cast<char*>(text_or_null(visitor.external_user()));
  copy_to(context.priv_user, names.priv_user);
  copy_to(context.priv_host, names.priv_host);
  copy_to(context.priv_role, names.role);
  copy_to(context.proxy_user, visitor.proxy_user());
  if (!database_.empty() && database_.size() <= NAME_LEN) {  // the slow log copies it to a place of this size
    thd_->db = {database_.c_str(), database_.size()};
  }
}

Pen::~Pen() {
  if (thd_->transaction->stmt.ha_list != nullptr) {  // the engine of the log's table takes part in such
    trans_commit_stmt(thd_);
  }
  thd_->db = null_clex_str;
  thd_->reset_query();
  thd_->clear_error(true);
  forget_names(thd_);
  set_current_thd(before_);
}

// ---- that it comes and goes

void log_arrival(Scribe& scribe, const Visitor& visitor) {
  const Pen pen(scribe, visitor, {});
  THD* const thd = pen.thd();
  thd->set_query_id(next_query_id());
  if (opt_log) {
    const Security_context& context = thd->main_security_ctx;
    const std::string text = std::string(context.user) + "@" + context.host_or_ip + " on  using " +
                             (context.ip != nullptr ? "TCP/IP" : "Socket") +
                             " as rowsocket_anonymous_account";
    general_log_write(thd, COM_CONNECT, text.data(), text.size());
  }
  mysql_audit_notify_connection_connect(thd);
}

void log_refusal(Scribe& scribe, const Visitor& visitor) {
  const Pen pen(scribe, visitor, {});
  THD* const thd = pen.thd();
  thd->set_query_id(next_query_id());
  const Security_context& context = thd->main_security_ctx;
  char text[MYSQL_ERRMSG_SIZE];
  std::snprintf(text, sizeof text, ER_DEFAULT(ER_ACCESS_DENIED_ERROR), context.user, context.host_or_ip,
                ER_DEFAULT(ER_YES));
  if (global_system_variables.log_warnings > 1) {
    sql_print_warning("%s (a wrong secret of a port of rowsocket)", text);
  }
  if (opt_log) {
    general_log_write(thd, COM_CONNECT, text, std::strlen(text));
  }
  thd->get_stmt_da()->set_error_status(ER_ACCESS_DENIED_ERROR, text, "28000", Sql_user_condition_identity(),
                                       nullptr);
  mysql_audit_notify_connection_connect(thd);
  thd->clear_error(true);
}

void log_departure(const Visitor& visitor) noexcept {
  if (!opt_log && !mysql_audit_connection_enabled()) {
    return;
  }
  try {
    const ServersThread thread;
    Scribe scribe;
    const Pen pen(scribe, visitor, {});
    THD* const thd = pen.thd();
    thd->set_query_id(next_query_id());
    if (opt_log) {
      general_log_write(thd, COM_QUIT, "", 0);
    }
    mysql_audit_notify_connection_disconnect(thd, 0);
  } catch (const std::exception&) {
    return;  // there is no memory to say so with
  }
}

}  // namespace rowsocket::mariadb
