// SPDX-License-Identifier: GPL-2.0-only
//
// set, add, replace, append, prepend, cas: a line, and a value of as many bytes as the line says.
#include <algorithm>

#include "base/limits.h"
#include "wire/memcached/parse_parts.h"

namespace rowsocket::wire::memcached {
namespace {

constexpr std::string_view behind_value = "\r\n";

/// A set of a user and a password. The secret of the port may stand in the place of the password, where the
/// port has one: then the user is not looked at.
Request* parse_authentication(const Scope& scope, std::string_view value) {
  Words words(value);
  const std::string_view user = words.next();
  if (words.at_end()) {
    return for_readers(refuse(scope, "CLIENT_ERROR bad authentication token format"), false);
  }
  auto* const authenticate = make_request<Authenticate, AuthenticatedReply>(scope, scope.state);
  if (authenticate != nullptr) {
    authenticate->method = Authenticate::Method::secret_or_account;
    authenticate->user = Value(user);
    authenticate->password = Value(words.next());
  }
  return authenticate;
}

bool must_authenticate(const Scope& scope) {
  const Settings& settings = scope.parsing.settings;
  const bool has_secret = !settings.secret_read.empty() || !settings.secret_write.empty();
  return !scope.state.is_authenticated && (has_secret || settings.needs_account);
}

/// The filters of an insert that may only take the place of a row which has expired.
bool set_expired_filters(const Scope& scope, const Container& container, Insert& insert) {
  const Value now = number_value(scope, scope.now_s());
  insert.duplicate_filters = expired(scope.arena(), container, now);
  return !now.is_null() && !insert.duplicate_filters.empty();
}

Request* make_store(const Scope& scope, const Key& key, const StoreLine& line, std::string_view value) {
  const Container& container = *key.container;
  if (line.store == Store::set || line.store == Store::add) {
    Insert* const insert = make_insert(scope, key, line, value);
    if (insert == nullptr) {
      return nullptr;
    }
    insert->reply = scope.arena().make<StoredReply>(scope.out(), container, line.is_silent,
                                                    line.store == Store::add, scope.state);
    return insert->reply == nullptr ? nullptr : insert;
  }
  const bool compares = line.store == Store::cas;
  Find* const find = make_store_find(scope, key, line, value, {.has_cas = compares, .cas = line.cas},
                                     places_in_row(container));
  if (find == nullptr) {
    return nullptr;
  }
  const FoundReply::Lines lines{.found = "STORED",
                                .missed = compares ? "NOT_FOUND" : "NOT_STORED",
                                .refused = "EXISTS",
                                .counts_found = compares ? Count::cas_hits : Count::cmd_set,
                                .counts_missed = compares ? Count::cas_misses : Count::cmd_set,
                                .counts_refused = Count::cas_badval};
  find->reply = scope.arena().make<FoundReply>(scope.out(), container, line.is_silent, lines, scope.state);
  return find->reply == nullptr ? nullptr : find;
}

}  // namespace

bool take_value(const Scope& scope, size_t value_bytes, bool is_silent, Input& input, Parsed& parsed) {
  const size_t whole_bytes = input.line_bytes + value_bytes + behind_value.size();
  const bool is_line_too_long = input.line_bytes > limits::memcached_store_line_bytes_max;
  if (is_line_too_long || whole_bytes > scope.parsing.settings.line_bytes_max) {
    parsed = parsed_request(refuse_value(scope, is_line_too_long ? bad_format : too_large, is_silent,
                                         value_bytes + behind_value.size()),
                            input.line_bytes);
    return false;
  }
  if (input.bytes.size() < whole_bytes) {
    parsed = {.status = Parsed::Status::need_more};
    return false;
  }
  if (input.bytes.substr(input.line_bytes + value_bytes, behind_value.size()) != behind_value) {
    parsed = parsed_request(refuse(scope, "CLIENT_ERROR bad data chunk", is_silent), whole_bytes);
    return false;
  }
  input.value = input.bytes.substr(input.line_bytes, value_bytes);
  return true;
}

Insert* make_insert(const Scope& scope, const Key& key, const StoreLine& line, std::string_view value) {
  const Container& container = *key.container;
  const bool writes_cas = container.writes_cas();
  const size_t key_parts = container.key_part_count;
  const size_t further =
      (container.has_flags ? 1U : 0U) + (writes_cas ? 1U : 0U) + (container.has_expiry ? 1U : 0U);
  const size_t changed_count = container.value_count + further;
  auto* const insert = scope.arena().make<Insert>();
  const auto values = scope.arena().array<Value>(key_parts + changed_count);
  if (insert == nullptr || values.empty()) {
    return nullptr;
  }
  split_key(key.rest, values.first(key_parts));
  split_value(value, values.subspan(key_parts, container.value_count));
  size_t at = key_parts + container.value_count;
  if (container.has_flags) {
    values[at++] = number_value(scope, line.flags);
  }
  if (writes_cas) {
    values[at++] = new_cas(scope, line.new_cas);
  }
  if (container.has_expiry) {
    values[at++] = number_value(scope, line.expiry);
  }
  if (std::any_of(values.end() - static_cast<ptrdiff_t>(further), values.end(),
                  [](const Value& number) { return number.is_null(); })) {
    return nullptr;
  }
  insert->selection.names = &container.whole;
  insert->names_row = true;
  insert->values = values;
  if (line.store == Store::add && !container.has_expiry) {
    insert->on_duplicate = OnDuplicate::keep;
    return insert;
  }
  const auto changes = scope.arena().array<DuplicateChange>(changed_count);
  if (changes.empty() || (line.store == Store::add && !set_expired_filters(scope, container, *insert))) {
    return nullptr;
  }
  for (size_t number = 0; number < changed_count; ++number) {
    changes[number] = {.position = static_cast<uint32_t>(key_parts + number)};
  }
  insert->on_duplicate = OnDuplicate::change;
  insert->duplicate_changes = changes;
  return insert;
}

Find* make_store_find(const Scope& scope, const Key& key, const StoreLine& line, std::string_view value,
                      const Conditions& conditions, const RowPlaces& places) {
  const Container& container = *key.container;
  Find* const find = find_row(scope, key, places.names, conditions);
  Assignments assignments(scope, size_t{container.value_count} + 3);
  if (find == nullptr || !assignments.ok()) {
    return nullptr;
  }
  if (line.store == Store::append) {
    assignments.add(places.values_at + container.value_count - 1, Operation::append, Value(value));
  } else if (line.store == Store::prepend) {
    assignments.add(places.values_at, Operation::prepend, Value(value));
  } else {
    const auto parts = scope.arena().array<Value>(container.value_count);
    if (parts.empty()) {
      return nullptr;
    }
    split_value(value, parts);
    for (uint32_t part = 0; part < container.value_count; ++part) {
      assignments.add(places.values_at + part, Operation::set, parts[part]);
    }
    if (container.has_flags) {
      assignments.set_number(places.flags_at, number_value(scope, line.flags));
    }
    if (container.has_expiry && line.store != Store::empty) {
      assignments.set_number(places.expiry_at, number_value(scope, line.expiry));
    }
  }
  if (container.writes_cas()) {
    assignments.set_number(places.cas_at, new_cas(scope, line.new_cas));
  }
  find->change = {.kind = Change::Kind::assign, .assignments = assignments.all()};
  find->tell = Tell::count;
  return assignments.ok() ? find : nullptr;
}

Parsed parse_store(const Scope& scope, Store store, Words words, const Input& command) {
  const size_t least = store == Store::cas ? 5 : 4;
  const size_t word_count = words.count_left();
  if (word_count < least || word_count > least + 1) {
    return parsed_request(refuse(scope, "ERROR"), command.line_bytes);
  }
  StoreLine line{.store = store, .key = words.next(), .is_silent = words.end_with_noreply()};
  int64_t exptime = 0;
  uint64_t value_bytes = 0;
  bool is_right = parse_number(words.next(), line.flags);
  is_right = parse_number(words.next(), exptime) && is_right;
  const bool has_size =
      parse_number(words.next(), value_bytes) && value_bytes <= limits::memcached_value_bytes_max;
  is_right = is_right && has_size && line.key.size() <= limits::memcached_key_bytes_max &&
             (store != Store::cas || parse_number(words.next(), line.cas));
  line.expiry = expiry_of(scope, exptime);
  if (!is_right) {
    // What was sent as a value is never taken for commands.
    return parsed_request(
        has_size ? refuse_value(scope, bad_format, line.is_silent, value_bytes + behind_value.size())
                 : refuse(scope, bad_format, line.is_silent),
        command.line_bytes);
  }
  Input input = command;
  Parsed parsed{};
  if (!take_value(scope, value_bytes, line.is_silent, input, parsed)) {
    return parsed;
  }
  const size_t whole_bytes = input.line_bytes + value_bytes + behind_value.size();
  if (must_authenticate(scope) && store == Store::set) {
    return parsed_request(parse_authentication(scope, input.value), whole_bytes);
  }
  Key key;
  Request* refusal = nullptr;
  if (!find_container(scope, line.key, line.is_silent, key, refusal)) {
    return parsed_request(refusal, whole_bytes);
  }
  if (store == Store::cas && !key.container->has_cas) {
    return parsed_request(refuse(scope, no_cas, line.is_silent), whole_bytes);
  }
  return parsed_request(make_store(scope, key, line, input.value), whole_bytes);
}

}  // namespace rowsocket::wire::memcached
