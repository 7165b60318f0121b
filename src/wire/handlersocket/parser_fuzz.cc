// SPDX-License-Identifier: GPL-2.0-only
//
// Any bytes are a sequence of requests, each of which keeps what parser.h promises: it takes its own line or
// group and no more, its values lie in the input or the arena, no count passes its limit, cutting the input
// changes nothing, and every value survives the way into a reply and back.
//
// Seeds and dictionary: corpus/parser, parser_fuzz.dict.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "wire/handlersocket/handlersocket.h"
#include "wire/handlersocket/test_vocabulary.h"
#include "wire/handlersocket/token_reader.h"

namespace {

using namespace rowsocket;

const Protocol& protocol = wire::handlersocket::handlersocket_protocol();

const Settings usual = {.line_bytes_max = limits::line_bytes_default,
                        .in_values_max = limits::in_list_default,
                        .id_max = limits::index_id_default};
const Settings tight = {.line_bytes_max = 64, .in_values_max = 2, .id_max = 6, .strict = true};

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
  ValueWriter writer(reply, wire::handlersocket::reply_value_format);
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

void require_sound_change(const Find& find, size_t line_bytes) {
  require(find.change.assignments.size() <= limits::value_count_max);
  require(find.change.kind == Change::Kind::assign || find.change.assignments.empty());
  require(find.change.kind != Change::Kind::none || find.tell != Tell::rows_after);
  for (size_t position = 0; position < find.change.assignments.size(); ++position) {
    const Assignment& assignment = find.change.assignments[position];
    require(assignment.column == position);
    require(assignment.operation == find.change.assignments[0].operation);
    require(assignment.operation == Operation::set || !assignment.value.is_now());
    require_intact(assignment.value, line_bytes);
    require_round_trip(assignment.value);
  }
}

void require_sound(const Find& find, const Settings& settings, size_t line_bytes) {
  const KeyRange& range = find.range;
  const KeyList& list = find.list;
  require(find.limit >= 1 && find.limit + find.offset >= find.limit);
  require(!range.key.empty());
  require(list.is_given == !list.values.empty());
  require(list.row_limit_per_key == 0 || list.is_given);
  if (list.holds_whole_keys) {
    require(list.values.size() % range.key.size() == 0);
    require(list.values.size() / range.key.size() <= settings.in_values_max);
  } else {
    require(list.values.size() <= settings.in_values_max);
  }
  require_values(list.values, limits::request_values_max, line_bytes);
  require_values(range.key, limits::value_count_max, line_bytes);
  require_values(range.end_key, limits::value_count_max, line_bytes);
  require(range.has_end == !range.end_key.empty());
  require_sound_change(find, line_bytes);
  require(find.filters.size() <= limits::filter_count_max);
  for (const Filter& filter : find.filters) {
    require(filter.mismatch != Mismatch::refuse);
    require_intact(filter.value, line_bytes);
  }
  require(!settings.strict || (!find.is_lenient && !find.drops_surplus));
}

void require_sound(const Insert& insert, const Settings& settings, size_t line_bytes) {
  require(!insert.values.empty());
  require(insert.row_count >= 1 && insert.row_count <= limits::insert_rows_max);
  require(insert.values.size() % insert.row_count == 0);
  const size_t value_count = insert.values.size() / insert.row_count;
  require(value_count <= limits::value_count_max);
  require_values(insert.values, limits::request_values_max, line_bytes);
  require(insert.duplicate_changes.empty() == (insert.on_duplicate != OnDuplicate::change));
  std::vector<bool> seen(value_count);
  for (const DuplicateChange& change : insert.duplicate_changes) {
    require(change.position < value_count && !seen[change.position]);
    seen[change.position] = true;
  }
  require(!settings.strict || !insert.drops_surplus);
}

/// A request that is no group.
void require_sound(const Request& request, const Settings& settings, size_t line_bytes) {
  require(line_bytes <= settings.line_bytes_max + 1);
  require(request.reply != nullptr);
  require(request.kind != RequestKind::refused || request.mistake == ErrorCode::unknown_command ||
          request.mistake == ErrorCode::not_in_group);
  if (request.mistake != ErrorCode::none) {
    return;
  }
  switch (request.kind) {
    case RequestKind::open:
      require(static_cast<const Open&>(request).id < settings.id_max);
      break;
    case RequestKind::find:
      require(selection_of(request).id < settings.id_max);
      require_sound(static_cast<const Find&>(request), settings, line_bytes);
      break;
    case RequestKind::insert:
      require(selection_of(request).id < settings.id_max);
      require_sound(static_cast<const Insert&>(request), settings, line_bytes);
      break;
    case RequestKind::authenticate:
      require_intact(static_cast<const Authenticate&>(request).password, line_bytes);
      break;
    case RequestKind::group:
    case RequestKind::nothing:
    case RequestKind::refused:
      require(false);
  }
}

/// `lines`: all that it was parsed from. It has a member for each line between its first and its last, be it
/// wrong or not, and answers as many where it is refused as a whole.
void require_sound_group(const Group& group, const Settings& settings, std::string_view lines) {
  const auto line_count = static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
  const auto& reply = dynamic_cast<const wire::handlersocket::GroupReply&>(*group.reply);
  require(reply.member_count() + 2 == line_count);
  if (group.mistake != ErrorCode::none) {
    require(group.members.empty());
    return;
  }
  require(group.members.size() == reply.member_count() && group.members.size() <= limits::group_requests_max);
  for (const Request* const member : group.members) {
    require(member->kind == RequestKind::find || member->kind == RequestKind::insert ||
            member->kind == RequestKind::refused);
    require_sound(*member, settings, lines.size());
  }
}

/// Whether `input` may end in the middle of a request: it holds no line end, or begins with the first line of
/// a group.
bool is_unfinished(std::string_view input) {
  const bool begins_group =
      input.starts_with("G\n") || input.starts_with("G\t") || input.starts_with("G\r\n");
  return begins_group ? input.find("\nE\n") == std::string_view::npos &&
                            input.find("\nE\r\n") == std::string_view::npos
                      : input.find('\n') == std::string_view::npos;
}

/// What a parse needs, and where the words of what it reads gather.
class Reading {
 public:
  explicit Reading(const Settings& settings) : settings_(settings) {}

