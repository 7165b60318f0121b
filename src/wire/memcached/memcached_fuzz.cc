// SPDX-License-Identifier: GPL-2.0-only
//
// Any bytes are a sequence of requests, each of which takes its own bytes and no more, with values that lie
// in the input or the arena. How the input was cut changes nothing. Every reply stands what an engine can
// tell it, and answers whole lines.
//
// Seeds and dictionary: memcached_fuzz_corpus, memcached_fuzz.dict.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "request/containers.h"
#include "wire/memcached/memcached.h"
#include "wire/memcached/state.h"

namespace {

using namespace rowsocket;
using wire::memcached::memcached_protocol;

void require(bool kept) {
  if (!kept) {
    std::abort();
  }
}

std::shared_ptr<const Containers> some_containers() {
  const std::vector<ContainerFields> rows = {
      {"all", "d", "t", "k", "v", "f", "c", "e", "PRIMARY"},
      {"bare", "d", "bare", "k", "v", "0", "0", "0", "by_k"},
      {"broken", "d", "", "k", "v", "", "", "", "PRIMARY"},
      {"wide", "d", "wide", "a|b", "x|y", "", "=c", "e", "PRIMARY"},
  };
  std::vector<std::unique_ptr<const Container>> all;
  for (const ContainerFields& fields : rows) {
    all.push_back(std::make_unique<const Container>(fields));
  }
  return std::make_shared<const Containers>(std::move(all));
}

Settings settings_of(uint8_t kind) {
  Settings settings;
  settings.line_bytes_max = (kind & 1U) != 0 ? 128 : 4096;
  settings.in_values_max = 4;
  settings.secret_read = (kind & 2U) != 0 ? "key" : "";
  static const auto containers = some_containers();
  settings.containers = (kind & 4U) != 0 ? nullptr : containers;
  return settings;
}

/// Touches every byte, so that a sanitizer sees a view of what is not there.
void require_intact(std::span<const Value> values) {
  for (const Value& value : values) {
    require(std::string(value.view()).size() == value.size);
  }
}

size_t column_count_of(std::string_view columns) {
  return columns.empty() ? 0 : 1 + static_cast<size_t>(std::count(columns.begin(), columns.end(), ','));
}

void tell_row(Reply& reply, std::string_view columns, size_t key_number, bool is_null) {
  reply.row_begins(key_number);
  ValueWriter writer(reply.out(), reply.value_format(), reply.per_column());
  writer.begin_row();
  for (size_t column = 0; column < column_count_of(columns); ++column) {
    is_null ? writer.null() : writer.unsigned_integer(column * 1'000'003);
  }
  reply.row_ends();
}

void tell(const Find& find, uint8_t outcome) {
  Reply& reply = *find.reply;
  const size_t key_count = find.list.is_given ? find.list.values.size() / find.range.key.size() : size_t{1};
  require(find.limit == key_count && !find.range.key.empty());
  require_intact(find.list.values);
  require_intact(find.range.key);
  for (const Filter& filter : find.filters) {
    require_intact({&filter.value, 1});
  }
  for (const Assignment& one : find.change.assignments) {
    require(one.column < column_count_of(find.selection.names->columns));
    require_intact({&one.value, 1});
  }
  if (find.tell == Tell::count) {
    if (find.change.kind == Change::Kind::none) {
      reply.counted(outcome % 2);
    } else {
      reply.changed({.rows_found = outcome % 3U, .rows_matched = outcome % 2U, .rows_changed = outcome % 2U});
    }
    return;
  }
  reply.begin_rows(column_count_of(find.selection.names->columns));
  for (size_t key = 0; key < key_count; ++key) {
    if ((outcome + key) % 3 != 0) {
      tell_row(reply, find.selection.names->columns, key, (outcome + key) % 3 == 1);
    } else if (reply.tells_misses() && outcome % 2 == 0) {
      reply.missed(key);
    }
  }
  reply.end_rows();
}

void tell(const Insert& insert, uint8_t outcome) {
  Reply& reply = *insert.reply;
  require(insert.row_count == 1);
  require(insert.values.size() <= column_count_of(insert.selection.names->columns));
  require_intact(insert.values);
  for (const DuplicateChange& change : insert.duplicate_changes) {
    require(change.position < insert.values.size());
  }
  if (insert.tells_rows) {
    reply.begin_rows(column_count_of(insert.selection.names->columns));
    tell_row(reply, insert.selection.names->columns, 0, outcome % 2 == 0);
    reply.end_rows();
    return;
  }
  reply.begin_outcomes();
  reply.inserted({.error = {}, .rows_affected = outcome % 3U, .has_id = false, .id = 0});
  reply.end_outcomes();
}

void tell(const Request& request, uint8_t outcome) {
  if (request.mistake != ErrorCode::none) {
    request.reply->failed(request.mistake);
  } else if (outcome % 7 == 6) {
    request.reply->failed({ErrorCode::sql, 1062, "a detail\r\nof two lines"});
  } else if (request.kind == RequestKind::find) {
    tell(static_cast<const Find&>(request), outcome);
  } else if (request.kind == RequestKind::insert) {
    tell(static_cast<const Insert&>(request), outcome);
  } else if (request.kind == RequestKind::group) {
    request.reply->group_begins();
    for (const Request* member : static_cast<const Group&>(request).members) {
      tell(static_cast<const Find&>(*member), outcome);
    }
    request.reply->group_ends();
  } else if (request.kind == RequestKind::open) {
    request.reply->opened({});
  } else {
    request.reply->done();
  }
}

/// Everything that the bytes are answered, received in pieces of so many bytes.
std::string conversation(std::string_view bytes, const Settings& settings, size_t piece_bytes) {
  wire::memcached::State state;
  UniqueNumbers numbers(1);
  std::string answers;
  std::string input;  // of its own, so that a sanitizer sees its end
  size_t scanned_bytes = 0;
  uint8_t outcome = 0;
  while (!bytes.empty() || !input.empty()) {
    Arena arena;
    Buffer out;
    const Parsed parsed = input.empty()
                              ? Parsed{.status = Parsed::Status::need_more}
                              : memcached_protocol().parse(input, {.settings = settings,
                                                                   .arena = arena,
                                                                   .out = out,
                                                                   .state = &state,
                                                                   .scanned_bytes = scanned_bytes,
                                                                   .unix_time_us = 1'800'000'000'000'000,
                                                                   .numbers = &numbers,
                                                                   .figures = nullptr});
    if (parsed.status == Parsed::Status::need_more) {
      if (bytes.empty()) {
        break;
      }
      require(input.size() <= settings.line_bytes_max);
      input += bytes.substr(0, piece_bytes);
      bytes.remove_prefix(std::min(piece_bytes, bytes.size()));
      input.shrink_to_fit();
      continue;
    }
    require(parsed.consumed_bytes > 0 && parsed.consumed_bytes <= input.size());
    if (parsed.status == Parsed::Status::fatal || parsed.status == Parsed::Status::hang_up) {
      if (parsed.status == Parsed::Status::fatal) {
        memcached_protocol().refuse_stream(out, parsed.error, settings);
      }
      return answers + std::string(out.view()) + "(closed)";
    }
    if (parsed.status == Parsed::Status::request) {
      tell(*parsed.request, outcome++);
      require(out.empty() || out.view().ends_with("\r\n"));
      answers += out.view().starts_with("STAT ") ? "(stats)" : out.view();  // what was before counts, too
    }
    scanned_bytes = 0;
    input.erase(0, parsed.consumed_bytes);
  }
  return answers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const Settings settings = settings_of(data[0]);
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string whole = conversation(bytes, settings, 4096);
  require(conversation(bytes, settings, 1) == whole);
  require(conversation(bytes, settings, 1 + size % 13) == whole);
  return 0;
}
