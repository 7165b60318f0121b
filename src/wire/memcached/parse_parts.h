// SPDX-License-Identifier: GPL-2.0-only
//
// What the parser is made of. memcached.cc finds where a request ends, and which command it is; parse_get.cc,
// parse_store.cc, parse_change.cc and parse_meta.cc read the rest of each kind.
//
// A request that is wrong is still a request: it takes its bytes, and its reply says what is wrong. nullptr
// means everywhere that memory is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "request/containers.h"
#include "request/making.h"
#include "request/protocol.h"
#include "wire/memcached/reply.h"
#include "wire/memcached/state.h"
#include "wire/memcached/words.h"

namespace rowsocket::wire::memcached {

inline constexpr std::string_view bad_format = "CLIENT_ERROR bad command line format";
inline constexpr std::string_view no_cas = "CLIENT_ERROR the container has no cas column to compare with";
inline constexpr std::string_view too_large = "SERVER_ERROR object too large for cache";

/// What the parse of one request may use.
struct Scope {
  const Parsing& parsing;
  State& state;

  [[nodiscard]] Arena& arena() const { return parsing.arena; }
  [[nodiscard]] Buffer& out() const { return parsing.out; }
  [[nodiscard]] uint64_t now_s() const { return parsing.unix_time_us / 1'000'000; }
};

/// The bytes of a request: its line without the line end, and where its value begins.
struct Input {
  std::string_view bytes;       ///< all that there are
  std::string_view line;        ///< of the request
  size_t line_bytes = 0;        ///< with its line end
  std::string_view value = {};  ///< of a command that has one
};

// ---- requests and replies

template <typename KindOfRequest, typename KindOfReply, typename... Arguments>
KindOfRequest* make_request(const Scope& scope, Arguments&&... of_the_reply) {
  return rowsocket::make_request<KindOfRequest, KindOfReply>(scope.parsing,
                                                             std::forward<Arguments>(of_the_reply)...);
}

/// Answered with one line, whoever asks, and nothing is done. `line` lives as long as the request.
[[nodiscard]] Request* answer(const Scope& scope, std::string_view line, bool is_silent = false);
/// The same, of what is wrong. All but `ERROR` is for clients that may read.
[[nodiscard]] Request* refuse(const Scope& scope, std::string_view line, bool is_silent = false);
/// The same, and so many bytes behind the line are skipped.
[[nodiscard]] Request* refuse_value(const Scope& scope, std::string_view line, bool is_silent,
                                    uint64_t skip_bytes);
/// The same answer, for clients that may read, or for all.
[[nodiscard]] inline Request* for_readers(Request* answer, bool only_for_them = true) {
  if (answer != nullptr) {
    answer->for_readers = only_for_them;
  }
  return answer;
}

// ---- keys

struct Key {
  std::string_view wire = {};  ///< as the client sent it, and is sent it back
  const Container* container = nullptr;
  std::string_view rest = {};  ///< behind the container's name
};

/// Which container a key is of. False: `refusal` answers what is wrong (nullptr: memory).
[[nodiscard]] bool take_container(const Scope& scope, std::string_view wire, bool is_silent, Key& key,
                                  Request*& refusal);
/// The same, and the key has parts for all of the container's key columns.
[[nodiscard]] bool find_container(const Scope& scope, std::string_view wire, bool is_silent, Key& key,
                                  Request*& refusal);

// ---- values

/// A number as text that lives as long as the request; `data` is nullptr where memory is refused.
[[nodiscard]] Value number_value(const Scope& scope, uint64_t number);
/// Of the version of a row that the request writes: the one that the client gave, or else a new one.
[[nodiscard]] inline Value new_cas(const Scope& scope, const std::optional<uint64_t>& given) {
  return number_value(scope, given.has_value()                  ? *given
                             : scope.parsing.numbers == nullptr ? 1
                                                                : scope.parsing.numbers->next());
}
/// When a row expires: as it is stored. 0 = never.
[[nodiscard]] uint64_t expiry_of(const Scope& scope, int64_t exptime);

// ---- finds

/// Which rows of a container's selection count as there.
struct Conditions {
  bool unexpired = true;
  bool has_cas = false;  ///< a row of another version is refused
  uint64_t cas = 0;
};

/// A find of the row of one key, with its reply still to be made. nullptr where memory is refused.
[[nodiscard]] Find* find_row(const Scope& scope, const Key& key, const SelectionNames& names,
                             const Conditions& conditions);
/// The conditions of a find that has its keys.
[[nodiscard]] bool set_conditions(const Scope& scope, const Container& container,
                                  const Conditions& conditions, Find& find);
/// A selection of a container's rows, and where its columns stand in it.
struct RowPlaces {
  const SelectionNames& names;
  uint32_t values_at;
  uint32_t flags_at;
  uint32_t cas_at;
  uint32_t expiry_at;
};
/// Of `values`: what is there is told.
[[nodiscard]] RowPlaces places_in_values(const Container& container);
/// Of `row`: what is there is changed.
[[nodiscard]] RowPlaces places_in_row(const Container& container);
/// Of `whole`: what is there is changed, or else a row is inserted.
[[nodiscard]] RowPlaces places_in_whole(const Container& container);
/// The same for a reply that is told the rows of such a selection. False where memory is refused.
[[nodiscard]] bool make_layout(const Scope& scope, const Container& container, const RowPlaces& places,
                               RowLayout& layout, PerColumn& per_column);

/// What is assigned to a row's columns, one after the other.
class Assignments {
 public:
  /// Room for so many; empty where memory is refused.
  Assignments(const Scope& scope, size_t count_max) : room_(scope.arena().array<Assignment>(count_max)) {}
  [[nodiscard]] bool ok() const { return ok_ && !room_.empty(); }
  void add(uint32_t column, Operation operation, const Value& value) {
    ok_ = ok_ && count_ < room_.size();
    if (ok_) {
      room_[count_++] = {.column = column, .operation = operation, .value = value};
    }
  }
  /// A value that memory was refused for must not become NULL.
  void set_number(uint32_t column, const Value& value) {
    ok_ = ok_ && !value.is_null();
    add(column, Operation::set, value);
  }
  [[nodiscard]] std::span<const Assignment> all() const { return room_.first(count_); }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  std::span<Assignment> room_;
  size_t count_ = 0;
  bool ok_ = true;
};

// ---- the kinds of requests

/// get, gets; with `exptime` gat, gats. `words` stand at the first key.
[[nodiscard]] Request* parse_get(const Scope& scope, Words words, bool tells_cas);
[[nodiscard]] Request* parse_get_and_touch(const Scope& scope, Words words, bool tells_cas);

enum class Store : uint8_t {
  set,
  add,
  replace,
  append,
  prepend,
  cas,
  empty  ///< the value goes, and the row stays, with its expiry
};
/// What a storage command's line says.
struct StoreLine {
  Store store = Store::set;
  std::string_view key = {};
  uint32_t flags = 0;
  uint64_t expiry = 0;
  uint64_t cas = 0;
  std::optional<uint64_t> new_cas = {};  ///< that the client gives the row
  bool is_silent = false;
};
[[nodiscard]] Parsed parse_store(const Scope& scope, Store store, Words words, const Input& input);
/// An insert that changes the row that is there: set, add. The reply is still to be made.
[[nodiscard]] Insert* make_insert(const Scope& scope, const Key& key, const StoreLine& line,
                                  std::string_view value);
/// A find that changes the row that is there: all the others. The reply is still to be made.
[[nodiscard]] Find* make_store_find(const Scope& scope, const Key& key, const StoreLine& line,
                                    std::string_view value, const Conditions& conditions,
                                    const RowPlaces& places);

[[nodiscard]] Request* parse_delete(const Scope& scope, Words words);
[[nodiscard]] Request* parse_touch(const Scope& scope, Words words);
[[nodiscard]] Request* parse_count(const Scope& scope, Words words, bool subtracts);
/// Count one up or down.
struct CountLine {
  uint64_t amount = 1;
  bool subtracts = false;
  std::optional<uint64_t> new_cas = {};
  std::optional<uint64_t> new_expiry = {};
};
/// The reply is still to be made.
[[nodiscard]] Find* make_count_find(const Scope& scope, const Key& key, const CountLine& line,
                                    const Conditions& conditions, const RowPlaces& places);

/// flush_all: `words` stand behind it.
[[nodiscard]] Parsed parse_flush(const Scope& scope, Words words, const Input& input);

/// mg, ms, md, ma, me.
[[nodiscard]] Parsed parse_meta(const Scope& scope, std::string_view command, Words words,
                                const Input& input);

/// The whole value of a storage command is there: put it into `input`. Else `parsed` is what to return.
[[nodiscard]] bool take_value(const Scope& scope, size_t value_bytes, bool is_silent, Input& input,
                              Parsed& parsed);

}  // namespace rowsocket::wire::memcached
