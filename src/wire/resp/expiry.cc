// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/expiry.h"

#include <algorithm>

#include "wire/resp/commands.h"

namespace rowsocket::wire::resp {
namespace {

constexpr int64_t ms_per_s = 1000;
/// Beyond it no sum of milliseconds fits 64 bits.
constexpr int64_t seconds_max = INT64_MAX / 1'000'000 / 2;

/// `command` as its client wrote it, but for capitals.
std::string_view invalid_time(const Scope& scope, std::string_view command) {
  const std::string_view parts[] = {"-ERR invalid expire time in '", in_small_letters(scope, command),
                                    "' command"};
  return joined(scope, parts, {});
}

struct Option {
  std::string_view word;
  bool has_number;
  bool is_in_ms = false;
  bool is_absolute = false;
};
constexpr Option options[] = {
    {"EX", true},       {"PX", true, true}, {"EXAT", true, false, true}, {"PXAT", true, true, true},
    {"PERSIST", false}, {"KEEPTTL", false}};

const Option* option_named(std::string_view word) {
  const auto* const option = std::find_if(std::begin(options), std::end(options),
                                          [word](const Option& one) { return is_word(word, one.word); });
  return option == std::end(options) ? nullptr : option;
}

}  // namespace

bool expiry_of(const Scope& scope, const ExpiryTime& time, uint64_t& expires_s) {
  const int64_t number_max = time.is_in_ms ? seconds_max * ms_per_s : seconds_max;
  if (time.number > number_max || (time.number < -number_max && !time.is_in_ms)) {
    return false;
  }
  const int64_t bounded = std::max(time.number, -number_max);
  const int64_t ms = time.is_in_ms ? bounded : bounded * ms_per_s;
  const auto now_ms = static_cast<int64_t>((scope.now_us() + 999) / 1000);
  const int64_t at_ms = time.is_absolute ? ms : now_ms + ms;
  const bool is_over =
      time.is_absolute ? at_ms <= static_cast<int64_t>(scope.now_us() / 1000) : time.number <= 0;
  expires_s = is_over ? 1 : static_cast<uint64_t>((at_ms + ms_per_s - 1) / ms_per_s);
  return true;
}

bool ExpiryOptions::take(Arguments arguments, size_t& at) {
  const Option* const found = option_named(arguments[at]);
  if (found == nullptr || (is_given() && option != found->word) ||
      (found->has_number && at + 1 == arguments.size())) {
    return false;
  }
  option = found->word;
  if (found->has_number) {
    number_ = arguments[++at];
  }
  return true;
}

bool ExpiryOptions::read_time(const Scope& scope, Arguments arguments, Plan& plan) {
  const Option* const found = option_named(option);
  if (found == nullptr || !found->has_number) {
    return true;
  }
  ExpiryTime time{.is_in_ms = found->is_in_ms, .is_absolute = found->is_absolute};
  if (!parse_integer(number_, time.number)) {
    plan.refuse(not_an_integer);
    return false;
  }
  if (time.number <= 0 || !expiry_of(scope, time, expires_s)) {
    plan.refuse(invalid_time(scope, arguments[0]));
    return false;
  }
  return true;
}

// ---- EXPIRE and its kin

namespace {

/// What the row's expiry must be, so that it is changed.
struct Conditions {
  bool is_unset = false;  ///< NX
  bool is_set = false;    ///< XX
  bool grows = false;     ///< GT: to a later time, of which none is the latest
  bool shrinks = false;   ///< LT

