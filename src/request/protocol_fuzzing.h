// SPDX-License-Identifier: GPL-2.0-only
//
// For fuzzing protocols that address containers. Any bytes are a sequence of requests, each of which takes
// its own bytes and no more, with values that lie in the input or the arena. How the input was cut changes
// nothing. Every reply stands what an engine can tell it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "request/container_examples.h"
#include "request/parsed_ahead.h"
#include "request/protocol.h"

namespace rowsocket::fuzzing {

inline void require(bool kept) {
  if (!kept) {
    std::abort();
  }
}

/// A protocol, and what is known of its replies.
struct Fuzzed {
  const Protocol& protocol;
  /// Of a new connection: always the same.
  std::unique_ptr<WireState> (*new_state)();
  /// What stands for the reply, in a comparison with what other cuts are answered. Aborts if it is not whole.
  std::string (*shown)(std::string_view reply);
};

[[nodiscard]] inline Settings settings_of(uint8_t kind) {
  Settings settings;
  settings.line_bytes_max = (kind & 1U) != 0 ? 128 : 4096;
  settings.in_values_max = 4;
  settings.secret_read = (kind & 2U) != 0 ? "key" : "";
  settings.allows_flush = (kind & 8U) != 0;
  static const auto containers = test::some_containers();
  settings.containers = (kind & 4U) != 0 ? nullptr : containers;
  return settings;
}

// ---- what an engine tells

/// Touches every byte, so that a sanitizer sees a view of what is not there.
inline void require_intact(std::span<const Value> values) {
  for (const Value& value : values) {
    require(std::string(value.view()).size() == value.size);
  }
}

[[nodiscard]] inline size_t column_count_of(const SelectionNames& names) {
  if (names.all_columns) {
    return 3;
  }
  const std::string_view columns = names.columns;
  const size_t named =
      columns.empty() ? 0 : 1 + static_cast<size_t>(std::count(columns.begin(), columns.end(), ','));
  return named + (names.key_columns_first ? std::max(names.unique_key_parts, 1U) : 0);
}

inline void tell_row(Reply& reply, const SelectionNames& names, size_t key_number, bool has_null) {
  reply.row_begins(key_number);
  ValueWriter writer(reply.out(), reply.value_format(), reply.per_column());
  writer.begin_row();
  for (size_t column = 0; column < column_count_of(names); ++column) {
    if (names.all_columns) {
      writer.name("name");
    }
    has_null&& column % 2 == 0 ? writer.null() : writer.unsigned_integer(column * 1'000'003);
  }
  reply.row_ends();
}

inline void tell(const Insert& insert, const SelectionNames& names, uint8_t outcome) {
  Reply& reply = *insert.reply;
  require(insert.row_count > 0 && insert.values.size() % insert.row_count == 0);
  require(insert.values.size() / insert.row_count <= column_count_of(names));
  require_intact(insert.values);
  for (const auto& changes : {insert.duplicate_changes, insert.mismatch_changes}) {
    for (const DuplicateChange& change : changes) {
      require(change.position < insert.values.size() / insert.row_count);
    }
  }
  if (insert.tells_rows) {
    reply.begin_rows(column_count_of(names));
    tell_row(reply, names, 0, outcome % 2 == 0);
    reply.end_rows();
    return;
  }
  reply.begin_outcomes();
  for (uint32_t row = 0; row < insert.row_count; ++row) {
    const bool fails = insert.rows_alone && (outcome + row) % 3 == 2;
    reply.inserted({.error = fails ? Error(ErrorCode::engine, 121) : Error(),
                    .rows_affected = fails ? 0 : outcome % 3U,
                    .has_id = outcome % 2 == 0,
                    .id = outcome});
  }
  reply.end_outcomes();
}

inline void require_sense(const Find& find) {
  const SelectionNames& names = *find.selection.names;
  require(!find.range.key.empty() || find.range.may_be_open);
  require_intact(find.list.values);
  require_intact(find.range.key);
  require_intact(find.range.end_key);
  for (const Filter& filter : find.filters) {
    require_intact({&filter.value, 1});
  }
  for (const Assignment& one : find.change.assignments) {
    require(one.column < column_count_of(names));
    require_intact({&one.value, 1});
  }
  require(find.otherwise == nullptr || find.change.kind == Change::Kind::assign);
}

inline void tell(const Find& find, uint8_t outcome) {
  require_sense(find);
  Reply& reply = *find.reply;
  const SelectionNames& names = *find.selection.names;
  if (find.tell == Tell::count) {
    if (find.otherwise != nullptr && outcome % 2 == 0) {
      tell(*find.otherwise, names, outcome);
    } else if (find.change.kind == Change::Kind::none) {
      reply.counted(outcome % 2);
    } else {
      reply.changed({.rows_found = outcome % 3U, .rows_matched = outcome % 2U, .rows_changed = outcome % 2U});
    }
    return;
  }
  const bool is_refused =
      outcome % 2 == 1 && std::any_of(find.filters.begin(), find.filters.end(), [](const Filter& filter) {
        return filter.mismatch == Mismatch::refuse;
      });
  const bool one_by_one = find.list.is_given && find.list.holds_whole_keys;
  const size_t key_count = one_by_one ? find.list.values.size() / find.range.key.size() : size_t{1};
  reply.begin_rows(column_count_of(names));
  for (size_t key = 0; key < key_count; ++key) {
    if ((outcome + key) % 3 != 0) {
      tell_row(reply, names, key, (outcome + key) % 3 == 1);
      continue;
    }
    if (reply.tells_misses() && !is_refused) {
      reply.missed(key);
    }
    if (find.otherwise != nullptr) {
      tell(*find.otherwise, names, outcome);
      return;
    }
  }
  reply.end_rows();
}

inline void tell_member(const Request& request, uint8_t outcome) {
  if (request.kind == RequestKind::find) {
    tell(static_cast<const Find&>(request), outcome);
  } else {
    require(request.kind == RequestKind::insert);
    const auto& insert = static_cast<const Insert&>(request);
    tell(insert, *insert.selection.names, outcome);
  }
}

inline void tell(const Request& request, uint8_t outcome) {
  const Error failure(ErrorCode::sql, 1062, "a detail\r\nof two lines");
  const bool fails = outcome % 7 == 6;
  if (request.for_readers && outcome % 11 == 10) {
    request.reply->failed(ErrorCode::not_authenticated);
  } else if (request.mistake != ErrorCode::none) {
    request.reply->failed(request.mistake);
  } else if (request.kind == RequestKind::group) {
    if (fails) {
      request.reply->group_failed(0, failure);
      return;
    }
    request.reply->group_begins();
    for (const Request* member : static_cast<const Group&>(request).members) {
      tell_member(*member, outcome);
    }
    request.reply->group_ends();
  } else if (fails && request.kind != RequestKind::nothing) {
    request.reply->failed(failure);
  } else if (request.kind == RequestKind::find || request.kind == RequestKind::insert) {
    tell_member(request, outcome);
  } else if (request.kind == RequestKind::open) {
    request.reply->opened({});
  } else {
    request.reply->done();
  }
}

// ---- the stream

/// Everything that the bytes are answered, received in pieces of so many bytes. So many requests are parsed
/// before the first of them is executed, where the protocol allows it.
[[nodiscard]] inline std::string conversation(const Fuzzed& fuzzed, std::string_view bytes,
                                              const Settings& settings, size_t piece_bytes,
                                              size_t ahead_max = 1) {
  const std::unique_ptr<WireState> state = fuzzed.new_state();
  UniqueNumbers numbers(1);
  Arena arena;
  Buffer out;
  std::string answers;
  std::string input;  // of its own, so that a sanitizer sees its end
  size_t scanned_bytes = 0;
  size_t done_bytes = 0;
  ParsedAhead ahead;
  uint8_t outcome = 0;
  const auto receive = [&] {
    require(input.size() <= settings.line_bytes_max);
    input += bytes.substr(0, piece_bytes);
    bytes.remove_prefix(std::min(piece_bytes, bytes.size()));
    input.shrink_to_fit();
  };
  while (!bytes.empty() || !input.empty()) {
    if (input.empty()) {
      receive();
    }
    if (ahead.is_empty()) {
      arena.reset();
      ahead.parse(fuzzed.protocol, input,
                  {.settings = settings,
                   .arena = arena,
                   .out = out,
                   .state = state.get(),
                   .scanned_bytes = scanned_bytes,
                   .unix_time_us = 1'800'000'000'000'000,
                   .numbers = &numbers,
                   .figures = nullptr},
                  ahead_max);
    }
    require(!ahead.is_empty());  // the first of them is never `later`
    const Parsed parsed = ahead.take();
    if (parsed.status == Parsed::Status::need_more) {
      input.erase(0, std::exchange(done_bytes, 0));
      if (bytes.empty()) {
        break;
      }
      receive();
      continue;
    }
    require((parsed.consumed_bytes > 0) != parsed.is_step &&
            parsed.consumed_bytes <= input.size() - done_bytes);
    out.clear();
    if (parsed.status == Parsed::Status::fatal) {
      fuzzed.protocol.refuse_stream(out, parsed.error, settings);
      return answers + std::string(out.view()) + "(closed)";
    }
    if (parsed.status == Parsed::Status::hang_up) {
      return answers + "(closed)";
    }
    if (parsed.status == Parsed::Status::request) {
      tell(*parsed.request, outcome++);
      answers += fuzzed.shown(out.view());  // what was before counts, too
    }
    done_bytes += parsed.consumed_bytes;
    if (ahead.is_empty()) {
      input.erase(0, std::exchange(done_bytes, 0));
    }
  }
  return answers;
}

/// The first byte chooses the settings, the others are sent.
inline int fuzz(const Fuzzed& fuzzed, const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const Settings settings = settings_of(data[0]);
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string whole = conversation(fuzzed, bytes, settings, 4096);
  require(conversation(fuzzed, bytes, settings, 1) == whole);
  require(conversation(fuzzed, bytes, settings, 1 + size % 13) == whole);
  require(conversation(fuzzed, bytes, settings, 4096, 16) == whole);
  return 0;
}

}  // namespace rowsocket::fuzzing
