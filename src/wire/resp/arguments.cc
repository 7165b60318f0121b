// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/arguments.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/limits.h"
#include "wire/resp/parts.h"

namespace rowsocket::wire::resp {
namespace {

/// `$0`, two line ends.
constexpr size_t argument_bytes_min = 6;

Reading broken(std::string_view problem) { return {.status = Reading::Status::broken, .problem = problem}; }

constexpr std::string_view bad_length = "Protocol error: invalid bulk length";
constexpr std::string_view bad_count = "Protocol error: invalid multibulk length";
constexpr std::string_view expected_text = "Protocol error: expected '$', got ' '";

/// The same, for each byte that can stand there.
std::string_view unexpected(char byte) {
  constexpr size_t text_bytes = expected_text.size();
  using Texts = std::array<std::array<char, text_bytes>, 256>;
  static const Texts texts = [] {
    Texts all{};
    for (size_t number = 0; number < all.size(); ++number) {
      std::copy(expected_text.begin(), expected_text.end(), all[number].begin());
      all[number][text_bytes - 2] = number == '\r' || number == '\n' ? ' '
                                    : number < ' ' || number > '~'   ? '?'
                                                                     : static_cast<char>(number);
    }
    return all;
  }();
  return {texts[static_cast<unsigned char>(byte)].data(), text_bytes};
}

enum class Line : uint8_t { whole, no_number, need_more, too_long };

/// Of a number of few digits, as nearly all are. False where it is a case for `read_any_length`; then
/// `position` has not moved.
inline bool read_short_length(std::string_view input, size_t& position, int64_t& length) {
  constexpr size_t digits_max = 8;
  const char* const begin = input.data() + position + 1;
  const char* const end = input.data() + input.size();
  const char* const digits_end = begin + std::min<size_t>(digits_max, static_cast<size_t>(end - begin));
  int64_t number = 0;
  const char* at = begin;
  for (; at < digits_end; ++at) {
    const unsigned digit = static_cast<unsigned char>(*at) - unsigned{'0'};
    if (digit > 9) {
      break;
    }
    number = number * 10 + digit;
  }
  const bool has_leading_zero = at - begin > 1 && *begin == '0';
  if (at == begin || has_leading_zero || static_cast<size_t>(end - at) < line_end.size() || *at != '\r') {
    return false;
  }
  length = number;
  position = static_cast<size_t>(at - input.data()) + line_end.size();
  return true;
}

/// Of any number.
Line read_any_length(std::string_view input, size_t& position, int64_t& length) {
  const std::string_view searched = input.substr(position + 1, limits::resp_length_bytes_max);
  const size_t end = searched.find('\r');
  if (end == std::string_view::npos) {
    return searched.size() < limits::resp_length_bytes_max ? Line::need_more : Line::too_long;
  }
  const size_t behind = position + 1 + end + line_end.size();
  if (behind > input.size()) {
    return Line::need_more;
  }
  position = behind;
  return parse_integer(searched.substr(0, end), length) ? Line::whole : Line::no_number;
}

/// A number behind one byte, up to a line end. `position` goes behind it.
inline Line read_length(std::string_view input, size_t& position, int64_t& length) {
  return read_short_length(input, position, length) ? Line::whole : read_any_length(input, position, length);
}

/// One argument of an array.
Reading read_argument(std::string_view input, size_t bytes_max, size_t& position, std::string_view& argument,
                      size_t& needed_bytes) {
  needed_bytes = position + argument_bytes_min;
  if (position >= input.size()) {
    return {};
  }
  if (input[position] != '$') {
    return broken(unexpected(input[position]));
  }
  int64_t length = 0;
  size_t begin = position;
  switch (read_length(input, begin, length)) {
    case Line::need_more:
      needed_bytes = std::max(needed_bytes, input.size() + 1);
      return {};
    case Line::too_long:
      return broken("Protocol error: too big bulk count string");
    case Line::no_number:
      return broken(bad_length);
    case Line::whole:
      break;
  }
  if (length < 0 || static_cast<uint64_t>(length) > bytes_max ||
      begin + static_cast<size_t>(length) + line_end.size() > bytes_max) {
    return broken(bad_length);
  }
  const auto bytes = static_cast<size_t>(length);
  needed_bytes = begin + bytes + line_end.size();
  if (input.size() < needed_bytes) {
    return {};
  }
  if (input.substr(begin + bytes, line_end.size()) != line_end) {
    return broken("Protocol error: no line end behind a string");
  }
  argument = input.substr(begin, bytes);
  position = needed_bytes;
  return {.status = Reading::Status::whole};
}

Reading read_array(std::string_view input, size_t bytes_max, Arena& arena, size_t& needed_bytes) {
  int64_t count = 0;
  size_t position = 0;
  switch (read_length(input, position, count)) {
    case Line::need_more:
      return {};
    case Line::too_long:
      return broken("Protocol error: too big mbulk count string");
    case Line::no_number:
      return broken(bad_count);
    case Line::whole:
      break;
  }
  if (count > static_cast<int64_t>(limits::request_values_max)) {
    return broken(bad_count);
  }
  if (count <= 0) {
    return {.status = Reading::Status::empty, .bytes = position};
  }
  const auto argument_count = static_cast<size_t>(count);
  if (position + argument_count * argument_bytes_min > bytes_max) {
    return broken(bad_count);
  }
  // Memory is taken for arguments whose bytes can be there. The first is looked at in any case: what is wrong
  // is told at once.
  const size_t room = std::min(argument_count, (input.size() - position) / argument_bytes_min + 1);
  const auto arguments = arena.array<std::string_view>(room);
  if (arguments.empty()) {
    return {.status = Reading::Status::out_of_memory, .bytes = input.size()};
  }
  for (size_t number = 0; number < argument_count; ++number) {
    std::string_view argument;
    Reading one = read_argument(input, bytes_max, position, argument, needed_bytes);
    if (one.status != Reading::Status::whole) {
      needed_bytes += (argument_count - number - 1) * argument_bytes_min;
      return one;
    }
    arguments[number] = argument;  // each took its least bytes, so there is room
  }
  return {.status = Reading::Status::whole, .bytes = position, .arguments = arguments};
}

// ---- a line of words

bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r') || byte == '\0'; }

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') {
    return digit - '0';
  }
  const char lower = static_cast<char>(digit | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Words, of which some stand in quotes. What they are is written to `to`, which has room for the whole line.
class WordReader {
 public:
  WordReader(std::string_view line, char* to) : rest_(line), to_(to) {}

  /// False at the end, and where the quotes do not match (`is_broken`).
  bool next(std::string_view& word) {
    while (!rest_.empty() && is_space(rest_.front())) {
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) {
      return false;
    }
    char* const begin = to_;
    while (!rest_.empty() && !is_space(rest_.front())) {
      const char byte = take();
      if (byte != '"' && byte != '\'') {
        *to_++ = byte;
      } else if (!take_quoted(byte)) {
        is_broken_ = true;
        return false;
      }
    }
    word = {begin, static_cast<size_t>(to_ - begin)};
    return true;
  }
  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  char take() {
    const char byte = rest_.front();
    rest_.remove_prefix(1);
    return byte;
  }
  /// Up to the quote's end, behind which the word must end.
  bool take_quoted(char quote) {
    while (!rest_.empty()) {
      const char byte = take();
      if (byte == quote) {
        return rest_.empty() || is_space(rest_.front());
      }
      if (byte == '\\' && !rest_.empty() && (quote == '"' || rest_.front() == '\'')) {
        *to_++ = quote == '"' ? escaped() : take();
      } else {
        *to_++ = byte;
      }
    }
    return false;
  }
  /// What stands behind a backslash.
  char escaped() {
    const char byte = take();
    switch (byte) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'b':
        return '\b';
      case 'a':
        return '\a';
      case 'x':
        break;
      default:
        return byte;
    }
    const int high = rest_.size() >= 2 ? hex_value(rest_[0]) : -1;
    const int low = rest_.size() >= 2 ? hex_value(rest_[1]) : -1;
    if (high < 0 || low < 0) {
      return byte;
    }
    rest_.remove_prefix(2);
    return static_cast<char>(high * 16 + low);
  }

  std::string_view rest_;
  char* to_;
  bool is_broken_ = false;
};

Reading read_words(std::string_view line, size_t bytes, Arena& arena) {
  const size_t count_max = line.size() / 2 + 1;
  char* const text = arena.allocate(line.size() + 1);
  const auto words = arena.array<std::string_view>(count_max);
  if (text == nullptr || words.empty()) {
    return {.status = Reading::Status::out_of_memory, .bytes = bytes};
  }
  WordReader reader(line, text);
  size_t count = 0;
  while (reader.next(words[count])) {
    if (++count == count_max) {
      break;
    }
  }
  if (reader.is_broken()) {
    return broken("Protocol error: unbalanced quotes in request");
  }
  return {.status = count == 0 ? Reading::Status::empty : Reading::Status::whole,
          .bytes = bytes,
          .arguments = words.first(count),
          .line = line};
}

}  // namespace

Reading read_arguments(std::string_view input, size_t bytes_max, Arena& arena, size_t& needed_bytes) {
  if (input.front() == '*') {
    // What is wrong in a short input is told at once. A long one is not read again for each piece.
    if (input.size() < needed_bytes && input.size() > limits::resp_bytes_read_again) {
      return {};
    }
    return read_array(input, bytes_max, arena, needed_bytes);
  }
  const size_t line_max = std::min(bytes_max, limits::resp_line_bytes_max);
  const std::string_view searched = input.substr(0, line_max + 1);
  const size_t end = searched.find('\n', std::min(needed_bytes, searched.size()));
  if (end == std::string_view::npos) {
    if (input.size() > line_max) {
      return broken("Protocol error: too big inline request");
    }
    needed_bytes = searched.size();  // so many have no line end
    return {};
  }
  std::string_view line = input.substr(0, end);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return read_words(line, end + 1, arena);
}

}  // namespace rowsocket::wire::resp
