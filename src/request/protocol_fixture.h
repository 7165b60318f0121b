// SPDX-License-Identifier: GPL-2.0-only
//
// For tests of protocols that address containers: a parser that reads its input at every cut, what it made in
// words, and what an engine tells a reply.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/refused_memory.h"
#include "request/container_examples.h"
#include "request/protocol.h"
#include "request/whole_request.h"

namespace rowsocket::test {

/// `State` is the protocol's.
template <typename State>
class ProtocolTest : public testing::Test {
 protected:
  static constexpr uint64_t now_s = 1'800'000'000;

  explicit ProtocolTest(const Protocol& protocol) : protocol_(protocol) {
    settings.containers = some_containers();
  }

  /// Of the bytes at the front of `input`.
  Parsed parse(std::string_view input, bool is_ahead = false) { return parse(input, arena, is_ahead); }
  Parsed parse(std::string_view input, Arena& of_the_request, bool is_ahead = false) {
    numbers.set_time(now_s * 1'000'000);
    return protocol_.parse(input, {.settings = settings,
                                   .arena = of_the_request,
                                   .out = out,
                                   .state = &state,
                                   .scanned_bytes = scanned_bytes,
                                   .unix_time_us = now_s * 1'000'000,
                                   .numbers = &numbers,
                                   .figures = figures,
                                   .is_ahead = is_ahead});
  }

  /// The request that all of these bytes are. Fewer bytes are never a request.
  const Request& request_of(std::string_view bytes) {
    const std::string& input = inputs_.emplace_back(bytes);  // a request points into its bytes
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
  /// Wherever in the making of the request memory ends, there is no request, and the stream ends.
  void expect_no_request_without_memory(std::string_view bytes) {
    Parsed parsed{.status = Parsed::Status::fatal};
    for (size_t free_bytes = 0; parsed.status != Parsed::Status::request; free_bytes += 16) {
      ASSERT_LT(free_bytes, limits::arena_bytes_first) << "is never a request: " << bytes;
      Arena small;
      leave_free(small, free_bytes);
      const RefusedMemory refused;
      parsed = parse(bytes, small);
      if (parsed.status != Parsed::Status::request) {
        EXPECT_EQ(parsed.status, Parsed::Status::fatal) << free_bytes << " bytes for " << bytes;
        EXPECT_EQ(parsed.error, ErrorCode::out_of_memory) << free_bytes << " bytes for " << bytes;
      }
    }
  }
  const Find& find_in(const Request& request) {
    EXPECT_EQ(request.kind, RequestKind::find) << answer_of(request);
    return static_cast<const Find&>(request);
  }
  const Insert& insert_in(const Request& request) {
    EXPECT_EQ(request.kind, RequestKind::insert) << answer_of(request);
    return static_cast<const Insert&>(request);
  }
  /// What is answered to a request that no table is asked about.
  std::string answer_of(const Request& request) {
    out.clear();
    const bool is_nobody = request.kind == RequestKind::authenticate &&
                           static_cast<const Authenticate&>(request).method == Authenticate::Method::nobody;
    const bool asks_nothing =
        request.kind == RequestKind::nothing || request.kind == RequestKind::refused || is_nobody;
    if (is_stranger && (request.for_readers || !asks_nothing)) {
      request.reply->failed(ErrorCode::not_authenticated);
    } else if (request.mistake != ErrorCode::none) {
      request.reply->failed(request.mistake);
    } else {
      request.reply->done();
    }
    return std::string(out.view());
  }

  /// Tell the reply a row, as an engine does: the values of the selection's columns, perhaps with names.
  void tell_row(Reply& reply, const std::vector<Value>& values, size_t key_number = 0,
                const std::vector<std::string>& names = {}) {
    reply.row_begins(key_number);
    ValueWriter writer(out, reply.value_format(), reply.per_column());
    writer.begin_row();
    for (size_t column = 0; column < values.size(); ++column) {
      if (!names.empty()) {
        writer.name(names[column]);
      }
      if (values[column].is_null()) {
        writer.null();
      } else {
        writer.text(values[column].view());
      }
    }
    reply.row_ends();
  }
  /// The reply to a find that found this row.
  std::string reply_to(const Find& find, const std::vector<Value>& values,
                       const std::vector<std::string>& names = {}) {
    out.clear();
    find.reply->begin_rows(values.size());
    tell_row(*find.reply, values, 0, names);
    find.reply->end_rows();
    return std::string(out.view());
  }

  /// All that a request says, and behind each > what its reply says: of a row that was found or changed, or
  /// of none; of one that was inserted instead; and of an error. Of a group: where all its members found, or
  /// changed, a row. The numbers of `cas` are told as CAS, and line ends as |.
  std::string whole(std::string_view bytes) {
    const Request& request = request_of(bytes);
    std::string words = whole_request(request);
    const std::vector<Told> all = what_may_come_of(request);
    for (const Told& told : all) {
      Reply& reply = *request_of(bytes).reply;
      for (const Told& before : all) {
        reply_again(reply, before);  // a request that runs again may find something else
      }
      words += " > " + reply_again(reply, told);
      if (reply.counts()) {
        words += counted(reply);
      }
    }
    if (request.kind == RequestKind::group) {
      words += " > " + reply_of_group(static_cast<const Group&>(request_of(bytes)));
    } else if (request.kind == RequestKind::nothing || request.kind == RequestKind::refused) {
      words += " > " + answer_of(request_of(bytes));
    }
    words = std::regex_replace(words, std::regex("\\r?\\n"), "|");
    return std::regex_replace(words, std::regex("'18432[0-9]{14}'"), "CAS");
  }

  /// What a reply counts, where the protocol counts something.
  virtual std::string counted(Reply&) { return {}; }

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
    constexpr std::string_view operations[] = {"=",     "+",     "-",      "+from0", "+whole",
                                               "+wrap", "-zero", "append", "prepend"};
    std::string words;
    for (const Assignment& one : assignments) {
      words += (words.empty() ? "" : ", ") + std::to_string(one.column) + " " +
               std::string(operations[static_cast<size_t>(one.operation)]) + " " + words_of({&one.value, 1});
    }
    return words;
  }

