// SPDX-License-Identifier: GPL-2.0-only
#include "exec/account.h"

#include <functional>
#include <string>
#include <string_view>

namespace rowsocket::exec {
namespace {

/// What a client may do at a port before it authenticates.
Access initial_access(Access port_access, const Settings& settings) {
  const bool write_is_open = settings.secret_write.empty() && settings.secret_read.empty();
  if (port_access == Access::write && write_is_open) {
    return Access::write;
  }
  // A write port whose only secret is the one for reading asks for it before anything else.
  return settings.secret_read.empty() ? Access::read : Access::none;
}

/// In time that depends on the sizes only.
bool same_secret(const Value& candidate, std::string_view secret) {
  unsigned difference = candidate.size == secret.size() ? 0U : 1U;
  for (size_t position = 0; position < candidate.size && !secret.empty(); ++position) {
    difference |= static_cast<unsigned char>(candidate.data[position]) ^
                  static_cast<unsigned char>(secret[position % secret.size()]);
  }
  return difference == 0;
}

/// What a secret is good for on a port; `none` where it is wrong.
Access access_of(const Value& candidate, Access port_access, const Settings& settings) {
  if (candidate.is_null()) {
    return Access::none;
  }
  const bool is_write_secret =
      !settings.secret_write.empty() && same_secret(candidate, settings.secret_write);
  const bool is_read_secret = !settings.secret_read.empty() && same_secret(candidate, settings.secret_read);
  if (is_write_secret || (is_read_secret && settings.secret_write.empty())) {
    return port_access;
  }
  if (is_read_secret) {
    return Access::read;
  }
  // Where nothing is secret, the empty secret is the right one, as it always was.
  const bool needs_none = initial_access(port_access, settings) == port_access;
  return candidate.size == 0 && needs_none ? port_access : Access::none;
}

/// It is a secret of the port, and not the empty one.
bool says_a_secret(const Value& candidate, Access port_access, const Settings& settings) {
  return candidate.size > 0 && access_of(candidate, port_access, settings) != Access::none;
}

/// Without the memory for the name it is 0.
uint64_t hash_of(const engine::Identity& identity) noexcept {
  try {
    return std::hash<std::string>()(identity.account_name());
  } catch (...) {
    return 0;
  }
}

}  // namespace

Account::Account(Access port_access, const Settings& settings)
    : port_access_(port_access), granted_(initial_access(port_access, settings)) {}

bool Account::needs_login(const Authenticate& request, const Settings& settings) const {
  if (request.mistake != ErrorCode::none || request.method == Authenticate::Method::port_secret ||
      request.method == Authenticate::Method::nobody) {
    return false;
  }
  return request.method == Authenticate::Method::account ||
         !says_a_secret(request.password, port_access_, settings);
}

Error Account::authenticate(const Authenticate& request, const Settings& settings) {
  if (request.mistake != ErrorCode::none) {
    return request.mistake;
  }
  if (request.method == Authenticate::Method::nobody) {
    identity_ = nullptr;
    granted_ = initial_access(port_access_, settings);
    return {};
  }
  return needs_login(request, settings) ? take_outcome(settings) : Error(say_secret(request, settings));
}

ErrorCode Account::say_secret(const Authenticate& request, const Settings& settings) {
  identity_ = nullptr;
  const Access access = access_of(request.password, port_access_, settings);
  granted_ = access == Access::none ? initial_access(port_access_, settings) : access;
  return access == Access::none ? ErrorCode::not_authenticated : ErrorCode::none;
}

Error Account::take_outcome(const Settings& settings) {
  const bool was_tried = outcome_.has_value();
  identity_ = std::exchange(outcome_, {}).value_or(nullptr);
  granted_ = identity_ != nullptr ? port_access_ : initial_access(port_access_, settings);
  if (identity_ != nullptr) {
    name_hash_ = hash_of(*identity_);
    return {};
  }
  return was_tried ? std::exchange(refusal_, {}) : Error(ErrorCode::not_authenticated);
}

}  // namespace rowsocket::exec
