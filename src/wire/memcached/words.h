// SPDX-License-Identifier: GPL-2.0-only
//
// A command line, word by word, and numbers as memcached takes them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace rowsocket::wire::memcached {

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) { skip_spaces(); }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  /// Empty at the end.
  std::string_view next() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    skip_spaces();
    return word;
  }
  /// The client wants no reply to what it asks: whatever the words before say.
  [[nodiscard]] bool end_with_noreply() const {
    const std::string_view words = rest_.substr(0, rest_.find_last_not_of(' ') + 1);
    return words == "noreply" || words.ends_with(" noreply");
  }
  [[nodiscard]] size_t count_left() const {
    Words words(rest_);
    size_t count = 0;
    for (; !words.at_end(); words.next()) {
      ++count;
    }
    return count;
  }

 private:
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  std::string_view rest_;
};

/// The whole word is a decimal number that fits. A plus before it is taken, and so is a minus before a zero.
template <typename Number>
[[nodiscard]] bool parse_number(std::string_view word, Number& number) {
  const bool is_minus_zero =
      word.size() > 1 && word[0] == '-' && word.find_first_not_of('0', 1) == std::string_view::npos;
  if (is_minus_zero || (word.size() > 1 && word[0] == '+' && word[1] != '-')) [[unlikely]] {
    word.remove_prefix(1);
  }
  const char* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, number);
  return !word.empty() && parsed.ec == std::errc() && parsed.ptr == end;
}

}  // namespace rowsocket::wire::memcached
