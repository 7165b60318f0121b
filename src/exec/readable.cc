// SPDX-License-Identifier: GPL-2.0-only
#include "exec/readable.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace rowsocket::exec {
namespace {

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// An integer or decimal number of an ordinary size: what follows a sign, with a dot at most.
bool is_number(std::string_view text) {
  constexpr size_t bytes_max = 40;
  if (!text.empty() && text.front() == '-') {
    text.remove_prefix(1);
  }
  if (text.empty() || text.size() > bytes_max || !is_digit(text.front()) || !is_digit(text.back())) {
    return false;
  }
  const size_t dot = std::min(text.find('.'), text.size());
  const auto all_digits = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), is_digit);
  };
  return all_digits(text.substr(0, dot)) && all_digits(text.substr(std::min(dot + 1, text.size())));
}

bool is_plain_word(std::string_view name) {
  const auto is_plain = [](char byte) {
    return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           byte == '$';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_plain);
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// How many bytes the character takes that the text begins with; 0 where it begins with none that may stand
/// in a line as it is.
size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) {
    return first >= 0x20 && first != 0x7F ? 1 : 0;
  }
  const size_t size = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) {
    return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_no_character = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  const bool is_control = first == 0xC2 && second < 0xA0;
  const bool ends_line = first == 0xE2 && second == 0x80 && (text[2] == '\xA8' || text[2] == '\xA9');
  const bool is_whole =
      std::all_of(text.begin() + 1, text.begin() + static_cast<ptrdiff_t>(size), continues_character);
  return is_whole && !is_overlong && !is_no_character && !is_control && !ends_line ? size : 0;
}

/// The beginning of it, without half of a character at its end.
std::string_view cut(std::string_view text, size_t bytes_max) {
  constexpr size_t character_bytes_max = 4;
  size_t end = bytes_max;
  while (end > 0 && bytes_max - end < character_bytes_max && continues_character(text[end])) {
    --end;
  }
  return text.substr(0, end > 0 && !continues_character(text[end]) ? end : bytes_max);
}

}  // namespace

bool is_line_of_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t size = character_bytes(bytes);
    if (size == 0) {
      return false;
    }
    bytes.remove_prefix(size);
  }
  return true;
}

void Readable::add_value(const Value& value) {
  if (value_bytes_max_ == 0) {
    add("?");
    return;
  }
  if (value.is_null()) {
    add("NULL");
    return;
  }
  if (value.is_now()) {
    add("NOW");
    return;
  }
  const std::string_view bytes = value.view();
  if (bytes.size() <= value_bytes_max_ && is_number(bytes)) {
    add(bytes);
    return;
  }
  const bool is_cut = bytes.size() > value_bytes_max_;
  add_escaped(is_cut ? cut(bytes, value_bytes_max_) : bytes, '\'');
  if (is_cut) {
    add("...(");
    add_number(bytes.size());
    add(" bytes)");
  }
}

void Readable::add_name(std::string_view name) {
  if (is_plain_word(name) && name.size() <= limits::name_bytes_max) {
    add(name);
    return;
  }
  const bool is_cut = name.size() > limits::name_bytes_max;  // nothing can have it
  add_escaped(is_cut ? cut(name, limits::name_bytes_max) : name, '`');
  add(is_cut ? "..." : "");
}

/// Within quotes.
void Readable::add_escaped(std::string_view bytes, char quote) {
  text_.push_back(quote);
  while (!bytes.empty()) {
    const char first = bytes.front();
    const size_t size = character_bytes(bytes);
    if (first == '\\' || first == quote) {
      text_.push_back('\\');
      text_.push_back(first);
    } else if (size > 0) {
      text_.append(bytes.substr(0, size));
    } else if (first == '\n') {
      text_.append("\\n");
    } else if (first == '\r') {
      text_.append("\\r");
    } else if (first == '\t') {
      text_.append("\\t");
    } else {
      constexpr std::string_view digits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(first);
      text_.append("\\x").push_back(digits[byte >> 4U]);
      text_.push_back(digits[byte & 15U]);
    }
    bytes.remove_prefix(std::max<size_t>(size, 1));
  }
  text_.push_back(quote);
}

}  // namespace rowsocket::exec
