// SPDX-License-Identifier: GPL-2.0-only
//
// Any bytes are a sequence of requests, each of which keeps what parser.h promises: it takes its own line or group and no more,
// its values lie in the input or the arena, no count passes its limit, cutting the input changes nothing, and every value
// survives the way into a reply and back.
//
// Seeds and dictionary: corpus/parser, parser_fuzz.dict.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "wire/handlersocket/handlersocket.h"
#include "wire/handlersocket/test_vocabulary.h"
#include "wire/handlersocket/token_reader.h"

namespace {

using namespace rowsocket;

const Protocol& protocol = wire::handlersocket::handlersocket_protocol();

constexpr ParseLimits usual_limits = {.line_bytes_max = limits::line_bytes_default,
                                      .in_values_max = limits::in_list_default,
                                      .index_id_max = limits::index_id_default};
constexpr ParseLimits tight_limits = {.line_bytes_max = 64, .in_values_max = 2, .index_id_max = 6};

void require(bool kept) {
  if (!kept) {
    std::abort();
  }
}

void require_intact(const Value& value, size_t line_bytes) {
  require(value.size <= line_bytes);
  require((!value.is_null() && !value.is_now()) || value.size == 0);
  // Touches every byte, so that the sanitizer sees a view of what is not there.
  require(std::string(value.view()).size() == value.size);
}

/// A value written into a reply is read back as the same value.
void require_round_trip(const Value& value) {
  if (value.is_now()) {
    return;  // no value of a reply
  }
  Buffer reply;
  ValueWriter writer(reply, protocol.value_format());
  value.is_null() ? writer.null() : writer.text(value.view());
  Arena arena;
  wire::handlersocket::TokenReader reader(reply.view().substr(1), arena);
  const Value read = reader.value();
  require(reader.ok() && !reader.has_token());
  require(read.is_null() == value.is_null() && read.view() == value.view());
}

void require_values(std::span<const Value> values, size_t count_max, size_t line_bytes) {
  require(values.size() <= count_max);
  for (const Value& value : values) {
    require_intact(value, line_bytes);
  }
  if (!values.empty()) {
    require_round_trip(values.front());
    require_round_trip(values.back());
  }
}

void require_positions(std::span<const uint32_t> positions, const Request& request) {
  for (const uint32_t position : positions) {
    require(position < request.values.size() / request.row_count);
  }
}

void require_sound_find(const Request& request, const ParseLimits& limits, size_t line_bytes) {
  require(request.limit >= 1 && request.limit + request.offset >= request.limit);
  require(request.has_in_list == !request.in_values.empty());
  require(request.limit_per_value == 0 || request.has_in_list);
  if (request.lists_whole_keys) {
    require(request.in_values.size() % request.values.size() == 0);
    require(request.in_values.size() / request.values.size() <= limits.in_values_max);
  } else {
    require(!request.has_in_list || request.in_key_part < request.values.size());
    require(request.in_values.size() <= limits.in_values_max);
  }
  require_values(request.in_values, limits::request_values_max, line_bytes);
  require_values(request.values, limits::value_count_max, line_bytes);
  require_values(request.end_values, limits::value_count_max, line_bytes);
  require_values(request.new_values, limits::value_count_max, line_bytes);
  require(request.has_end == !request.end_values.empty());
  const bool key_is_low = request.key_operator == KeyOperator::after || request.key_operator == KeyOperator::at_or_after;
  const bool end_is_low = request.end_operator == KeyOperator::after || request.end_operator == KeyOperator::at_or_after;
  require(!request.has_end || key_is_low != end_is_low);
  require(request.filters.size() <= limits::filter_count_max);
  for (const Filter& filter : request.filters) {
    require_intact(filter.value, line_bytes);
  }
}

void require_sound_insert(const Request& request, size_t line_bytes) {
  require(request.row_count >= 1 && request.row_count <= limits::insert_rows_max);
  require(request.values.size() % request.row_count == 0);
  require(request.values.size() / request.row_count <= limits::value_count_max);
  require_values(request.values, limits::request_values_max, line_bytes);
  const bool has_positions = !request.set_on_duplicate.empty() || !request.add_on_duplicate.empty();
  require(has_positions == (request.on_duplicate == OnDuplicate::update));
  require_positions(request.set_on_duplicate, request);
  require_positions(request.add_on_duplicate, request);
}

void require_sound(const Request& request, const ParseLimits& limits, size_t line_bytes) {
  require(line_bytes <= limits.line_bytes_max + 1);
  require(request.kind != RequestKind::unknown || request.parse_error == ErrorCode::unknown_command ||
          request.parse_error == ErrorCode::not_in_group);
  if (request.parse_error != ErrorCode::none) {
    return;
  }
  require(request.index_id < limits.index_id_max);
  require(request.values.empty() == (request.kind != RequestKind::find && request.kind != RequestKind::insert));
  if (request.kind == RequestKind::find) {
    require_sound_find(request, limits, line_bytes);
  } else if (request.kind == RequestKind::insert) {
    require_sound_insert(request, line_bytes);
  }
  require_intact(request.secret, line_bytes);
}

/// `lines`: all that it was parsed from. It has a member for each line between its first and its last, be it wrong or not.
void require_sound_group(const Request& group, const ParseLimits& limits, std::string_view lines) {
  const auto line_count = static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
  require(group.members.size() + 2 == line_count);
  require(group.parse_error != ErrorCode::none || group.members.size() <= limits::group_requests_max);
  for (const Request& member : group.members) {
    require(group.parse_error != ErrorCode::none || member.kind != RequestKind::unknown || member.parse_error != ErrorCode::none);
    require(member.kind != RequestKind::open_index && member.kind != RequestKind::authenticate &&
            member.kind != RequestKind::group);
    if (group.parse_error == ErrorCode::none) {
      require_sound(member, limits, lines.size());
    }
  }
}

/// Whether `input` may end in the middle of a request: it holds no line end, or begins with the first line of a group.
bool is_unfinished(std::string_view input) {
  const bool begins_group = input.starts_with("G\n") || input.starts_with("G\t") || input.starts_with("G\r\n");
  return begins_group ? input.find("\nE\n") == std::string_view::npos && input.find("\nE\r\n") == std::string_view::npos
                      : input.find('\n') == std::string_view::npos;
}

/// Every request of `input` in words. What stands after the last of them is none, whatever it is.
std::string read_all(std::string_view input, const ParseLimits& limits) {
  std::string words;
  Arena arena;
  while (true) {
    Request request;
    size_t scanned_bytes = 0;
    const Parsed parsed = protocol.parse(input, limits, arena, scanned_bytes, request);
    if (parsed.status == Parsed::Status::need_more) {
      require(parsed.consumed_bytes == 0 && scanned_bytes == input.size());
      require(input.size() <= limits.line_bytes_max && is_unfinished(input));
      return words;
    }
    require(parsed.consumed_bytes >= 1 && parsed.consumed_bytes <= input.size());
    if (parsed.status == Parsed::Status::fatal) {
      require(request.parse_error == ErrorCode::line_too_long);
      return words + "fatal";
    }
    if (parsed.status == Parsed::Status::foreign) {
      return words + "foreign";
    }
    require(input[parsed.consumed_bytes - 1] == '\n');
    if (request.kind == RequestKind::group) {
      require_sound_group(request, limits, input.substr(0, parsed.consumed_bytes));
    } else {
      require_sound(request, limits, parsed.consumed_bytes);
    }
    words += wire::handlersocket::test::words_of(request) + "\n";
    input.remove_prefix(parsed.consumed_bytes);
    arena.reset();
  }
}

/// The same, where each request arrives in pieces of `piece_bytes`.
std::string read_in_pieces(std::string_view input, size_t piece_bytes, const ParseLimits& limits) {
  std::string words;
  Arena arena;
  size_t begin = 0;
  size_t scanned_bytes = 0;
  for (size_t end = 0; end < input.size();) {
    end = std::min(input.size(), end + piece_bytes);
    Request request;
    // A copy of exactly these bytes, so that the sanitizer sees a read past them.
    const std::string received(input.substr(begin, end - begin));
    std::string_view rest = received;
    Parsed parsed = protocol.parse(rest, limits, arena, scanned_bytes, request);
    while (parsed.status == Parsed::Status::request) {
      words += wire::handlersocket::test::words_of(request) + "\n";
      begin += parsed.consumed_bytes;
      rest.remove_prefix(parsed.consumed_bytes);
      parsed = protocol.parse(rest, limits, arena, scanned_bytes, request);
    }
    if (parsed.status == Parsed::Status::fatal) {
      return words + "fatal";
    }
    if (parsed.status == Parsed::Status::foreign) {
      return words + "foreign";
    }
    arena.reset();
  }
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const ParseLimits& limits : {usual_limits, tight_limits}) {
    const std::string words = read_all(input, limits);
    const size_t piece_bytes = size % 7 + 1;
    require(read_in_pieces(input, piece_bytes, limits) == words);
  }
  return 0;
}
