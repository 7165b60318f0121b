// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/threshold.h"
#include "protocol.h"
#include "sql_acl.h"

namespace rowsocket::mariadb {
namespace {

/// Keeps the first text of the first row.
class TextTaker final : public Protocol_text {
 public:
  explicit TextTaker(THD* of_session) : Protocol_text(of_session) {}

  bool send_result_set_metadata(List<Item>*, uint) override { return false; }
  bool send_eof(uint, uint) override { return false; }
  void prepare_for_resend() override {}
  bool write() override {
    is_taken_ = true;
    return false;
  }
  bool store_str(const char* text, size_t size, CHARSET_INFO*, CHARSET_INFO*) override {
    try {
      if (!is_taken_) {
        text_.assign(text, size);
      }
      return false;
    } catch (const std::exception&) {
      has_failed_ = true;
      return true;  // nothing is thrown through the server
    }
  }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  bool is_taken_ = false;
  bool has_failed_ = false;
  std::string text_;
};

/// Nothing where there is no such account, or it cannot be told. `context` is that account meanwhile: other
/// threads may read it.
std::optional<std::string> create_user_text(THD* thd, Security_context& context, const AccountNames& names) {
  strmake_buf(context.priv_user, names.priv_user.c_str());
  strmake_buf(context.priv_host, names.priv_host.c_str());
  LEX_USER user;
  user.auth = nullptr;
  user.user = {names.priv_user.c_str(), names.priv_user.size()};
  user.host = {names.priv_host.c_str(), names.priv_host.size()};
  MEM_ROOT memory;
  init_alloc_root(PSI_NOT_INSTRUMENTED, &memory, 1024, 0, MYF(0));
  Query_arena arena(&memory, Query_arena::STMT_INITIALIZED);
  Query_arena backup;
  TextTaker taker(thd);
  thd->set_n_backup_active_arena(&arena, &backup);
  Protocol* const protocol = std::exchange(thd->protocol, &taker);
  Security_context* const before = std::exchange(thd->security_ctx, &context);
  const bool failed = mysql_show_create_user(thd, &user);
  thd->security_ctx = before;
  thd->protocol = protocol;
  thd->restore_active_arena(&arena, &backup);
  arena.free_items();
  free_root(&memory, MYF(0));
  clear_diagnostics(thd);
  if (taker.has_failed()) {
    throw std::bad_alloc();
  }
  return failed ? std::nullopt : std::optional(taker.text());
}

struct CertificateDeleter {
  void operator()(X509* certificate) const { X509_free(certificate); }
};

bool is_named(X509_NAME* name, const std::optional<std::string>& wanted) {
  char text[1024];
  return !wanted.has_value() || wanted == X509_NAME_oneline(name, text, sizeof text);
}

bool has_certificate(ssl_st* tls, const Requirement& requirement) {
  const std::unique_ptr<X509, CertificateDeleter> certificate(SSL_get1_peer_certificate(tls));
  return certificate != nullptr && is_named(X509_get_issuer_name(certificate.get()), requirement.issuer) &&
         is_named(X509_get_subject_name(certificate.get()), requirement.subject);
}

/// As acl_check_ssl of the server.
bool meets(const engine::Entrance& entrance, const Requirement& requirement) {
  if (!requirement.needs_tls) {
    return !opt_require_secure_transport || entrance.is_unix || entrance.tls != nullptr;
  }
  ssl_st* const tls = entrance.tls.get();
  if (tls == nullptr || SSL_get_verify_result(tls) != X509_V_OK) {
    return false;
  }
  if (requirement.cipher.has_value() && requirement.cipher != SSL_get_cipher(tls)) {
    return false;
  }
  return !requirement.needs_certificate || has_certificate(tls, requirement);
}

bool skip(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) {
    return false;
  }
  text.remove_prefix(word.size());
  return true;
}

/// A name from the front. One in quotes has its quote doubled.
bool skip_name(std::string_view& text) {
  const char quote = text.empty() ? '\0' : text.front();
  if (quote != '`' && quote != '"') {
    text.remove_prefix(std::min(text.size(), text.find_first_of("@ ")));
    return true;
  }
  do {
    const size_t end = text.find(quote, 1);
    if (end == std::string_view::npos) {
      return false;
    }
    text.remove_prefix(end + 1);
  } while (text.starts_with(quote));
  return true;
}

/// `word` and a value in quotes from the front. The server escapes nothing: the value ends where a quote
/// stands before a space or the end.
bool take_value(std::string_view& text, std::string_view word, std::optional<std::string>& value) {
  std::string_view rest = text;
  if (value.has_value() || !skip(rest, word) || !skip(rest, " '")) {
    return false;
  }
  size_t end = rest.find('\'');
  while (end != std::string_view::npos && end + 1 < rest.size() && rest[end + 1] != ' ') {
    end = rest.find('\'', end + 1);
  }
  if (end == std::string_view::npos) {
    return false;
  }
  value = rest.substr(0, end);
  text = rest.substr(end + 1);
  return true;
}

/// ISSUER, SUBJECT, CIPHER: each may be missing. (All are where their values are empty.)
void take_values(std::string_view& text, Requirement& requirement) {
  std::string_view next = text;
  while (take_value(next, "ISSUER", requirement.issuer) || take_value(next, "SUBJECT", requirement.subject) ||
         take_value(next, "CIPHER", requirement.cipher)) {
    text = next;
    if (!skip(next, " ")) {
      return;
    }
  }
}

/// What the server writes behind a requirement.
bool is_rest(std::string_view text) {
  const bool is_known = text.empty() || text.starts_with(" WITH ") || text.starts_with(" ACCOUNT LOCK") ||
                        text.starts_with(" PASSWORD EXPIRE");
  return is_known && text.find_first_of("'\"`") == std::string_view::npos;
}

}  // namespace

