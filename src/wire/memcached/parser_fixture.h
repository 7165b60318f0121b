// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: containers without a server, a parser that reads its input at every cut, and requests in words.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "request/containers.h"
#include "wire/memcached/memcached.h"
#include "wire/memcached/state.h"

namespace rowsocket::wire::memcached::test {

/// all: key k, value v, and everything else. bare: key and value only. wide: two key parts, two values, and a
/// cas that its table keeps. broken: names no table.
[[nodiscard]] inline std::shared_ptr<const Containers> some_containers() {
  const std::vector<ContainerFields> rows = {
      {"all", "d", "t", "k", "v", "f", "c", "e", "PRIMARY"},
      {"bare", "d", "bare", "k", "v", "0", "0", "0", "by_k"},
      {"broken", "d", "", "k", "v", "", "", "", "PRIMARY"},
      {"wide", "d", "wide", "a|b", "x|y", "", "=c", "e", "PRIMARY"},
  };
  std::vector<std::unique_ptr<const Container>> all;
  all.reserve(rows.size());
  for (const ContainerFields& fields : rows) {
    all.push_back(std::make_unique<const Container>(fields));
  }
  return std::make_shared<const Containers>(std::move(all));
}

class MemcachedTest : public testing::Test {
 protected:
  static constexpr uint64_t now_s = 1'800'000'000;

  /// Of the bytes at the front of `input`.
  Parsed parse(std::string_view input) {
    numbers.set_time(now_s * 1'000'000);
    return memcached_protocol().parse(input, {.settings = settings,
                                              .arena = arena,
                                              .out = out,
                                              .state = &state,
                                              .scanned_bytes = scanned_bytes,
                                              .unix_time_us = now_s * 1'000'000,
                                              .numbers = &numbers,
                                              .figures = nullptr});
  }

  /// The request that all of `input` is. Fewer bytes are never a request.
  const Request& request_of(std::string_view input) {
    for (size_t size = 1; size < input.size(); ++size) {
      const std::string cut(input.substr(0, size));  // of its own, so that a sanitizer sees its end
      EXPECT_EQ(parse(cut).status, Parsed::Status::need_more) << size << " bytes of " << input;
    }
    const Parsed parsed = parse(input);
    EXPECT_EQ(parsed.status, Parsed::Status::request) << input;
    EXPECT_EQ(parsed.consumed_bytes, input.size()) << input;
    EXPECT_EQ(scanned_bytes, 0U);
    return *parsed.request;
  }
  const Find& find_of(std::string_view input) {
    const Request& request = request_of(input);
    EXPECT_EQ(request.kind, RequestKind::find) << input << answer_of(request);
    return static_cast<const Find&>(request);
  }
  const Insert& insert_of(std::string_view input) {
    const Request& request = request_of(input);
    EXPECT_EQ(request.kind, RequestKind::insert) << input << answer_of(request);
    return static_cast<const Insert&>(request);
  }
  /// What is answered to a request that no table is asked about.
  std::string answer_to(std::string_view input) { return answer_of(request_of(input)); }
  std::string answer_of(const Request& request) {
    out.clear();
    if (request.mistake != ErrorCode::none) {
      request.reply->failed(request.mistake);
    } else {
      request.reply->done();
    }
    return std::string(out.view());
  }

  /// Tell the reply a row, as an engine does: the values of the selection's columns.
  void tell_row(Reply& reply, const std::vector<Value>& values, size_t key_number = 0) {
    reply.row_begins(key_number);
    ValueWriter writer(out, reply.value_format(), reply.per_column());
    writer.begin_row();
    for (const Value& value : values) {
      if (value.is_null()) {
        writer.null();
      } else {
        writer.text(value.view());
      }
    }
    reply.row_ends();
  }

  static std::string words_of(std::span<const Value> values) {
    std::string words;
    for (const Value& value : values) {
      words += (words.empty() ? "" : " ") + (value.is_null() ? "NULL" : std::string(value.view()));
    }
    return words;
  }
  static std::string words_of(std::span<const Filter> filters) {
    constexpr std::string_view mismatches[] = {"skip", "stop", "refuse"};
    constexpr std::string_view comparisons[] = {"=", "!=", "<", "<=", ">", ">=", "> or unset"};
    std::string words;
    for (const Filter& filter : filters) {
      words += (words.empty() ? "" : ", ") + std::string(mismatches[static_cast<size_t>(filter.mismatch)]) +
               " unless " + std::to_string(filter.filter_column) + " " +
               std::string(comparisons[static_cast<size_t>(filter.comparison)]) + " " +
               words_of({&filter.value, 1});
    }
    return words;
  }
  static std::string words_of(std::span<const Assignment> assignments) {
    constexpr std::string_view operations[] = {"=", "+", "-", "+wrap", "-zero", "append", "prepend"};
    std::string words;
    for (const Assignment& one : assignments) {
      words += (words.empty() ? "" : ", ") + std::to_string(one.column) + " " +
               std::string(operations[static_cast<size_t>(one.operation)]) + " " + words_of({&one.value, 1});
    }
    return words;
  }

  Settings settings = [] {
    Settings with_containers;
    with_containers.containers = some_containers();
    return with_containers;
  }();
  Arena arena;
  Buffer out;
  State state;
  UniqueNumbers numbers{3};
  size_t scanned_bytes = 0;
};

}  // namespace rowsocket::wire::memcached::test
