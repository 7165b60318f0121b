// SPDX-License-Identifier: GPL-2.0-only
//
// What commands are made of. resp.cc finds where a command ends, commands.cc which one it is; the other files
// make requests of its arguments.
//
// A command that is wrong is still a request: its reply says what is wrong. nullptr means everywhere that
// memory is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "request/containers.h"
#include "request/making.h"
#include "request/protocol.h"
#include "wire/resp/arguments.h"
#include "wire/resp/reply.h"
#include "wire/resp/state.h"

namespace rowsocket::wire::resp {

inline constexpr std::string_view syntax_error = "-ERR syntax error";
inline constexpr std::string_view not_an_integer = "-ERR value is not an integer or out of range";
inline constexpr std::string_view too_many_columns = "-ERR no table has so many columns";
inline constexpr std::string_view no_expiry = "-ERR the container has no column for an expiry time";

/// What the parse of one command may use.
struct Scope {
  const Parsing& parsing;
  State& state;

  [[nodiscard]] Arena& arena() const { return parsing.arena; }
  [[nodiscard]] Buffer& out() const { return parsing.out; }
  [[nodiscard]] uint64_t now_us() const { return parsing.unix_time_us; }
  [[nodiscard]] uint64_t now_s() const { return parsing.unix_time_us / 1'000'000; }
  [[nodiscard]] uint32_t version() const { return state.version; }
};

/// The requests that a command comes to: mostly one, else some that are a group.
class Plan {
 public:
  explicit Plan(const Scope& scope) : scope_(scope) {}

  /// Every client is told why it is refused from now on; else only clients that may read are.
  void be_for_strangers() { for_strangers_ = true; }
  void add(Request* request);
  /// Of an error, or of what is asked of no table. Nothing else is done.
  void answer(std::string_view line);
  void refuse(std::string_view line);
  /// What changes or tells the connection alone.
  void stand_alone(Request* request);
  /// Instead of all that was added.
  void refuse_with(Request* request);

  /// A transaction that this command is one of fails if a change in it changes no row.
  void demand_changes() { demands_changes_ = true; }
  [[nodiscard]] bool demands_changes() const { return demands_changes_; }

  /// Not to be executed together with others: it was refused, or it asks no table.
  [[nodiscard]] bool stands_alone() const { return stands_alone_; }
  [[nodiscard]] bool is_refused() const { return is_refused_; }
  [[nodiscard]] std::span<Request* const> requests() const { return requests_.first(count_); }
  /// All of them as one request. nullptr where memory is refused.
  [[nodiscard]] Request* whole() const;
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  const Scope& scope_;
  std::span<Request*> requests_ = {};
  size_t count_ = 0;
  bool for_strangers_ = false;
  bool stands_alone_ = false;
  bool is_refused_ = false;
  bool demands_changes_ = false;
  bool failed_ = false;  ///< memory was refused
};

// ---- requests and replies

template <typename Kind, typename KindOfReply, typename... Arguments>
Kind* make_request(const Scope& scope, Arguments&&... of_the_reply) {
  return rowsocket::make_request<Kind, KindOfReply>(scope.parsing, std::forward<Arguments>(of_the_reply)...);
}
/// Of a request that is done as soon as it is executed, if its client may read. `changes_state`: its reply
/// changes the state.
template <typename KindOfReply, typename... Arguments>
Request* make_answer(const Scope& scope, bool changes_state, Arguments&&... of_the_reply) {
  Request* const request =
      make_request<Request, KindOfReply>(scope, std::forward<Arguments>(of_the_reply)...);
  if (request != nullptr) {
    request->kind = RequestKind::nothing;
    request->changes_state = changes_state;
    request->for_readers = true;
  }
  return request;
}
/// The same, whoever asks.
[[nodiscard]] inline Request* for_strangers(Request* answer) {
  if (answer != nullptr) {
    answer->for_readers = false;
  }
  return answer;
}
/// Give the request its reply; nullptr where either is not there.
template <typename KindOfReply, typename Kind, typename... Arguments>
Kind* with_reply(const Scope& scope, Kind* request, Arguments&&... of_the_reply) {
  if (request == nullptr) {
    return nullptr;
  }
  request->reply = scope.arena().make<KindOfReply>(scope.out(), std::forward<Arguments>(of_the_reply)...);
  return request->reply == nullptr ? nullptr : request;
}

/// Text and numbers that live as long as the request; empty, and NULL, where memory is refused.
[[nodiscard]] std::string_view joined(const Scope& scope, std::span<const std::string_view> parts,
                                      std::string_view between);
[[nodiscard]] Value number_value(const Scope& scope, int64_t number);

// ---- arguments

[[nodiscard]] constexpr char to_capital(char byte) {
  return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}
/// A copy in the arena; empty where memory is refused.
[[nodiscard]] std::string_view in_small_letters(const Scope& scope, std::string_view text);
/// Without regard to case; `wanted` is in capitals.
[[nodiscard]] bool is_word(std::string_view argument, std::string_view wanted);
/// Names of columns are equal but for case.
[[nodiscard]] bool is_same_column(std::string_view one, std::string_view other);
/// An order of names in which those of one column stand side by side.
[[nodiscard]] bool is_less_but_for_case(std::string_view one, std::string_view other);
/// The whole argument is a decimal number as Redis takes it: no space, no `+`, no leading zero.
[[nodiscard]] bool parse_integer(std::string_view argument, int64_t& number);

// ---- keys

/// Which row a key is of: one of a container, or one that it names in full.
struct Key {
  ContainerKey in_container = {};         ///< where `container` is there, the row is one of it
  const SelectionNames* names = nullptr;  ///< else the row's table and index, without columns
  std::span<const Value> parts = {};      ///< of the index