std::optional<Requirement> requirement_of(std::string_view create_user) {
  constexpr std::string_view word = " REQUIRE ";
  std::string_view text = create_user;
  if (!skip(text, "CREATE USER ") || !skip_name(text) || !skip(text, "@") || !skip_name(text)) {
    return std::nullopt;
  }
  const size_t at = text.find(word);
  if (at == std::string_view::npos) {
    return Requirement();
  }
  // It may stand in a secret. Then what is made of it is more than the account asks, or two of it are there.
  text.remove_prefix(at + word.size());
  Requirement requirement = {.needs_tls = true};
  if (skip(text, "X509")) {
    requirement.needs_certificate = true;
  } else if (!skip(text, "SSL")) {
    take_values(text, requirement);
    requirement.needs_certificate = requirement.issuer.has_value() || requirement.subject.has_value();
  }
  return is_rest(text) ? std::optional(requirement) : std::nullopt;
}

engine::Admittance Threshold::admittance_of(const engine::Entrance& entrance) {
  using engine::Admittance;
  const std::shared_ptr<const Account> account = Accounts::all().find(engine::anonymous_account);
  if (account == nullptr) {
    return Admittance::unknown;
  }
  context_.user = thd_->main_security_ctx.user;
  context_.host_or_ip = thd_->main_security_ctx.host_or_ip;
  const std::optional<std::string> text = create_user_text(thd_, context_, account->names);
  if (!text.has_value()) {
    if (Accounts::all().misses_anonymous()) {
      sql_print_warning(
          "rowsocket_anonymous_account: there is no account %s: clients that name none may do nothing",
          account->whole_name().c_str());
    }
    return Admittance::unknown;
  }
  const std::optional<Requirement> requirement = requirement_of(*text);
  const bool may_come = requirement.has_value() && meets(entrance, *requirement);
  return may_come ? Admittance::granted : Admittance::refused;
}

}  // namespace rowsocket::mariadb
