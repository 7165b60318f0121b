// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "mariadb/text_bounds.h"

namespace rowsocket::mariadb {
namespace {

constexpr my_wc_t replacement_character = 0xFFFD;
constexpr my_wc_t last_code_point = 0x10FFFF;

template <typename Text, typename Other>
int order(const CHARSET_INFO* charset, const Text& text, const Other& other) {
  return charset->strnncollsp(text.data(), text.size(), other.data(), other.size());
}

std::string_view view(const String& text) { return {text.ptr(), text.length()}; }

/// Empty if the character set lacks it.
std::vector<char> bytes_of(const CHARSET_INFO* charset, my_wc_t character) {
  uchar bytes[8];
  const int length = charset->wc_mb(character, bytes, bytes + sizeof(bytes));
  my_wc_t again = 0;
  if (character > last_code_point || length <= 0 || charset->mb_wc(&again, bytes, bytes + length) != length) {
    return {};
  }
  return {bytes, bytes + length};
}

std::vector<char> repeated(const std::vector<char>& character, size_t count) {
  std::vector<char> text;
  text.reserve(character.size() * count);
  for (size_t i = 0; i < count; ++i) {
    text.insert(text.end(), character.begin(), character.end());
  }
  return text;
}

/// For how many characters a character counts, at most.
size_t weights_of(CHARSET_INFO* charset, const char* text, size_t size) {
  uchar weights[64];
  const size_t byte_count =
      charset->coll->strnxfrm(charset, weights, sizeof(weights), sizeof(weights),
                              reinterpret_cast<const uchar*>(text), size, MY_STRXFRM_LEVEL1);
  const size_t bytes_each = (charset->state & MY_CS_UNICODE) != 0 ? 2 : 1;
  return std::max<size_t>(byte_count / bytes_each, 1);
}

/// The beginning of a text with another character behind it, if that stands after the whole text.
bool raise_last(const CHARSET_INFO* charset, std::string_view text, size_t kept_bytes,
                const std::vector<char>& character, std::vector<char>& greater) {
  if (character.empty()) {
    return false;
  }
  greater.assign(text.begin(), text.begin() + static_cast<ptrdiff_t>(kept_bytes));
  greater.insert(greater.end(), character.begin(), character.end());
  return order(charset, greater, text) > 0;
}

/// A text after this one, of at most as many characters as there are `ends`: close to it, if there is such.
std::vector<char> greater_text(const CHARSET_INFO* charset, std::string_view text,
                               const std::vector<size_t>& ends) {
  constexpr my_wc_t tried_max = 8;
  const std::vector<std::vector<char>> last = last_characters(charset);
  std::vector<char> greater;
  for (size_t i = ends.size(); i-- > 0;) {
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    const auto* const at = reinterpret_cast<const uchar*>(text.data()) + begin;
    my_wc_t character = 0;
    if (charset->mb_wc(&character, at, reinterpret_cast<const uchar*>(text.data()) + ends[i]) <= 0) {
      continue;
    }
    for (my_wc_t step = 1; step <= tried_max; ++step) {
      if (raise_last(charset, text, begin, bytes_of(charset, character + step), greater)) {
        return greater;
      }
    }
    for (const std::vector<char>& one : last) {
      if (raise_last(charset, text, begin, one, greater)) {
        return greater;
      }
    }
  }
  greater.assign(text.begin(), text.begin() + static_cast<ptrdiff_t>(ends.back()));
  for (const std::vector<char>& one : last) {
    std::vector<char> other = repeated(one, ends.size());
    if (order(charset, other, greater) > 0) {
      greater = std::move(other);
    }
  }
  return greater;
}

/// The longest beginning of a text that does not stand after it. Control characters may stand before nothing.
std::vector<char> lesser_text(const CHARSET_INFO* charset, std::string_view text,
                              const std::vector<size_t>& ends, size_t count) {
  for (;; --count) {
    std::vector<char> lesser(text.begin(),
                             text.begin() + static_cast<ptrdiff_t>(count == 0 ? 0 : ends[count - 1]));
    if (order(charset, lesser, text) <= 0) {
      return lesser;
    }
    if (count == 0) {
      std::vector<char> least = repeated(bytes_of(charset, charset->min_sort_char), ends.size());
      return order(charset, least, lesser) < 0 ? least : lesser;
    }
  }
}

std::vector<char> beginning_of(const CHARSET_INFO* charset, std::string_view text, size_t characters_max) {
  const char* const end = text.data() + text.size();
  const auto byte_count = std::min<size_t>(charset->charpos(text.data(), end, characters_max), text.size());
  return {text.data(), text.data() + byte_count};
}

/// `is_prefix`: of the beginning of a column, which may have the first of two characters that count as one.
bool find_bounds(CHARSET_INFO* charset, std::string_view text, size_t characters_max, bool is_prefix,
                 TextBounds& bounds) {
  std::vector<size_t> ends;  // of the first characters, as many as a key keeps
  const char* const end = text.data() + text.size();
  size_t lesser_count = 0;  // of those, what the lesser text has
  size_t weight_count = 0;
  for (const char* at = text.data(); at < end && ends.size() < characters_max;) {
    const size_t size = charset->charlen_fix(at, end);
    weight_count += is_prefix ? weights_of(charset, at, size) : 1;
    at += size;
    ends.push_back(static_cast<size_t>(at - text.data()));
    lesser_count = weight_count <= characters_max ? ends.size() : lesser_count;
  }
  if (ends.empty() || weight_count < characters_max) {
    return false;
  }
  bounds.greater = greater_text(charset, text, ends);
  bounds.lesser = lesser_text(charset, text, ends, lesser_count);
  return true;
}

}  // namespace

bool may_compare_apart(const CHARSET_INFO* charset) { return charset->strxfrm_multiply > 1; }

std::vector<std::vector<char>> last_characters(const CHARSET_INFO* charset) {
  if (charset->mbmaxlen == 1 && charset->sort_order != nullptr) {
    const uchar* const last = std::max_element(charset->sort_order, charset->sort_order + 256);
    return {{static_cast<char>(last - charset->sort_order)}};
  }
  std::vector<std::vector<char>> found;
  for (const my_wc_t character : {replacement_character, last_code_point}) {
    std::vector<char> bytes = bytes_of(charset, character);
    if (!bytes.empty()) {
      found.push_back(std::move(bytes));
    }
  }
  return found;
}

bool take_without_ignored(CHARSET_INFO* charset, const String& text, String& kept) {
  kept.length(0);
  kept.set_charset(charset);
  const char* const end = text.ptr() + text.length();
  for (const char* at = text.ptr(); at < end;) {
    const size_t size = charset->charlen_fix(at, end);
    const bool is_ignored = charset->strnncollsp(at, size, "", 0) == 0 && charset->lengthsp(at, size) > 0;
    if (!is_ignored && kept.append(at, size, charset)) {
      return false;
    }
    at += size;
  }
  const bool is_equal = charset->strnncollsp(kept.ptr(), kept.length(), text.ptr(), text.length()) == 0;
  return is_equal || !kept.copy(text);
}

bool bounds_of_text(CHARSET_INFO* charset, const String& text, size_t characters_max, TextBounds& bounds) {
  return find_bounds(charset, view(text), characters_max, false, bounds);
}

bool bounds_of_beginning(CHARSET_INFO* charset, const String& text, const String& kept, size_t characters_max,
                         TextBounds& bounds) {
  const bool is_same = text.length() == kept.length();
  if (!find_bounds(charset, view(kept), characters_max, true, bounds)) {
    if (is_same) {
      return false;
    }
    bounds.lesser = bounds.greater = beginning_of(charset, view(kept), characters_max);
  }
  if (!is_same) {
    // A row that has the same characters, those that do not count as well, begins as the text does.
    std::vector<char> beginning = beginning_of(charset, view(text), characters_max);
    if (order(charset, beginning, bounds.lesser) < 0) {
      bounds.lesser = std::move(beginning);
    } else if (order(charset, beginning, bounds.greater) > 0) {
      bounds.greater = std::move(beginning);
    }
  }
  return true;
}

}  // namespace rowsocket::mariadb
