// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "mariadb/server_differences.h"
#include "mariadb/trail.h"
#include "server/guesses.h"
#include "sql_parse.h"

namespace rowsocket::mariadb {
namespace {

using engine::Asked;
using engine::Begin;
using engine::Deed;
using engine::Ended;
using engine::TextMaker;

bool audits_general() { return mysql_audit_general_enabled(); }
bool audits_tables() { return mysql_audit_table_enabled(); }
bool logs_slow() { return global_system_variables.sql_log_slow; }

const Visitor& visitor_of(const std::shared_ptr<engine::Identity>& client) {
  return static_cast<const Visitor&>(*client);  // every identity is one of ours
}

/// A client that has named no account, and was not let in.
class Refused : public Visitor {
 public:
  explicit Refused(std::string address)
      : Visitor(next_thread_id(), {}, {}),
        host_(address.empty() ? my_localhost : ""),
        ip_(std::move(address)) {}

  [[nodiscard]] uint64_t number() const override { return engine::anonymous_account; }
  [[nodiscard]] std::string account_name() const override { return account()->whole_name(); }
  /// It may change while the client is there.
  [[nodiscard]] std::shared_ptr<const Account> account() const override {
    std::shared_ptr<const Account> account = Accounts::all().find(engine::anonymous_account);
    return account != nullptr ? account : std::make_shared<const Account>();
  }
  [[nodiscard]] const std::string& host() const override { return host_; }
  [[nodiscard]] const std::string& ip() const override { return ip_; }

 private:
  std::string host_;
  std::string ip_;
};

/// A client that has named no account.
class NamelessIdentity final : public Refused {
 public:
  explicit NamelessIdentity(std::string address)
      : Refused(std::move(address)),
        measured_(connection_id(), account()->names.user, host().empty() ? ip() : host()) {}
  ~NamelessIdentity() override { log_departure(*this); }
  NamelessIdentity(const NamelessIdentity&) = delete;
  NamelessIdentity& operator=(const NamelessIdentity&) = delete;

  [[nodiscard]] PSI_thread* measured() const override { return measured_.thread(); }

 private:
  MeasuredClient measured_;
};

/// All threads together, as often as passwords are tried (server/login_queue.h).
bool may_note_wrong_secret() {
  static Mutex mutex;
  static server::Guesses noted({limits::all_guesses_at_once, limits::all_guess_interval_ms});
  const uint64_t now_ms = SteadyClock().now_ms();
  const MutexLock lock(mutex);
  if (!noted.may_try(now_ms)) {
    return false;
  }
  noted.begin();
  noted.end(true, now_ms);
  return true;
}

/// For plugins that sort statements by it.
enum_sql_command sql_command_of(Deed deed) {
  switch (deed) {
    case Deed::reads:
      return SQLCOM_SELECT;
    case Deed::updates:
      return SQLCOM_UPDATE;
    case Deed::inserts:
      return SQLCOM_INSERT;
    case Deed::deletes:
      return SQLCOM_DELETE;
    case Deed::other:
      return SQLCOM_END;
  }
  return SQLCOM_END;
}

/// As SQL numbers it.
int number_of(const Error& error) {
  switch (error.reason) {
    case Reason::duplicate:
      return ER_DUP_ENTRY;
    case Reason::row_locked:
      return ER_LOCK_WAIT_TIMEOUT;
    case Reason::conflict:
      return ER_LOCK_DEADLOCK;
    default:
      break;
  }
  if (error.code == ErrorCode::engine) {
    return ER_GET_ERRNO;
  }
  return error.number != 0 ? error.number : ER_UNKNOWN_ERROR;
}

}  // namespace

struct Trail::Entry final : engine::TrailEntry {
  explicit Entry(const Asked& asked) : client(asked.client), database(asked.database) {}