  [[nodiscard]] const Container* container() const { return in_container.container; }
};
inline constexpr char part_separator = ':';  ///< between the values of a row's key
inline constexpr char part_escape = '\\';    ///< before one of these two in a value

/// Where a key names a row in full, `names_end` is the separator before its values.
[[nodiscard]] bool names_row(const State& state, std::string_view text, size_t& names_end);
/// The container of a key that names no row in full; the key's values are not looked at. False: the plan
/// refuses the command.
[[nodiscard]] bool take_container_of_key(const Scope& scope, std::string_view text, Key& key, Plan& plan);
enum class Wanted : uint8_t { container, row, either };
/// False: the plan refuses the command.
[[nodiscard]] bool take_key(const Scope& scope, std::string_view text, Wanted wanted, Key& key, Plan& plan);
/// `database.table@index`, of which only the table must be there. False: the plan refuses the command.
[[nodiscard]] bool take_table(const Scope& scope, std::string_view text, SelectionNames& names, Plan& plan);

// ---- rows of containers

/// A find of the row of one key, where it has not expired. The reply is still to be made.
[[nodiscard]] Find* find_in_container(const Scope& scope, const Container& container,
                                      const SelectionNames& names, std::span<const Value> parts);
/// The find, which is of the first of these keys, becomes one of all of them. They are alike. False where
/// memory is refused.
[[nodiscard]] bool ask_for_all(const Scope& scope, std::span<const Key> keys, Find& find);
/// A filter that passes rows which have not expired. Empty where memory is refused.
[[nodiscard]] std::span<const Filter> unexpired(const Scope& scope, const Container& container);
/// Filters that pass rows which have expired. Empty where memory is refused.
[[nodiscard]] std::span<const Filter> expired(const Scope& scope, const Container& container);
/// Where the value lies in a row of a selection of so many columns. False where memory is refused.
[[nodiscard]] bool make_layout(const Scope& scope, const Container& container, uint32_t first,
                               size_t column_count, Layout& layout, PerColumn& per_column);
[[nodiscard]] size_t column_count_of(std::string_view comma_separated);

// ---- rows by their names

/// Names with columns, in the arena. nullptr where memory is refused.
[[nodiscard]] SelectionNames* names_of(const Scope& scope, const Key& key, std::string_view columns);
/// A find of the row of one key. The reply is still to be made.
[[nodiscard]] Find* find_by_names(const Scope& scope, const SelectionNames* names,
                                  std::span<const Value> parts);
/// The names of columns can stand in a list. False: the plan refuses the command.
[[nodiscard]] bool take_columns(const Scope& scope, std::span<const std::string_view> columns,
                                std::string_view& list, Plan& plan);

}  // namespace rowsocket::wire::resp
