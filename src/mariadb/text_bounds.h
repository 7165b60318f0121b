// SPDX-License-Identifier: GPL-2.0-only
//
// Where in an index the texts stand that are equal to a longer one. In some collations a character counts as
// two (ß as ss), two as one, or one for nothing. So a text that has no room in a key may equal one that has,
// and an index of beginnings may have another beginning for it. Any thread.
#pragma once

#include <string_view>
#include <vector>

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// One text to the other, as an index of a CHAR column orders them: spaces stand behind both, also where the
/// collation does not pad, up to so many bytes as a key of the index has.
[[nodiscard]] int order_of_filled(const CHARSET_INFO* charset, size_t key_bytes, std::string_view text,
                                  std::string_view other);

/// False where each character is compared with one character.
[[nodiscard]] bool may_compare_apart(const CHARSET_INFO* charset);

/// Where a text sorts, its beginning does not say: collations of single bytes look at a word twice (Czech),
/// or take characters in another order than they stand in (Thai).
[[nodiscard]] bool beginnings_say_nothing(const CHARSET_INFO* charset);

/// The characters of which one sorts last. Of single bytes it is known which; else it is not always the same
/// one, so there are three. Empty where the character set lacks them.
[[nodiscard]] std::vector<std::vector<char>> last_characters(const CHARSET_INFO* charset);

/// The text without what its collation ignores, where the two are equal; else as it is. False without memory.
[[nodiscard]] bool take_without_ignored(CHARSET_INFO* charset, const String& text, String& kept);

/// Two texts, of at most as many characters as a key keeps.
struct TextBounds {
  std::vector<char> lesser;   ///< at or before what may be equal
  std::vector<char> greater;  ///< at or after it
};

/// The ends of what may be equal to a text that fills a key or is longer. False of a shorter one.
[[nodiscard]] bool bounds_of_text(CHARSET_INFO* charset, const String& text, size_t characters_max,
                                  TextBounds& bounds);

/// The same where a key keeps the beginnings of a column. Such a beginning may have characters that do not
/// count, or the first of two that count as one, and so stand elsewhere than the text. `kept`: the text
/// without what its collation ignores. `is_equal`: equal texts are sought, none before or behind it.
/// `is_filled`: the column is a CHAR.
[[nodiscard]] bool bounds_of_beginning(CHARSET_INFO* charset, const String& text, const String& kept,
                                       size_t characters_max, bool is_equal, bool is_filled,
                                       TextBounds& bounds);

}  // namespace rowsocket::mariadb