  /// In the first block.
  static void leave_free(Arena& of_the_request, size_t byte_count) {
    const auto take = [](Arena& from, size_t bytes) { static_cast<void>(from.allocate(bytes)); };
    Arena whole;
    size_t block_bytes = 0;
    for (take(whole, 16); whole.held_bytes() == limits::arena_bytes_first; take(whole, 16)) {
      block_bytes += 16;
    }
    take(of_the_request, block_bytes - byte_count);
  }

  bool is_stranger = false;  ///< exec finds that the client may not read
  Settings settings;
  Arena arena;
  Buffer out;
  State state;
  UniqueNumbers numbers{3};
  const ServerFigures* figures = nullptr;
  size_t scanned_bytes = 0;

 private:
  using Told = std::function<void(Reply&)>;

  /// Behind the reply to another request.
  std::string reply_again(Reply& reply, const Told& told) {
    constexpr std::string_view before = "other";
    out.clear();
    out.append(before);
    told(reply);
    EXPECT_TRUE(out.view().starts_with(before));
    return std::string(out.view().substr(std::min(before.size(), out.size())));
  }

  /// As an engine does, with the values 1, 2 and so on.
  void tell_rows(Reply& reply, const Find& find, size_t row_count) {
    const SelectionNames& names = *find.selection.names;
    const auto commas = static_cast<size_t>(std::count(names.columns.begin(), names.columns.end(), ','));
    const size_t count = (names.columns.empty() ? 0 : commas + 1) +
                         (names.key_columns_first ? find.range.key.size() : 0) + (names.all_columns ? 2 : 0);
    std::vector<std::string> texts;
    std::vector<std::string> names_of_columns;
    for (size_t column = 0; column < count; ++column) {
      texts.push_back(std::to_string(column + 1));
      names_of_columns.push_back("c" + texts.back());
    }
    reply.begin_rows(count);
    for (size_t row = 0; row < row_count; ++row) {
      tell_row(reply, {texts.begin(), texts.end()}, row,
               names.all_columns ? names_of_columns : std::vector<std::string>());
    }
    if (row_count == 0 && reply.tells_misses()) {
      reply.missed(0);
    }
    reply.end_rows();
  }
  static void tell_inserted(Reply& reply, const Insert& insert, uint32_t rows_affected) {
    reply.begin_outcomes();
    for (uint32_t row = 0; row < insert.row_count; ++row) {
      reply.inserted({.error = {}, .rows_affected = rows_affected, .has_id = true, .id = 7});
    }
    reply.end_outcomes();
  }
  std::vector<Told> what_may_come_of(const Request& request) {
    std::vector<Told> all;
    if (request.kind == RequestKind::find) {
      const auto& find = static_cast<const Find&>(request);
      all = what_may_come_of_find(find);
      if (find.otherwise != nullptr && find.otherwise->tells_rows) {
        all.push_back([&](Reply& reply) { tell_rows(reply, find, 1); });
      } else if (find.otherwise != nullptr) {
        all.push_back([&](Reply& reply) { tell_inserted(reply, *find.otherwise, 1); });
      }
    }
    if (request.kind == RequestKind::insert) {
      const auto& insert = static_cast<const Insert&>(request);
      for (const uint32_t rows_affected : {1, 2, 0}) {
        all.push_back(
            [&insert, rows_affected](Reply& reply) { tell_inserted(reply, insert, rows_affected); });
      }
    }
    if (!all.empty()) {
      all.push_back([](Reply& reply) { reply.failed({ErrorCode::engine, 121}); });
    }
    return all;
  }
  std::vector<Told> what_may_come_of_find(const Find& find) {
    std::vector<Told> all;
    if (find.tell != Tell::count) {
      all.push_back([&](Reply& reply) { tell_rows(reply, find, 1); });
      all.push_back([&](Reply& reply) { tell_rows(reply, find, 0); });
    } else if (find.change.kind == Change::Kind::none) {
      all.push_back([](Reply& reply) { reply.counted(1); });
      all.push_back([](Reply& reply) { reply.counted(0); });
    } else {
      for (const Changes changes : {Changes{1, 1, 1}, {1, 1, 0}, {1, 0, 0}, {0, 0, 0}}) {
        all.push_back([changes](Reply& reply) { reply.changed(changes); });
      }
    }
    return all;
  }
  std::string reply_of_group(const Group& group) {
    out.clear();
    group.reply->group_begins();
    for (const Request* const member : group.members) {
      what_may_come_of(*member).front()(*member->reply);
    }
    group.reply->group_ends();
    return std::string(out.view());
  }

  const Protocol& protocol_;
  std::deque<std::string> inputs_;
};

}  // namespace rowsocket::test