  /// False if the word is none.
  [[nodiscard]] bool take(std::string_view word) {
    bool* const place = is_word(word, "NX")   ? &is_unset
                        : is_word(word, "XX") ? &is_set
                        : is_word(word, "GT") ? &grows
                        : is_word(word, "LT") ? &shrinks
                                              : nullptr;
    if (place != nullptr) {
      *place = true;
    }
    return place != nullptr;
  }
};

/// False: the plan refuses the command.
bool take_conditions(const Scope& scope, Arguments words, Conditions& conditions, Plan& plan) {
  for (const std::string_view word : words) {
    if (!conditions.take(word)) {
      const std::string_view parts[] = {"-ERR Unsupported option ", word.substr(0, 64)};
      const bool is_plain = std::all_of(word.begin(), word.end(), [](char byte) { return byte > ' '; });
      plan.refuse(is_plain ? joined(scope, parts, {}) : syntax_error);
      return false;
    }
  }
  if (conditions.is_unset && (conditions.is_set || conditions.grows || conditions.shrinks)) {
    plan.refuse("-ERR NX and XX, GT or LT options at the same time are not compatible");
    return false;
  }
  if (conditions.grows && conditions.shrinks) {
    plan.refuse("-ERR GT and LT options at the same time are not compatible");
    return false;
  }
  return true;
}

/// Rows whose expiry passes the condition, besides those that pass already.
bool add_conditions(const Scope& scope, const Container& container, const Conditions& conditions,
                    const Value& expiry, Find& find) {
  const auto filters = scope.arena().array<Filter>(5);
  if (filters.empty()) {
    return false;
  }
  size_t count = 0;
  for (const Filter& filter : find.filters) {
    filters[count++] = filter;
  }
  const auto add = [&](Comparison comparison, const Value& value) {
    filters[count++] = {.mismatch = Mismatch::skip,
                        .comparison = comparison,
                        .filter_column = container.expiry_filter,
                        .value = value};
  };
  if (conditions.is_unset) {
    add(Comparison::greater_or_unset, Value("9223372036854775807"));
  }
  if (conditions.is_set || conditions.grows) {
    add(Comparison::not_equal, Value("0"));
    add(Comparison::not_equal, Value());
  }
  if (conditions.grows) {
    add(Comparison::less, expiry);
  }
  if (conditions.shrinks) {
    add(Comparison::greater_or_unset, expiry);
  }
  find.filters = filters.first(count);
  return true;
}

void plan_new_expiry(const Scope& scope, const Key& key, const Conditions& conditions, uint64_t expires_s,
                     Plan& plan) {
  const Container& container = *key.container();
  const Value expiry = number_value(scope, static_cast<int64_t>(expires_s));
  Find* const find = find_in_container(scope, container, container.row, key.parts);
  const auto assignments = scope.arena().array<Assignment>(1);
  if (find == nullptr || assignments.empty() || expiry.is_null() ||
      !add_conditions(scope, container, conditions, expiry, *find)) {
    plan.add(nullptr);
    return;
  }
  assignments[0] = {.column = container.expiry_at, .value = expiry};
  find->change = {.kind = Change::Kind::assign, .assignments = assignments};
  find->tell = Tell::count;
  plan.add(with_reply<OutcomeReply>(
      scope, find, &container,
      OutcomeReply::Lines{.changed = ":1", .refused = ":0", .missed = ":0", .inserted = ":1"}));
}

void plan_expire_as(const Scope& scope, Arguments arguments, ExpiryTime time, Plan& plan) {
  Conditions conditions;
  if (!take_conditions(scope, arguments.subspan(3), conditions, plan)) {
    return;
  }
  if (!parse_integer(arguments[2], time.number)) {
    plan.refuse(not_an_integer);
    return;
  }
  Key key;
  if (!take_key(scope, arguments[1], Wanted::container, key, plan)) {
    return;
  }
  uint64_t expires_s = 0;
  if (!expiry_of(scope, time, expires_s)) {
    plan.refuse(invalid_time(scope, arguments[0]));
  } else if (!key.container()->has_expiry) {
    plan.refuse(no_expiry);
  } else {
    plan_new_expiry(scope, key, conditions, expires_s, plan);
  }
}

/// `since_us`: what is subtracted of the time at which the row expires.
void plan_time_left(const Scope& scope, Arguments arguments, uint64_t since_us, uint32_t per_second,
                    Plan& plan) {
  Key key;
  if (!take_key(scope, arguments[1], Wanted::container, key, plan)) {
    return;
  }
  const Container& container = *key.container();
  const SelectionNames& names = container.has_expiry ? container.expiry : container.contents;
  Find* const find = with_reply<ExpiryReply>(scope, find_in_container(scope, container, names, key.parts),
                                             &container, since_us, per_second);
  if (find != nullptr && !container.has_expiry) {
    find->tell = Tell::count;
  }
  plan.add(find);
}

}  // namespace

void plan_expire(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_expire_as(scope, arguments, {}, plan);
}
void plan_pexpire(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_expire_as(scope, arguments, {.is_in_ms = true}, plan);
}
void plan_expireat(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_expire_as(scope, arguments, {.is_absolute = true}, plan);
}
void plan_pexpireat(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_expire_as(scope, arguments, {.is_in_ms = true, .is_absolute = true}, plan);
}
void plan_ttl(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_time_left(scope, arguments, scope.now_us(), 1, plan);
}
void plan_pttl(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_time_left(scope, arguments, scope.now_us(), 1000, plan);
}
void plan_expiretime(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_time_left(scope, arguments, 0, 1, plan);
}
void plan_pexpiretime(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_time_left(scope, arguments, 0, 1000, plan);
}

void plan_persist(const Scope& scope, Arguments arguments, Plan& plan) {
  Key key;
  if (!take_key(scope, arguments[1], Wanted::container, key, plan)) {
    return;
  }
  if (!key.container()->has_expiry) {
    plan.refuse(no_expiry);
    return;
  }
  plan_new_expiry(scope, key, {.is_set = true}, 0, plan);
}

}  // namespace rowsocket::wire::resp
