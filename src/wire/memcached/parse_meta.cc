// SPDX-License-Identifier: GPL-2.0-only
//
// mg, ms, md, ma, me: one key, and flags of one letter, some with a token behind it. A flag that a table can
// not answer is refused by name: when a row was read last, or how often, stands in no table (h, l), and a row
// that is stale, or that a client has promised to write, is none of a table's (I, R; N of mg).
#include <algorithm>

#include "base/limits.h"
#include "wire/memcached/base64.h"
#include "wire/memcached/meta_line.h"
#include "wire/memcached/meta_reply.h"
#include "wire/memcached/parse_parts.h"

namespace rowsocket::wire::memcached {
namespace {

constexpr size_t value_end_bytes = 2;

/// The key, decoded, with its container. False: `refusal` answers what is wrong (nullptr: memory).
bool take_meta_key(const Scope& scope, const Meta& meta, Key& key, Request*& refusal) {
  std::string_view word = meta.wire_key;
  if (meta.is_base64) {
    char* const decoded = scope.arena().allocate(word.size());
    size_t size = 0;
    if (decoded == nullptr) {
      refusal = nullptr;
      return false;
    }
    if (!decode_base64(word, decoded, size)) {
      refusal =
          refuse(scope, meta.command == 'e' ? bad_format : as_told(meta, "CLIENT_ERROR error decoding key"));
      return false;
    }
    word = {decoded, size};
  }
  return find_container(scope, word, false, key, refusal);
}

/// What a done command, and one that misses, count as.
Count count_of_done(const Meta& meta, bool subtracts) {
  switch (meta.command) {
    case 'g':
      return Count::get_hits;
    case 's':
      return meta.has_cas ? Count::cas_hits : Count::cmd_set;
    case 'd':
      return Count::delete_hits;
    case 'a':
      return subtracts ? Count::decr_hits : Count::incr_hits;
    default:
      return Count::none;
  }
}
Count count_of_missed(const Meta& meta, bool subtracts) {
  switch (meta.command) {
    case 'g':
      return Count::get_misses;
    case 's':
      return meta.has_cas ? Count::cas_misses : Count::cmd_set;
    case 'd':
      return Count::delete_misses;
    case 'a':
      return subtracts ? Count::decr_misses : Count::incr_misses;
    default:
      return Count::none;
  }
}
/// What one counts as that finds a row which is not what it is to be.
Count count_of_refused(const Meta& meta) {
  if (meta.command != 's') {
    return Count::none;
  }
  return meta.has_cas ? Count::cas_badval : Count::cmd_set;
}

MetaAnswer answer_of(const Scope& scope, const Meta& meta, bool subtracts = false) {
  return {.key = meta.wire_key,
          .flags = meta.flags,
          .now_s = scope.now_s(),
          .tells_value = meta.tells_value,
          .is_base64 = meta.is_base64,
          .state = &scope.state,
          .counts_done = count_of_done(meta, subtracts),
          .counts_missed = count_of_missed(meta, subtracts),
          .counts_refused = count_of_refused(meta)};
}

/// A find gets its reply.
template <typename KindOfReply = MetaLineReply>
Find* with_reply(const Scope& scope, Find* find, const Container& container, const MetaAnswer& answer,
                 const RowPlaces& places) {
  RowLayout layout;
  PerColumn per_column;
  if (find == nullptr || !make_layout(scope, container, places, layout, per_column)) {
    return nullptr;
  }
  find->reply = scope.arena().make<KindOfReply>(scope.out(), container, answer, layout, per_column);
  return find->reply == nullptr ? nullptr : find;
}

Request* parse_meta_get(const Scope& scope, const Meta& meta, const Key& key) {
  const Container& container = *key.container;
  MetaAnswer answer = answer_of(scope, meta);
  answer.hides_missed = meta.is_quiet;
  Find* const find = find_row(scope, key, container.row, {});
  if (find != nullptr && meta.has_expiry && container.has_expiry) {
    Assignments assignments(scope, 1);
    assignments.set_number(container.expiry_at, number_value(scope, expiry_of(scope, meta.exptime)));
    if (!assignments.ok()) {
      return nullptr;
    }
    find->change = {.kind = Change::Kind::assign, .assignments = assignments.all()};
    find->tell = Tell::rows_after;
  }
  return with_reply(scope, find, container, answer, places_in_row(container));
}

/// Where the find finds no row, this one is inserted in the same step, and the find's reply tells it.
Request* or_insert(const Scope& scope, Find* find, const Key& key, const StoreLine& line,
                   std::string_view value, bool tells_row) {
  Insert* const insert = find == nullptr ? nullptr : make_insert(scope, key, line, value);
  if (insert == nullptr) {
    return nullptr;
  }
  insert->tells_rows = tells_row;
  insert->reply = find->reply;
  find->otherwise = insert;
  return find;
}

Request* parse_meta_debug(const Scope& scope, const Meta& meta, const Key& key) {
  return with_reply<MetaDebugReply>(scope, find_row(scope, key, key.container->row, {}), *key.container,
                                    answer_of(scope, meta), places_in_row(*key.container));
}

Request* parse_meta_delete(const Scope& scope, const Meta& meta, const Key& key) {
  const Container& container = *key.container;
  MetaAnswer answer = answer_of(scope, meta);
  answer.missed = "NF";
  answer.hides_done = meta.is_quiet;
  const Conditions conditions{.has_cas = meta.has_cas, .cas = meta.cas};
  const RowPlaces places = places_in_row(container);
  Find* find = nullptr;
  if (meta.keeps_row) {
    find =
        make_store_find(scope, key, {.store = Store::empty, .new_cas = meta.new_cas}, {}, conditions, places);
  } else if (find = find_row(scope, key, container.row, conditions); find != nullptr) {
    find->change.kind = Change::Kind::remove;
    find->tell = Tell::count;
  }
  return with_reply(scope, find, container, answer, places);
}

Request* parse_meta_count(const Scope& scope, const Meta& meta, const Key& key) {
  const bool subtracts = meta.mode == 'D' || meta.mode == 'd' || meta.mode == '-';
  const bool adds = meta.mode == 0 || meta.mode == 'I' || meta.mode == 'i' || meta.mode == '+';
  if (!subtracts && !adds) {
    return refuse(scope, "CLIENT_ERROR invalid mode for ma M token");
  }
  const Container& container = *key.container;
  const bool makes_missed = meta.makes_missed();
  MetaAnswer answer = answer_of(scope, meta, subtracts);
  answer.missed = "NF";
  answer.hides_done = meta.is_quiet;
  answer.makes_missed = makes_missed;
  CountLine line{.amount = meta.delta, .subtracts = subtracts, .new_cas = meta.new_cas};
  if (meta.has_expiry) {
    line.new_expiry = expiry_of(scope, meta.exptime);
  }
  const RowPlaces places = makes_missed ? places_in_whole(container) : places_in_row(container);
  Find* const find =
      with_reply(scope, make_count_find(scope, key, line, {.has_cas = meta.has_cas, .cas = meta.cas}, places),
                 container, answer, places);
  if (!makes_missed) {
    return find;
  }
  const Value initial = number_value(scope, meta.initial);
  const StoreLine made{.expiry = expiry_of(scope, *meta.made_exptime), .new_cas = meta.new_cas};
  return initial.is_null() ? nullptr : or_insert(scope, find, key, made, initial.view(), true);
}

// ---- ms

bool store_of_mode(const Meta& meta, Store& store) {
  switch (meta.mode) {
    case 0:
    case 'S':
    case 's':
      store = meta.has_cas ? Store::cas : Store::set;
      return true;
    case 'E':
    case 'e':
      store = Store::add;
      return !meta.has_cas;
    case 'A':
    case 'a':
      store = Store::append;
      return true;
    case 'P':
    case 'p':
      store = Store::prepend;
      return true;
    case 'R':
    case 'r':
      store = Store::replace;
      return true;
    default:
      return false;
  }
}

Request* make_meta_insert(const Scope& scope, const Meta& meta, const Key& key, const StoreLine& line,
                          std::string_view value) {
  const Container& container = *key.container;
  Insert* const insert = make_insert(scope, key, line, value);
  RowLayout layout;
  PerColumn per_column;
  if (insert == nullptr || !make_layout(scope, container, places_in_whole(container), layout, per_column)) {
    return nullptr;
  }
  MetaAnswer answer = answer_of(scope, meta);
  answer.hides_done = meta.is_quiet;
  answer.keeps = line.store == Store::add;
  insert->tells_rows = meta.asks('c');
  insert->reply = scope.arena().make<MetaLineReply>(scope.out(), container, answer, layout, per_column);
  return insert->reply == nullptr ? nullptr : insert;
}

Request* make_meta_store(const Scope& scope, const Meta& meta, const Key& key, std::string_view value) {
  StoreLine line{.flags = meta.client_flags,
                 .expiry = meta.has_expiry ? expiry_of(scope, meta.exptime) : 0,
                 .cas = meta.cas,
                 .new_cas = meta.new_cas};
  if (!store_of_mode(meta, line.store)) {
    return refuse(scope, "CLIENT_ERROR invalid mode for ms M token");
  }
  if (line.store == Store::add && meta.asks('c')) {
    return refuse(scope, "CLIENT_ERROR c is not told of an add");
  }
  if (line.store == Store::set || line.store == Store::add) {
    return make_meta_insert(scope, meta, key, line, value);
  }
  const Container& container = *key.container;
  const bool makes_missed =
      meta.makes_missed() && (line.store == Store::append || line.store == Store::prepend);
  MetaAnswer answer = answer_of(scope, meta);
  const bool compares_alone = line.store == Store::cas || (line.store == Store::replace && meta.has_cas);
  answer.missed = compares_alone ? "NF" : "NS";
  answer.hides_done = meta.is_quiet;
  answer.makes_missed = makes_missed;
  const RowPlaces places = makes_missed ? places_in_whole(container) : places_in_row(container);
  const Conditions conditions{.has_cas = meta.has_cas, .cas = meta.cas};
  Find* const find = with_reply(scope, make_store_find(scope, key, line, value, conditions, places),
                                container, answer, places);
  if (find != nullptr && meta.asks('c')) {
    find->tell = Tell::rows_after;
  }
  if (!makes_missed) {
    return find;
  }
  line.expiry = expiry_of(scope, *meta.made_exptime);
  return or_insert(scope, find, key, line, value, meta.asks('c'));
}

Request* parse_meta_key(const Scope& scope, const Meta& meta, const Input& input) {
  Key key;
  Request* refusal = nullptr;
  if (!take_meta_key(scope, meta, key, refusal)) {
    return refusal;
  }
  if (meta.has_cas && !key.container->has_cas) {
    return refuse(scope, no_cas);
  }
  if (meta.new_cas.has_value() && !key.container->writes_cas()) {
    return refuse(scope, "CLIENT_ERROR the container has no cas column that clients write");
  }
  switch (meta.command) {
    case 'g':
      return parse_meta_get(scope, meta, key);
    case 's':
      return make_meta_store(scope, meta, key, input.value);
    case 'd':
      return parse_meta_delete(scope, meta, key);
    case 'a':
      return parse_meta_count(scope, meta, key);
    default:
      return parse_meta_debug(scope, meta, key);
  }
}

/// What is wrong with the line; empty if nothing is.
std::string_view mistake_of(const Meta& meta) {
  if (meta.wire_key.empty()) {
    return meta.command == 'e' ? bad_format : "ERROR";
  }
  if (meta.wire_key.size() > limits::memcached_key_bytes_max) {
    return bad_format;
  }
  return meta.wrong;
}

Parsed parse_meta_set(const Scope& scope, Meta& meta, Words words, const Input& command) {
  uint64_t value_bytes = 0;
  const bool has_size =
      parse_number(words.next(), value_bytes) && value_bytes <= limits::memcached_value_bytes_max;
  if (!read_flags(scope, words, meta)) {
    return parsed_request(nullptr, command.line_bytes);
  }
  if (!has_size) {
    return parsed_request(refuse(scope, meta.wire_key.empty() ? "ERROR" : bad_format), command.line_bytes);
  }
  if (const std::string_view mistake = mistake_of(meta); !mistake.empty()) {
    return parsed_request(refuse_value(scope, mistake, false, value_bytes + value_end_bytes),
                          command.line_bytes);
  }
  Input input = command;
  Parsed parsed{};
  if (!take_value(scope, value_bytes, false, input, parsed)) {
    return parsed;
  }
  return parsed_request(parse_meta_key(scope, meta, input), input.line_bytes + value_bytes + value_end_bytes);
}

}  // namespace

Parsed parse_meta(const Scope& scope, std::string_view command, Words words, const Input& input) {
  constexpr std::string_view commands = "gsdae";
  if (commands.find(command[1]) == std::string_view::npos) {
    return parsed_request(refuse(scope, "ERROR"), input.line_bytes);
  }
  Meta meta{.command = command[1], .wire_key = words.next()};
  if (meta.command == 's') {
    return parse_meta_set(scope, meta, words, input);
  }
  if (!read_flags(scope, words, meta)) {
    return parsed_request(nullptr, input.line_bytes);
  }
  const std::string_view mistake = mistake_of(meta);
  return parsed_request(mistake.empty() ? parse_meta_key(scope, meta, input) : refuse(scope, mistake),
                        input.line_bytes);
}

}  // namespace rowsocket::wire::memcached