  std::shared_ptr<engine::Identity> client;
  std::string database;
  query_id_t query_id = next_query_id();
  ulonglong came_us = microsecond_interval_timer();
  my_hrtime_t came_at = my_hrtime();
  ulonglong asks_since_us = 0;  ///< for its tables; 0 = it does not
  ulonglong locking_us = 0;     ///< how long it did so before
  bool has_text = false;
  std::string text;
  std::vector<std::string> tables;  ///< that were told of
};

// ---- requests

engine::Trail* Trail::if_wanted() {
  const bool measures = own_measures_ != nullptr;
  return opt_log || logs_slow() || audits_general() || audits_tables() || measures ? this : nullptr;
}

std::shared_ptr<engine::Identity> Trail::introduce(const std::string& address) {
  auto nameless = std::make_shared<NamelessIdentity>(address);
  log_arrival(scribe(), *nameless);
  return nameless;
}

std::unique_ptr<engine::TrailEntry> Trail::received(const Asked& asked, const TextMaker& text) {
  auto entry = std::make_unique<Entry>(asked);
  if (opt_log || audits_general()) {
    entry->text = text();
    entry->has_text = true;
    const Pen pen(scribe(), visitor_of(entry->client), entry->database);
    pen.thd()->set_query_id(entry->query_id);
    general_log_write(pen.thd(), COM_QUERY, entry->text.data(), entry->text.size());
  }
  return entry;
}

void Trail::follow(engine::TrailEntry* entry) {
  followed_ = static_cast<Entry*>(entry);
  if (own_measures_ != nullptr) {
    if (session_->m_transaction_psi != nullptr) {
      end_measured_transaction(std::exchange(session_->m_transaction_psi, nullptr));
    }
    PSI_thread* const clients = followed_ != nullptr ? visitor_of(followed_->client).measured() : nullptr;
    measure_for(clients != nullptr ? clients : own_measures_);
  }
}

void Trail::ended(engine::TrailEntry& of_request, const Asked& asked, const Ended& end,
                  const TextMaker& text) {
  auto& entry = static_cast<Entry&>(of_request);
  const ulonglong now_us = microsecond_interval_timer();
  const bool is_slow =
      logs_slow() && now_us >= entry.came_us + entry.locking_us + slow_after_us(global_system_variables);
  if (!is_slow && !audits_general()) {
    return;
  }
  if (!entry.has_text) {
    entry.text = text();
    entry.has_text = true;
  }
  const Pen pen(scribe(), visitor_of(entry.client), entry.database);
  THD* const thd = pen.thd();
  thd->set_query_id(entry.query_id);
  thd->lex->sql_command = sql_command_of(asked.deed);
  thd->set_query(entry.text.data(), entry.text.size(), &my_charset_utf8mb4_general_ci);
  audit_end(thd, end);
  if (is_slow) {
    log_slow(entry, thd, end, now_us);
  }
}

/// As a wrong password of an account, and no more often than these.
void Trail::note_wrong_secret(const std::string& address) {
  try {
    if (may_note_wrong_secret()) {
      const Refused refused(address);
      log_refusal(scribe(), refused);
    }
  } catch (const std::exception&) {
    return;  // there is no memory to say so with
  }
}

void Trail::end_turn() {
  if (scribe_ != nullptr) {
    scribe_->rest();
  }
}

// ---- what the session does for them

void Trail::begin_locking() {
  if (followed_->asks_since_us == 0) {
    followed_->asks_since_us = microsecond_interval_timer();
  }
}

void Trail::end_locking(Begin begin) {
  if (begin != Begin::wait) {
    followed_->locking_us += microsecond_interval_timer() - std::exchange(followed_->asks_since_us, 0);
  }
}

/// Once for each table and kind of lock, however often the request runs.
void Trail::note_tables(const OpenTable& table) {
  if (!audits_tables()) {
    return;
  }
  Entry& entry = *followed_;
  table.for_each([&](TABLE_SHARE* share, bool is_written) {
    std::string name(share->table_cache_key.str, share->table_cache_key.length);
    name.push_back(is_written ? 'w' : 'r');
    if (std::find(entry.tables.begin(), entry.tables.end(), name) != entry.tables.end()) {
      return;
    }
    entry.tables.push_back(std::move(name));
    const Pen pen(scribe(), visitor_of(entry.client), entry.database);
    pen.thd()->set_query_id(entry.query_id);
    mysql_audit_external_lock(pen.thd(), share, is_written ? F_WRLCK : F_RDLCK);
  });
}

// ---- writing

Scribe& Trail::scribe() {
  if (scribe_ == nullptr) {
    scribe_ = std::make_unique<Scribe>();
  }
  return *scribe_;
}

void Trail::audit_end(THD* thd, const Ended& end) {
  if (!audits_general()) {
    return;
  }
  const int number = end.error.ok() ? 0 : number_of(end.error);
  if (number == 0) {
    mysql_audit_general(thd, MYSQL_AUDIT_GENERAL_RESULT, 0, nullptr);
  } else {
    const std::string what = end.hides_values || end.error.detail().empty()
                                 ? std::string(error_name(end.error.code))
                                 : std::string(end.error.detail());
    mysql_audit_general(thd, MYSQL_AUDIT_GENERAL_ERROR, number, what.c_str());
  }
  mysql_audit_general(thd, MYSQL_AUDIT_GENERAL_STATUS, number, command_name[COM_QUERY].str);
}

/// The server decides further: min_examined_row_limit, log_slow_rate_limit, log_slow_filter.
void Trail::log_slow(const Entry& entry, THD* thd, const Ended& end, ulonglong now_us) {
  thd->start_time = hrtime_to_my_time(entry.came_at);
  thd->start_time_sec_part = hrtime_sec_part(entry.came_at);
  thd->start_utime = entry.came_us;
  thd->utime_after_lock = entry.came_us + entry.locking_us;
  thd->utime_after_query = now_us;
  thd->server_status |= SERVER_QUERY_WAS_SLOW;
  thd->set_sent_row_count(end.rows_told);
  add_examined_rows(thd, end.rows_examined);
  if (end.error.ok()) {
    my_ok(thd, end.rows_changed);
  }
  thd->bytes_sent_old = thd->status_var.bytes_sent;
  thd->status_var.bytes_sent += end.reply_bytes;
  log_slow_statement(thd);
  thd->status_var.bytes_sent = thd->bytes_sent_old;
  session_->status_var.long_query_count += std::exchange(thd->status_var.long_query_count, 0);
}

}  // namespace rowsocket::mariadb
