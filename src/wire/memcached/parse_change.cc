// SPDX-License-Identifier: GPL-2.0-only
//
// delete, touch, incr, decr: one key, and no value.
#include "base/limits.h"
#include "wire/memcached/parse_parts.h"

namespace rowsocket::wire::memcached {
namespace {

/// The key of a command, with its container. False: `refusal` answers what is wrong (nullptr: memory).
bool take_key(const Scope& scope, std::string_view word, bool is_silent, Key& key, Request*& refusal) {
  if (word.size() > limits::memcached_key_bytes_max) {
    refusal = refuse(scope, bad_format, is_silent);
    return false;
  }
  return find_container(scope, word, is_silent, key, refusal);
}

Request* with_found_reply(const Scope& scope, Find* find, const Container& container, bool is_silent,
                          const FoundReply::Lines& lines) {
  if (find == nullptr) {
    return nullptr;
  }
  find->tell = Tell::count;
  find->reply = scope.arena().make<FoundReply>(scope.out(), container, is_silent, lines, scope.state);
  return find->reply == nullptr ? nullptr : find;
}

}  // namespace

Request* parse_delete(const Scope& scope, Words words) {
  const size_t word_count = words.count_left();
  if (word_count == 0 || word_count > 3) {
    return refuse(scope, "ERROR");
  }
  const std::string_view word = words.next();
  const bool is_silent = words.end_with_noreply();
  const bool is_zero = words.next() == "0";
  const bool is_right = word_count == 1 || (word_count == 2 && (is_zero || is_silent)) ||
                        (word_count == 3 && is_zero && is_silent);
  if (!is_right) {
    return refuse(scope, "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]", is_silent);
  }
  Key key;
  Request* refusal = nullptr;
  if (!take_key(scope, word, is_silent, key, refusal)) {
    return refusal;
  }
  Find* const find = find_row(scope, key, key.container->row, {});
  if (find != nullptr) {
    find->change.kind = Change::Kind::remove;
  }
  return with_found_reply(scope, find, *key.container, is_silent,
                          {.found = "DELETED",
                           .missed = "NOT_FOUND",
                           .counts_found = Count::delete_hits,
                           .counts_missed = Count::delete_misses});
}

namespace {

/// `<key> <number> [noreply]`
template <typename Number>
struct KeyAndNumber {
  Key key;
  Number number = 0;
  bool is_silent = false;

  /// False if it is none: `refusal` says so, with `complaint` about the number.
  [[nodiscard]] bool parse(const Scope& scope, Words& words, std::string_view complaint, Request*& refusal) {
    const size_t word_count = words.count_left();
    if (word_count < 2 || word_count > 3) {
      refusal = refuse(scope, "ERROR");
      return false;
    }
    const std::string_view word = words.next();
    is_silent = words.end_with_noreply();
    const bool is_right = parse_number(words.next(), number);
    if (!take_key(scope, word, is_silent, key, refusal)) {
      return false;
    }
    if (!is_right) {
      refusal = refuse(scope, complaint, is_silent);
    }
    return is_right;
  }
};

}  // namespace

Request* parse_touch(const Scope& scope, Words words) {
  KeyAndNumber<int64_t> asked;
  if (Request* refusal = nullptr;
      !asked.parse(scope, words, "CLIENT_ERROR invalid exptime argument", refusal)) {
    return refusal;
  }
  const auto& [key, exptime, is_silent] = asked;
  const Container& container = *key.container;
  Find* const find = find_row(scope, key, container.row, {});
  if (find != nullptr && container.has_expiry) {
    Assignments assignments(scope, 1);
    assignments.set_number(container.expiry_at, number_value(scope, expiry_of(scope, exptime)));
    if (!assignments.ok()) {
      return nullptr;
    }
    find->change = {.kind = Change::Kind::assign, .assignments = assignments.all()};
  }
  return with_found_reply(scope, find, container, is_silent,
                          {.found = "TOUCHED",
                           .missed = "NOT_FOUND",
                           .counts_found = Count::touch_hits,
                           .counts_missed = Count::touch_misses});
}

Find* make_count_find(const Scope& scope, const Key& key, const CountLine& line, const Conditions& conditions,
                      const RowPlaces& places) {
  const Container& container = *key.container;
  Find* const find = find_row(scope, key, places.names, conditions);
  Assignments assignments(scope, 3);
  const Value delta = number_value(scope, line.amount);
  if (find == nullptr || delta.is_null()) {
    return nullptr;
  }
  assignments.add(places.values_at, line.subtracts ? Operation::subtract_to_zero : Operation::add_wrapping,
                  delta);
  if (container.writes_cas()) {
    assignments.set_number(places.cas_at, new_cas(scope, line.new_cas));
  }
  if (container.has_expiry && line.new_expiry.has_value()) {
    assignments.set_number(places.expiry_at, number_value(scope, *line.new_expiry));
  }
  find->change = {.kind = Change::Kind::assign, .assignments = assignments.all(), .is_increment = true};
  find->tell = Tell::rows_after;
  return assignments.ok() ? find : nullptr;
}

Request* parse_count(const Scope& scope, Words words, bool subtracts) {
  KeyAndNumber<uint64_t> asked;
  if (Request* refusal = nullptr;
      !asked.parse(scope, words, "CLIENT_ERROR invalid numeric delta argument", refusal)) {
    return refusal;
  }
  const auto& [key, amount, is_silent] = asked;
  const RowPlaces places = places_in_row(*key.container);
  Find* const find = make_count_find(scope, key, {.amount = amount, .subtracts = subtracts}, {}, places);
  if (is_silent) {
    return with_found_reply(scope, find, *key.container, true,
                            {.found = {},
                             .missed = {},
                             .counts_found = subtracts ? Count::decr_hits : Count::incr_hits,
                             .counts_missed = subtracts ? Count::decr_misses : Count::incr_misses});
  }
  RowLayout layout;
  PerColumn per_column;
  if (find == nullptr || !make_layout(scope, *key.container, places, layout, per_column)) {
    return nullptr;
  }
  find->reply =
      scope.arena().make<CountReply>(scope.out(), *key.container, layout, per_column, subtracts, scope.state);
  return find->reply == nullptr ? nullptr : find;
}

}  // namespace rowsocket::wire::memcached
