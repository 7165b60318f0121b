// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "mariadb/text_bounds.h"

namespace rowsocket::mariadb {
namespace {

constexpr my_wc_t replacement_character = 0xFFFD;
constexpr my_wc_t last_character = 0x10FFFF;

int order(const CHARSET_INFO* charset, const std::vector<char>& text, const String& searched) {
  return charset->strnncollsp(text.data(), text.size(), searched.ptr(), searched.length());
}

int order(const CHARSET_INFO* charset, const std::vector<char>& text, const std::vector<char>& other) {
  return charset->strnncollsp(text.data(), text.size(), other.data(), other.size());
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
bool raise_last(const CHARSET_INFO* charset, const String& text, size_t kept_bytes, my_wc_t character,
                std::vector<char>& greater) {
  uchar bytes[8];
  const int length = charset->wc_mb(character, bytes, bytes + sizeof(bytes));
  if (length <= 0) {
    return false;  // the character set lacks it
  }
  greater.assign(text.ptr(), text.ptr() + kept_bytes);
  greater.insert(greater.end(), bytes, bytes + length);
  return order(charset, greater, text) > 0;
}

bool find_greater(const CHARSET_INFO* charset, const String& text, const std::vector<size_t>& ends,
                  std::vector<char>& greater) {
  constexpr my_wc_t tried_max = 8;
  for (size_t i = ends.size(); i-- > 0;) {
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    const auto* const at = reinterpret_cast<const uchar*>(text.ptr()) + begin;
    my_wc_t character = 0;
    if (charset->mb_wc(&character, at, reinterpret_cast<const uchar*>(text.ptr()) + ends[i]) <= 0) {
      continue;
    }
    for (my_wc_t step = 1; step <= tried_max; ++step) {
      if (raise_last(charset, text, begin, character + step, greater)) {
        return true;
      }
    }
    for (const my_wc_t last : {replacement_character, last_character}) {
      if (raise_last(charset, text, begin, last, greater)) {
        return true;
      }
    }
  }
  return false;
}

std::vector<char> beginning_of(const CHARSET_INFO* charset, const String& text, size_t characters_max) {
  const size_t byte_count =
      std::min<size_t>(charset->charpos(text.ptr(), text.end(), characters_max), text.length());
  return {text.ptr(), text.ptr() + byte_count};
}

bool find_bounds(CHARSET_INFO* charset, const String& text, size_t characters_max, bool is_prefix,
                 TextBounds& bounds) {
  std::vector<size_t> ends;  // of the first characters, as many as a key keeps
  const char* const end = text.ptr() + text.length();
  size_t lesser_count = 0;  // of those, what the lesser text has
  size_t weight_count = 0;
  for (const char* at = text.ptr(); at < end && ends.size() < characters_max;) {
    const size_t size = charset->charlen_fix(at, end);
    weight_count += is_prefix ? weights_of(charset, at, size) : 1;
    at += size;
    ends.push_back(static_cast<size_t>(at - text.ptr()));
    lesser_count = weight_count <= characters_max ? ends.size() : lesser_count;
  }
  if (ends.empty() || weight_count < characters_max || !find_greater(charset, text, ends, bounds.greater)) {
    return false;
  }
  for (;; --lesser_count) {
    bounds.lesser.assign(text.ptr(), text.ptr() + (lesser_count == 0 ? 0 : ends[lesser_count - 1]));
    if (order(charset, bounds.lesser, text) <= 0) {
      return true;
    }
    if (lesser_count == 0) {
      return false;
    }
  }
}

}  // namespace

bool may_compare_apart(const CHARSET_INFO* charset) { return charset->strxfrm_multiply > 1; }

bool take_without_ignored(CHARSET_INFO* charset, const String& text, String& kept) {
  kept.length(0);
  kept.set_charset(charset);
  const char* const end = text.ptr() + text.length();
  for (const char* at = text.ptr(); at < end;) {
    const size_t size = charset->charlen_fix(at, end);
    const bool is_ignored = charset->strnncollsp(at, size, "", 0) == 0 && charset->lengthsp(at, size) > 0;
    if (!is_ignored && kept.append(at, size)) {
      return false;
    }
    at += size;
  }
  const bool is_equal = charset->strnncollsp(kept.ptr(), kept.length(), text.ptr(), text.length()) == 0;
  return is_equal || !kept.copy(text);
}

bool bounds_of_text(CHARSET_INFO* charset, const String& text, size_t characters_max, TextBounds& bounds) {
  return find_bounds(charset, text, characters_max, false, bounds);
}

bool bounds_of_beginning(CHARSET_INFO* charset, const String& text, const String& kept, size_t characters_max,
                         TextBounds& bounds) {
  const bool is_same = text.length() == kept.length();
  if (!find_bounds(charset, kept, characters_max, true, bounds)) {
    if (is_same) {
      return false;
    }
    bounds.lesser = bounds.greater = beginning_of(charset, kept, characters_max);
  }
  if (!is_same) {
    // A row that has the same characters, those that do not count as well, begins as the text does.
    std::vector<char> beginning = beginning_of(charset, text, characters_max);
    if (order(charset, beginning, bounds.lesser) < 0) {
      bounds.lesser = std::move(beginning);
    } else if (order(charset, beginning, bounds.greater) > 0) {
      bounds.greater = std::move(beginning);
    }
  }
  return true;
}

}  // namespace rowsocket::mariadb