  Parsed parse(std::string_view input) {
    return protocol.parse(input, {.settings = settings_,
                                  .arena = arena_,
                                  .out = out_,
                                  .state = nullptr,
                                  .scanned_bytes = scanned_bytes_});
  }
  void note(const Request& request) { words_ += wire::handlersocket::test::words_of(request) + "\n"; }
  /// True if nothing is read behind this.
  bool ends_with(const Parsed& parsed) {
    words_ += parsed.status == Parsed::Status::fatal     ? "fatal"
              : parsed.status == Parsed::Status::hang_up ? "hang up"
                                                         : "";
    return parsed.status == Parsed::Status::fatal || parsed.status == Parsed::Status::hang_up;
  }
  void forget_requests() { arena_.reset(); }

  [[nodiscard]] const std::string& words() const { return words_; }
  [[nodiscard]] size_t scanned_bytes() const { return scanned_bytes_; }

 private:
  const Settings& settings_;
  Arena arena_;
  Buffer out_;
  size_t scanned_bytes_ = 0;
  std::string words_;
};

/// Every request of `input` in words. What stands after the last of them is none, whatever it is.
std::string read_all(std::string_view input, const Settings& settings) {
  Reading reading(settings);
  while (!input.empty()) {
    const Parsed parsed = reading.parse(input);
    if (parsed.status == Parsed::Status::need_more) {
      require(parsed.consumed_bytes == 0 && reading.scanned_bytes() == input.size());
      require(input.size() <= settings.line_bytes_max && is_unfinished(input));
      return reading.words();
    }
    require(reading.scanned_bytes() == 0);
    require(parsed.consumed_bytes >= 1 && parsed.consumed_bytes <= input.size());
    require(parsed.status != Parsed::Status::nothing);
    require(parsed.status != Parsed::Status::fatal || parsed.error == ErrorCode::line_too_long);
    if (reading.ends_with(parsed)) {
      return reading.words();
    }
    require(input[parsed.consumed_bytes - 1] == '\n');
    if (parsed.request->kind == RequestKind::group) {
      require_sound_group(static_cast<const Group&>(*parsed.request), settings,
                          input.substr(0, parsed.consumed_bytes));
    } else {
      require_sound(*parsed.request, settings, parsed.consumed_bytes);
    }
    reading.note(*parsed.request);
    input.remove_prefix(parsed.consumed_bytes);
    reading.forget_requests();
  }
  return reading.words();
}

/// The same, where each request arrives in pieces of `piece_bytes`.
std::string read_in_pieces(std::string_view input, size_t piece_bytes, const Settings& settings) {
  Reading reading(settings);
  size_t begin = 0;
  for (size_t end = 0; end < input.size();) {
    end = std::min(input.size(), end + piece_bytes);
    // A copy of exactly these bytes, so that the sanitizer sees a read past them.
    const std::string received(input.substr(begin, end - begin));
    std::string_view rest = received;
    while (!rest.empty()) {
      const Parsed parsed = reading.parse(rest);
      if (reading.ends_with(parsed)) {
        return reading.words();
      }
      if (parsed.status != Parsed::Status::request) {
        break;
      }
      reading.note(*parsed.request);
      begin += parsed.consumed_bytes;
      rest.remove_prefix(parsed.consumed_bytes);
    }
    reading.forget_requests();
  }
  return reading.words();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const Settings* const settings : {&usual, &tight}) {
    const std::string words = read_all(input, *settings);
    const size_t piece_bytes = size % 7 + 1;
    require(read_in_pieces(input, piece_bytes, *settings) == words);
  }
  return 0;
}
