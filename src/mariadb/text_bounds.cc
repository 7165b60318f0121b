// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "mariadb/text_bounds.h"

namespace rowsocket::mariadb {
namespace {

constexpr my_wc_t replacement_character = 0xFFFD;
constexpr my_wc_t last_of_two_bytes = 0xFFFF;  // stands behind U+FFFD before version 6 of Unicode's order
constexpr my_wc_t last_code_point = 0x10FFFF;
/// How many characters beside one are tried for a text that stands close to another.
constexpr my_wc_t tried_max = 8;

template <typename Text, typename Other>
int order(const CHARSET_INFO* charset, const Text& text, const Other& other) {
  return charset->strnncollsp(text.data(), text.size(), other.data(), other.size());
}

std::string_view view(const String& text) { return {text.ptr(), text.length()}; }

/// Accents or cases decide only between texts of the same letters.
bool has_levels(const CHARSET_INFO* charset) { return charset->levels_for_order > 1; }

/// Which of two texts stands before the other. For beginnings where a collation has levels, by the letters
/// alone: a row's accents and cases decide nothing until all of its letters are compared, and an index of
/// beginnings has not all of them. `filled_bytes`: of the keys of a CHAR column, else 0.
class Order {
 public:
  Order(CHARSET_INFO* charset, bool is_of_beginnings, size_t filled_bytes)
      : charset_(*charset), filled_bytes_((charset->state & MY_CS_NOPAD) != 0 ? filled_bytes : 0) {
    if (is_of_beginnings) {
      charset_.levels_for_order = 1;
    }
  }

  template <typename Text, typename Other>
  [[nodiscard]] bool is_less(const Text& text, const Other& other) const {
    return filled_bytes_ == 0 ? order(&charset_, text, other) < 0
                              : order_of_filled(&charset_, filled_bytes_, filled({text.data(), text.size()}),
                                                filled({other.data(), other.size()})) < 0;
  }
  [[nodiscard]] bool is_of_filled() const { return filled_bytes_ > 0; }
  [[nodiscard]] bool pads() const { return filled_bytes_ > 0 || (charset_.state & MY_CS_NOPAD) == 0; }

 private:
  /// As the key is.
  [[nodiscard]] std::string filled(std::string_view text) const {
    std::string key(text.substr(0, filled_bytes_));
    key.resize(filled_bytes_);
    const size_t text_bytes = std::min(text.size(), filled_bytes_);
    charset_.fill(key.data() + text_bytes, filled_bytes_ - text_bytes, ' ');
    return key;
  }

  struct charset_info_st charset_;
  size_t filled_bytes_;
};

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

/// The first characters of a text.
struct Beginning {
  std::string_view text;
  std::vector<size_t> ends;  ///< of the characters, as many as a key keeps

