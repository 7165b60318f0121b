// SPDX-License-Identifier: GPL-2.0-only
//
// Any bytes are a sequence of requests, each of which keeps what parser.h promises: it takes its own line and no more, its values
// lie in the input or the arena, no count passes its limit, cutting the input changes nothing, and every value survives the way
// into a reply and back.
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
  require(!value.is_null() || value.size == 0);
  // Touches every byte, so that the sanitizer sees a view of what is not there.
  require(std::string(value.view()).size() == value.size);
}

/// A value written into a reply is read back as the same value.
void require_round_trip(const Value& value) {
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

void require_sound(const Request& request, const ParseLimits& limits, size_t line_bytes) {
  require(line_bytes <= limits.line_bytes_max + 1);
  require(request.kind != RequestKind::unknown || request.parse_error == ErrorCode::unknown_command);
  if (request.parse_error != ErrorCode::none) {
    return;
  }
  require(request.index_id < limits.index_id_max);
  require(request.limit >= 1 && request.limit + request.offset >= request.limit);
  require(!request.has_in_list || (request.in_key_part < request.values.size() && !request.in_values.empty()));
  require(request.kind == RequestKind::open_index || request.kind == RequestKind::authenticate || !request.values.empty());
  require_values(request.values, limits::value_count_max, line_bytes);
  require_values(request.new_values, limits::value_count_max, line_bytes);
  require_values(request.in_values, limits.in_values_max, line_bytes);
  require_intact(request.secret, line_bytes);
  require(request.filters.size() <= limits::filter_count_max);
  for (const Filter& filter : request.filters) {
    require_intact(filter.value, line_bytes);
  }
}

/// Every request of `input` in words. What stands after the last line end is no request, whatever it is.
std::string read_all(std::string_view input, const ParseLimits& limits) {
  std::string words;
  Arena arena;
  while (true) {
    Request request;
    size_t scanned_bytes = 0;
    const Parsed parsed = protocol.parse(input, limits, arena, scanned_bytes, request);
    if (parsed.status == Parsed::Status::need_more) {
      require(parsed.consumed_bytes == 0 && scanned_bytes == input.size());
      require(input.size() <= limits.line_bytes_max && input.find('\n') == std::string_view::npos);
      return words;
    }
    require(parsed.consumed_bytes >= 1 && parsed.consumed_bytes <= input.size());
    if (parsed.status == Parsed::Status::fatal) {
      require(request.parse_error == ErrorCode::line_too_long);
      return words + "fatal";
    }
    require(input[parsed.consumed_bytes - 1] == '\n');
    require_sound(request, limits, parsed.consumed_bytes);
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
