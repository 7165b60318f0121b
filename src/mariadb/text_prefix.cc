// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>
#include <utility>

#include "mariadb/conversion.h"
#include "mariadb/text_bounds.h"
#include "mariadb/text_prefix.h"

namespace rowsocket::mariadb {
namespace {

constexpr int escape_character = 1;  // not all character sets have the usual one
constexpr int any_character = '_';
constexpr int any_text = '%';

/// Fill the greatest text with a character, from a place on, if that moves it outwards.
void raise_with(const std::vector<char>& character, const CHARSET_INFO* charset, size_t place,
                std::vector<char>& greatest) {
  std::vector<char> raised = greatest;
  for (; place + character.size() <= raised.size(); place += character.size()) {
    std::copy(character.begin(), character.end(), raised.begin() + static_cast<ptrdiff_t>(place));
  }
  if (charset->strnncollsp(greatest.data(), greatest.size(), raised.data(), raised.size()) < 0) {
    greatest = std::move(raised);
  }
}

/// For LIKE, the one-character pattern finds the text.
bool finds(const CHARSET_INFO* charset, const char* pattern, size_t pattern_size, const char* text,
           size_t text_size) {
  return charset->wildcmp(text, text + text_size, pattern, pattern + pattern_size, escape_character,
                          any_character, any_text) == 0;
}

/// The character sorts elsewhere together with some next one, as `c` does with `h` in Czech. So does one that
/// LIKE takes for such a character.
bool may_join(const CHARSET_INFO* charset, const MY_CONTRACTIONS* contractions, my_wc_t character,
              const char* bytes, size_t size) {
  if (my_uca_can_be_contraction_head(contractions, character) != 0) {
    return true;
  }
  constexpr my_wc_t last_ascii = 0x7F;  // variants of other letters stand behind it
  for (size_t i = 0; character > last_ascii && i < contractions->nitems; ++i) {
    uchar head[8];
    const int length = charset->wc_mb(contractions->item[i].ch[0], head, head + sizeof(head));
    if (length > 0 &&
        finds(charset, bytes, size, reinterpret_cast<char*>(head), static_cast<size_t>(length))) {
      return true;
    }
  }
  return false;
}

/// LIKE takes another character for this one, which sorts elsewhere: ` for E in tis620_thai_ci.
bool is_found_elsewhere(const CHARSET_INFO* charset, char character) {
  if (charset->mbmaxlen > 1 || charset->sort_order == nullptr) {
    return false;
  }
  const uchar* const weights = charset->sort_order;
  for (int other = 0; other < 256; ++other) {
    const auto byte = static_cast<char>(other);
    if (weights[other] == weights[static_cast<uchar>(character)] &&
        charset->strnncollsp(&byte, 1, &character, 1) != 0) {
      return true;
    }
  }
  return false;
}

/// A vowel that is written before its consonant, and sorts behind it.
bool sorts_behind_the_next(const CHARSET_INFO* charset, char character) {
  constexpr char thai_consonant = '\xA1';
  const char pair[] = {character, thai_consonant};
  const char turned[] = {thai_consonant, character};
  return beginnings_say_nothing(charset) && character != thai_consonant &&
         charset->strnncollsp(pair, 2, turned, 2) == 0;
}

}  // namespace

/// The value in the column's character set, with what LIKE would take for a wildcard escaped, and a % behind
/// it.
bool TextPrefix::set(Field* field, const Value& value, bool raw) {
  field_ = field;
  CHARSET_INFO* const charset = field->charset();
  CHARSET_INFO* const from = wire_charset(field, raw);
  uint failed_characters = 0;
  std::vector<char> text(value.data, value.data + value.size);
  if (from != charset) {
    text.resize(value.size * charset->mbmaxlen);
    text.resize(copy_and_convert(text.data(), text.size(), charset, value.data, value.size, from,
                                 &failed_characters));
  }
  pattern_.resize(2 * text.size() + 2 * charset->mbmaxlen);
  auto* out = reinterpret_cast<uchar*>(pattern_.data());
  uchar* const out_end = out + pattern_.size();
  const auto put = [&](my_wc_t character) { out += std::max(charset->wc_mb(character, out, out_end), 0); };
  const auto* in = reinterpret_cast<const uchar*>(text.data());
  const auto* const in_end = in + text.size();
  const MY_CONTRACTIONS* const contractions = my_charset_get_contractions(charset, 0);
  const uchar* ranged_end = nullptr;  // where the first character begins that a range can not go by
  const uchar* variant = nullptr;     // the last character, if LIKE takes it for one that may join the next
  while (in < in_end) {
    my_wc_t character = 0;
    const uchar* const begin = out;
    int length = charset->mb_wc(&character, in, in_end);
    if (length <= 0 && charset->mbmaxlen == 1) {  // a byte that means no character
      character = *in;
      length = 1;
    }
    if (length <= 0) {
      return false;
    }
    if (character == escape_character || character == any_character || character == any_text) {
      put(escape_character);
    }
    std::memcpy(out, in, static_cast<size_t>(length));
    const auto* const bytes = reinterpret_cast<const char*>(in);
    out += length;
    in += length;
    if (ranged_end != nullptr) {
      continue;
    }
    if (contractions == nullptr) {
      const bool is_elsewhere =
          is_found_elsewhere(charset, *bytes) || (in == in_end && sorts_behind_the_next(charset, *bytes));
      ranged_end = is_elsewhere ? begin : nullptr;
      continue;
    }
    if (variant != nullptr && my_uca_can_be_contraction_tail(contractions, character) != 0) {
      ranged_end = variant;
      continue;
    }
    const bool joins = may_join(charset, contractions, character, bytes, static_cast<size_t>(length));
    variant = joins && my_uca_can_be_contraction_head(contractions, character) == 0 ? begin : nullptr;
    ranged_end = joins && in == in_end ? begin : nullptr;
  }
  ranged_end = ranged_end != nullptr ? ranged_end : out;
  ranged_bytes_ = static_cast<size_t>(ranged_end - reinterpret_cast<uchar*>(pattern_.data()));
  put(any_text);
  pattern_.resize(static_cast<size_t>(reinterpret_cast<char*>(out) - pattern_.data()));
  return failed_characters == 0;
}

bool TextPrefix::matches_row() const {
  if (field_->is_null()) {
    return false;
  }
  StringBuffer<256> buffer;
  const String* const text = field_->val_str(&buffer);
  return field_->charset()->wildcmp(text->ptr(), text->ptr() + text->length(), pattern_.data(),
                                    pattern_.data() + pattern_.size(), escape_character, any_character,
                                    any_text) == 0;
}

// The server's own range leaves out rows that LIKE finds, so the ends are moved outwards here. A row between
// them is compared with the pattern anyway.
bool TextPrefix::range(size_t byte_count, std::vector<char>& least, std::vector<char>& greatest) const {
  const CHARSET_INFO* const charset = field_->charset();
  if (ranged_bytes_ == 0) {
    return false;
  }
  std::vector<char> pattern(pattern_.begin(), pattern_.begin() + static_cast<ptrdiff_t>(ranged_bytes_));
  pattern.insert(pattern.end(), pattern_.end() - charset->mbminlen, pattern_.end());  // the %
  least.resize(byte_count);
  greatest.resize(byte_count);
  size_t least_size = 0;
  size_t greatest_size = 0;
  if (charset->like_range(pattern.data(), pattern.size(), escape_character, any_character, any_text,
                          byte_count, least.data(), greatest.data(), &least_size, &greatest_size)) {
    return false;
  }
  // The server filled both from here on: the greatest with U+FFFF, which is not the last one in all
  // collations.
  auto place =
      static_cast<size_t>(std::mismatch(least.begin(), least.end(), greatest.begin()).first - least.begin());
  place -= place % charset->mbminlen;
  for (const std::vector<char>& character : last_characters(charset)) {
    raise_with(character, charset, place, greatest);
  }
  // Columns of a fixed length are compared over the whole of it, which is padded; of the others the length
  // counts. Where a collation pads with spaces, "a" with a TAB behind it stands before "a" alone, so the
  // least text is filled.
  const bool is_variable = (field_->flags & BLOB_FLAG) != 0 || field_->real_type() == MYSQL_TYPE_VARCHAR;
  const bool pads = (charset->state & MY_CS_NOPAD) == 0;
  least.resize(is_variable && !pads ? least_size : byte_count);
  greatest.resize(is_variable ? greatest_size : byte_count);
  return true;
}

}  // namespace rowsocket::mariadb
