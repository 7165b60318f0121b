// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/parts.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/limits.h"

namespace rowsocket::wire::resp {
// ---- plans

void Plan::add(Request* request) {
  if (request == nullptr) {
    failed_ = true;
    return;
  }
  if (count_ == requests_.size()) {
    const auto larger = scope_.arena().array<Request*>(std::max(size_t{2}, 2 * count_));
    if (larger.empty()) {
      failed_ = true;
      return;
    }
    std::copy_n(requests_.begin(), count_, larger.begin());
    requests_ = larger;
  }
  requests_[count_++] = request;
}

void Plan::answer(std::string_view line) { stand_alone(make_answer<LineReply>(scope_, false, line)); }

void Plan::stand_alone(Request* request) {
  stands_alone_ = true;
  count_ = 0;
  add(request);
}

void Plan::refuse(std::string_view line) {
  Request* const request = make_request<Request, LineReply>(scope_, line);
  if (request != nullptr) {
    request->mistake = ErrorCode::syntax;
  }
  refuse_with(request);
}

void Plan::refuse_with(Request* request) {
  is_refused_ = true;
  if (request != nullptr) {
    request->for_readers = !for_strangers_;
  }
  stand_alone(request);
}

Request* Plan::whole() const {
  if (failed_ || count_ == 0) {
    return nullptr;
  }
  if (count_ == 1) [[likely]] {
    return requests_[0];
  }
  auto* const group = make_request<Group, SeveralReply>(scope_, requests());
  if (group == nullptr) {
    return nullptr;
  }
  group->members = requests();
  if (count_ > limits::group_requests_max) {
    group->mistake = ErrorCode::too_many_values;
  }
  return group;
}

// ---- texts

std::string_view joined(const Scope& scope, std::span<const std::string_view> parts,
                        std::string_view between) {
  if (parts.size() == 1) {
    return parts[0];
  }
  size_t bytes = 1;
  for (const std::string_view part : parts) {
    bytes += part.size() + between.size();
  }
  char* const text = scope.arena().allocate(bytes);
  if (text == nullptr) {
    return {};
  }
  char* to = text;
  for (size_t number = 0; number < parts.size(); ++number) {
    to = number == 0 ? to : std::copy(between.begin(), between.end(), to);
    to = std::copy(parts[number].begin(), parts[number].end(), to);
  }
  return {text, static_cast<size_t>(to - text)};
}

Value number_value(const Scope& scope, int64_t number) {
  return rowsocket::number_value(scope.arena(), number);
}

std::string_view in_small_letters(const Scope& scope, std::string_view text) {
  char* const letters = scope.arena().allocate(text.size());
  if (letters == nullptr) {
    return {};
  }
  std::transform(text.begin(), text.end(), letters, [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte;
  });
  return {letters, text.size()};
}

bool is_word(std::string_view argument, std::string_view wanted) {
  return argument.size() == wanted.size() &&
         std::equal(argument.begin(), argument.end(), wanted.begin(),
                    [](char one, char other) { return to_capital(one) == other; });
}

bool is_same_column(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char left, char right) { return to_capital(left) == to_capital(right); });
}

bool is_less_but_for_case(std::string_view one, std::string_view other) {
  return std::lexicographical_compare(
      one.begin(), one.end(), other.begin(), other.end(),
      [](char left, char right) { return to_capital(left) < to_capital(right); });
}

bool parse_integer(std::string_view argument, int64_t& number) {
  const std::string_view digits = argument.starts_with('-') ? argument.substr(1) : argument;
  const bool has_leading_zero = digits.starts_with('0') && argument.size() > 1;
  const char* const end = argument.data() + argument.size();
  const auto parsed = std::from_chars(argument.data(), end, number);
  return !argument.empty() && !has_leading_zero && parsed.ec == std::errc() && parsed.ptr == end;
}

// ---- rows of containers

std::span<const Filter> unexpired(const Scope& scope, const Container& container) {
  const auto filters = scope.arena().array<Filter>(1);
  const Value now = number_value(scope, static_cast<int64_t>(scope.now_s()));
  if (filters.empty() || now.is_null()) {
    return {};
  }
  filters[0] = rowsocket::unexpired(container, now);
  return filters;
}

std::span<const Filter> expired(const Scope& scope, const Container& container) {
  const Value now = number_value(scope, static_cast<int64_t>(scope.now_s()));
  return now.is_null() ? std::span<const Filter>() : rowsocket::expired(scope.arena(), container, now);
}

Find* find_in_container(const Scope& scope, const Container& container, const SelectionNames& names,
                        std::span<const Value> parts) {
  auto* const find = scope.arena().make<Find>();
  if (find == nullptr) {
    return nullptr;
  }
  if (container.has_expiry) {
    find->filters = unexpired(scope, container);
    if (find->filters.empty()) {
      return nullptr;
    }
  }
  find->selection.names = &names;
  find->range.key = parts;
  find->range.exact_values = true;
  return find;
}

bool ask_for_all(const Scope& scope, std::span<const Key> keys, Find& find) {
  find.limit = keys.size();
  if (keys.size() == 1) {
    return true;
  }
  const size_t part_count = keys.front().parts.size();
  const auto all = scope.arena().array<Value>(keys.size() * part_count);
  if (all.empty()) {
    return false;
  }
  for (size_t number = 0; number < keys.size(); ++number) {
    std::copy(keys[number].parts.begin(), keys[number].parts.end(),
              all.begin() + static_cast<ptrdiff_t>(number * part_count));
  }
  find.list = {.is_given = true, .holds_whole_keys = true, .values = all};
  return true;
}

size_t column_count_of(std::string_view comma_separated) {
  return comma_separated.empty()
             ? 0
             : 1 + static_cast<size_t>(std::count(comma_separated.begin(), comma_separated.end(), ','));
}

bool make_layout(const Scope& scope, const Container& container, uint32_t first, size_t column_count,
                 Layout& layout, PerColumn& per_column) {
  const auto ends = scope.arena().array<ColumnEnd>(column_count);
  layout = {.ends = ends, .first = first, .count = container.value_count};
  if (ends.empty()) {
    return false;
  }
  per_column.ends = ends.data();
  return put_separators(scope.arena(), container, first, column_count, per_column);
}

// ---- rows by their names

SelectionNames* names_of(const Scope& scope, const Key& key, std::string_view columns) {
  auto* const names = scope.arena().make<SelectionNames>(*key.names);
  if (names != nullptr) {
    names->columns = columns;
  }
  return names;
}

Find* find_by_names(const Scope& scope, const SelectionNames* names, std::span<const Value> parts) {
  auto* const find = names == nullptr ? nullptr : scope.arena().make<Find>();
  if (find != nullptr) {
    find->selection.names = names;
    find->range.key = parts;
    find->range.exact_values = true;
  }
  return find;
}

bool take_columns(const Scope& scope, std::span<const std::string_view> columns, std::string_view& list,
                  Plan& plan) {
  const auto is_in_no_name = [](char byte) { return byte == ',' || byte == '\0'; };
  for (const std::string_view column : columns) {
    if (column.empty() || std::any_of(column.begin(), column.end(), is_in_no_name)) {
      plan.refuse("-ERR a field is the name of a column");
      return false;
    }
  }
  list = joined(scope, columns, ",");
  if (list.empty()) {
    plan.add(nullptr);
    return false;
  }
  return true;
}

}  // namespace rowsocket::wire::resp