  [[nodiscard]] size_t begin_of(size_t number) const { return number == 0 ? 0 : ends[number - 1]; }
  [[nodiscard]] my_wc_t character(const CHARSET_INFO* charset, size_t number) const {
    const auto* const bytes = reinterpret_cast<const uchar*>(text.data());
    my_wc_t found = 0;
    const int length = charset->mb_wc(&found, bytes + begin_of(number), bytes + ends[number]);
    return length <= 0 ? 0 : found;
  }
  /// Its first `count` characters, with another one behind them.
  [[nodiscard]] std::vector<char> with(size_t count, const std::vector<char>& character) const {
    std::vector<char> other(text.begin(), text.begin() + static_cast<ptrdiff_t>(begin_of(count)));
    other.insert(other.end(), character.begin(), character.end());
    return other;
  }
};

/// A text after this one, of at most as many characters as there are `ends`: close to it, if there is such.
std::vector<char> greater_text(const CHARSET_INFO* charset, const Order& order, const Beginning& beginning) {
  const std::vector<std::vector<char>> last = last_characters(charset);
  const auto raises = [&](size_t number, const std::vector<char>& character) {
    return !character.empty() && order.is_less(beginning.text, beginning.with(number, character));
  };
  for (size_t i = beginning.ends.size(); i-- > 0;) {
    const my_wc_t character = beginning.character(charset, i);
    if (character == 0) {
      continue;
    }
    for (my_wc_t step = 1; step <= tried_max; ++step) {
      const std::vector<char> raised = bytes_of(charset, character + step);
      if (raises(i, raised)) {
        return beginning.with(i, raised);
      }
    }
    for (const std::vector<char>& one : last) {
      if (raises(i, one)) {
        return beginning.with(i, one);
      }
    }
  }
  std::vector<char> greater = beginning.with(beginning.ends.size(), {});
  for (const std::vector<char>& one : last) {
    std::vector<char> other = repeated(one, beginning.ends.size());
    if (order.is_less(greater, other)) {
      greater = std::move(other);
    }
  }
  return greater;
}

/// The longest beginning of a text that does not stand after it. Control characters may stand before nothing.
std::vector<char> lesser_text(const CHARSET_INFO* charset, const Order& order, const Beginning& beginning,
                              size_t count) {
  for (;; --count) {
    std::vector<char> lesser = beginning.with(count, {});
    if (!order.is_less(beginning.text, lesser)) {
      return lesser;
    }
    if (count == 0) {
      std::vector<char> least = repeated(bytes_of(charset, charset->min_sort_char), beginning.ends.size());
      return order.is_less(least, lesser) ? least : lesser;
    }
  }
}

/// Of a collation with levels, a text before all beginnings of the same letters: close to them, if there is
/// such. `count` of the first characters are surely in the beginning of every row that has them.
std::vector<char> text_before_letters(CHARSET_INFO* charset, const Order& order, const Beginning& beginning,
                                      size_t count) {
  const std::vector<char> compared = beginning.with(count, {});
  const auto is_before = [&](const std::vector<char>& lesser) {
    return order.is_less(lesser, compared) && order.is_less(lesser, beginning.text);
  };
  for (; count > 0; --count) {
    const size_t begin = beginning.begin_of(count - 1);
    const size_t weight_count =
        weights_of(charset, beginning.text.data() + begin, beginning.ends[count - 1] - begin);
    const my_wc_t character = beginning.character(charset, count - 1);
    for (my_wc_t step = 1; step <= tried_max && step < character; ++step) {
      const std::vector<char> before = bytes_of(charset, character - step);
      if (!before.empty() && weights_of(charset, before.data(), before.size()) <= weight_count &&
          is_before(beginning.with(count - 1, before))) {
        return beginning.with(count - 1, before);
      }
    }
    std::vector<char> shorter = beginning.with(count - 1, {});
    if (is_before(shorter)) {
      return shorter;
    }
  }
  return repeated(bytes_of(charset, charset->min_sort_char), order.pads() ? beginning.ends.size() : 0);
}

/// What is left of a text of a collation with levels is its letters. In a beginning of a row, spaces may
/// stand behind them, and then what makes it another text: so the ends lie beside all that has the same
/// letters.
void find_ends_of_short(CHARSET_INFO* charset, const Order& order, const Beginning& beginning,
                        TextBounds& bounds) {
  const size_t count = beginning.ends.size();
  bounds.lesser = beginning.with(count, bytes_of(charset, charset->min_sort_char));
  if (!order.is_less(bounds.lesser, beginning.text)) {
    bounds.lesser = text_before_letters(charset, order, beginning, count);
  }
  bounds.greater = beginning.with(count, bytes_of(charset, '!'));
  if (!order.is_less(beginning.text, bounds.greater)) {
    bounds.greater = greater_text(charset, order, beginning);
  }
}

/// Where a collation does not pad, a text stands before a longer one. In a CHAR column spaces stand behind
/// it, and so it is in the index behind one that goes on with a control character.
void include_shorter(const CHARSET_INFO* charset, const Order& order, const Beginning& beginning,
                     TextBounds& bounds) {
  const std::vector<char> behind_space = bytes_of(charset, '!');
  for (size_t count = 0; count < beginning.ends.size(); ++count) {
    std::vector<char> behind_shorter = beginning.with(count, behind_space);
    if (order.is_less(bounds.greater, behind_shorter)) {
      bounds.greater = std::move(behind_shorter);
    }
  }
}

std::vector<char> beginning_of(const CHARSET_INFO* charset, std::string_view text, size_t characters_max) {
  const char* const end = text.data() + text.size();
  const auto byte_count = std::min<size_t>(charset->charpos(text.data(), end, characters_max), text.size());
  return {text.data(), text.data() + byte_count};
}

TextBounds all_texts(const CHARSET_INFO* charset, size_t characters_max) {
  TextBounds bounds;
  bounds.lesser = repeated({static_cast<char>(charset->min_sort_char)}, characters_max);
  if (order(charset, bounds.lesser, std::string_view()) > 0) {
    bounds.lesser.clear();
  }
  bounds.greater = repeated(last_characters(charset).front(), characters_max);
  return bounds;
}

/// What an index holds, and what is to stand between the ends.
enum class Bounded : uint8_t {
  whole_texts,
  beginnings_of_equal,   ///< which may have the first of two characters that count as one
  beginnings_of_ordered  ///< the same of texts on one side of the given one
};

bool find_bounds(CHARSET_INFO* charset, std::string_view text, size_t characters_max, Bounded bounded,
                 size_t filled_bytes, TextBounds& bounds) {
  const bool is_beginning = bounded != Bounded::whole_texts;
  if (is_beginning && beginnings_say_nothing(charset)) {
    bounds = all_texts(charset, characters_max);
    return true;
  }
  Beginning beginning{text, {}};
  const char* const end = text.data() + text.size();
  size_t lesser_count = 0;  // of the first characters, what the lesser text has
  size_t weight_count = 0;
  for (const char* at = text.data(); at < end && beginning.ends.size() < characters_max;) {
    const size_t size = charset->charlen_fix(at, end);
    weight_count += is_beginning ? weights_of(charset, at, size) : 1;
    at += size;
    beginning.ends.push_back(static_cast<size_t>(at - text.data()));
    lesser_count = weight_count <= characters_max ? beginning.ends.size() : lesser_count;
  }
  const bool by_letters = is_beginning && has_levels(charset);
  const bool is_short = weight_count < characters_max;
  const Order order(charset, is_beginning, filled_bytes);
  const bool takes_short = by_letters && bounded == Bounded::beginnings_of_ordered && order.pads();
  if (beginning.ends.empty() || (is_short && !takes_short)) {
    return false;
  }
  if (is_short) {
    find_ends_of_short(charset, order, beginning, bounds);
  } else {
    bounds.greater = greater_text(charset, order, beginning);
    bounds.lesser = by_letters ? text_before_letters(charset, order, beginning, lesser_count)
                               : lesser_text(charset, order, beginning, lesser_count);
  }
  if (order.is_of_filled() && bounded == Bounded::beginnings_of_ordered) {
    include_shorter(charset, order, beginning, bounds);
  }
  return true;
}

}  // namespace

// The same call as in InnoDB, where it is as many characters as the longer text has bytes: it is a key.
int order_of_filled(const CHARSET_INFO* charset, size_t key_bytes, std::string_view text,
                    std::string_view other) {
  return charset->coll->strnncollsp_nchars(charset, reinterpret_cast<const uchar*>(text.data()), text.size(),
                                           reinterpret_cast<const uchar*>(other.data()), other.size(),
                                           key_bytes, MY_STRNNCOLLSP_NCHARS_EMULATE_TRIMMED_TRAILING_SPACES);
}

bool may_compare_apart(const CHARSET_INFO* charset) { return charset->strxfrm_multiply > 1; }

bool beginnings_say_nothing(const CHARSET_INFO* charset) {
  constexpr uint weights_of_a_ligature = 2;
  return charset->mbmaxlen == 1 && (has_levels(charset) || charset->strxfrm_multiply > weights_of_a_ligature);
}

std::vector<std::vector<char>> last_characters(const CHARSET_INFO* charset) {
  if (charset->mbmaxlen == 1 && has_levels(charset)) {  // of which the table tells one
    char last = 0;
    for (int byte = 1; byte < 256; ++byte) {
      const auto other = static_cast<char>(byte);
      last = charset->strnncollsp(&last, 1, &other, 1) < 0 ? other : last;
    }
    return {{last}};
  }
  if (charset->mbmaxlen == 1 && charset->sort_order != nullptr) {
    const uchar* const last = std::max_element(charset->sort_order, charset->sort_order + 256);
    return {{static_cast<char>(last - charset->sort_order)}};
  }
  std::vector<std::vector<char>> found;
  for (const my_wc_t character : {replacement_character, last_of_two_bytes, last_code_point}) {
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
  return find_bounds(charset, view(text), characters_max, Bounded::whole_texts, 0, bounds);
}

bool bounds_of_beginning(CHARSET_INFO* charset, const String& text, const String& kept, size_t characters_max,
                         bool is_equal, bool is_filled, TextBounds& bounds) {
  const size_t filled_bytes = is_filled ? characters_max * charset->mbmaxlen : 0;
  const bool is_same = text.length() == kept.length();
  const Bounded bounded = is_equal ? Bounded::beginnings_of_equal : Bounded::beginnings_of_ordered;
  if (!find_bounds(charset, view(kept), characters_max, bounded, filled_bytes, bounds)) {
    if (is_same || charset->numchars(text.ptr(), text.end()) < characters_max) {
      return false;
    }
    bounds.lesser = bounds.greater = beginning_of(charset, view(kept), characters_max);
  }
  if (!is_same) {
    // A row that has the same characters, those that do not count as well, begins as the text does.
    std::vector<char> beginning = beginning_of(charset, view(text), characters_max);
    const Order order(charset, false, filled_bytes);
    if (order.is_less(beginning, bounds.lesser)) {
      bounds.lesser = std::move(beginning);
    } else if (order.is_less(bounds.greater, beginning)) {
      bounds.greater = std::move(beginning);
    }
  }
  return true;
}

}  // namespace rowsocket::mariadb
