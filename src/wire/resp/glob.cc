// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/glob.h"

#include <algorithm>

namespace rowsocket::wire::resp {
namespace {

/// Whether the byte is one of the class that begins behind `[` at `at`, which goes behind its `]`. A class
/// that nothing ends goes to the end of the pattern, as in Redis.
bool takes_from_class(char byte, std::string_view pattern, size_t& at) {
  const bool is_negated = at < pattern.size() && pattern[at] == '^';
  at += is_negated ? 1 : 0;
  bool is_in = false;
  const auto number = [](char one) { return static_cast<unsigned char>(one); };
  for (; at < pattern.size() && pattern[at] != ']'; ++at) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      is_in = is_in || pattern[++at] == byte;
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      const unsigned char one_end = number(pattern[at]);
      const unsigned char other_end = number(pattern[at + 2]);
      is_in = is_in ||
              (std::min(one_end, other_end) <= number(byte) && number(byte) <= std::max(one_end, other_end));
      at += 2;
    } else {
      is_in = is_in || pattern[at] == byte;
    }
  }
  at = std::min(at + 1, pattern.size());
  return is_in != is_negated;
}

/// Whether the byte is what stands at `at`, which is no `*`. `at` goes behind that.
bool takes(char byte, std::string_view pattern, size_t& at) {
  const char first = pattern[at++];
  if (first == '?') {
    return true;
  }
  if (first == '[') {
    return takes_from_class(byte, pattern, at);
  }
  if (first == '\\' && at < pattern.size()) {
    return pattern[at++] == byte;
  }
  return first == byte;
}

}  // namespace

bool matches_glob(std::string_view text, std::string_view pattern) {
  constexpr size_t none = static_cast<size_t>(-1);
  size_t at = 0;         // in the pattern
  size_t byte = 0;       // in the text
  size_t star = none;    // behind the last `*`
  size_t star_byte = 0;  // where what it stands for ends
  while (byte < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_byte = byte;
      continue;
    }
    if (at < pattern.size() && takes(text[byte], pattern, at)) {
      ++byte;
      continue;
    }
    if (star == none) {
      return false;
    }
    at = star;
    byte = ++star_byte;
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace rowsocket::wire::resp
