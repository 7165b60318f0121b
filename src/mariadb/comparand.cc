// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>

#include "mariadb/comparand.h"
#include "mariadb/conversion.h"
#include "mariadb/searched_time.h"

namespace rowsocket::mariadb {

using sql_values::WholeNumber;

Error Comparand::prepare(THD* thd, Field* field, const Value& given, bool raw) {
  char now_text[MAX_DATE_STRING_REP_LENGTH];
  const Value value = searched_value(thd, field, given, now_text);
  thd_ = thd;
  field_ = field;
  fit_ = Fit::exact;
  if (value.is_null()) {
    kind_ = Kind::null;
    return {};
  }
  if (is_string_column(field) || is_of_members(field)) {
    return prepare_text(value, raw);
  }
  const bool is_integer = field->cmp_type() == INT_RESULT && field->result_type() == INT_RESULT &&
                          field->real_type() != MYSQL_TYPE_BIT && field->type() != MYSQL_TYPE_YEAR;
  if (is_integer && parse(value.view(), number_)) {
    kind_ = Kind::integer;
    fit_ = fit_in_64_bits(number_);
    return {};
  }
  return prepare_image(thd, value, raw);
}

Error Comparand::prepare_text(const Value& value, bool raw) {
  kind_ = Kind::text;
  CHARSET_INFO* const from = wire_charset(field_, raw);
  CHARSET_INFO* const to = field_->charset();
  if (from == to || to == &my_charset_bin || my_charset_same(from, to)) {
    bytes_.assign(value.data, value.data + value.size);
    if (to == &my_charset_bin && field_->real_type() == MYSQL_TYPE_STRING) {
      bytes_.resize(std::max<size_t>(value.size, field_->field_length));  // zeros, as a key is filled
    }
    return {};
  }
  bytes_.resize(value.size * to->mbmaxlen);
  uint failed_characters = 0;
  const size_t written =
      copy_and_convert(bytes_.data(), bytes_.size(), to, value.data, value.size, from, &failed_characters);
  bytes_.resize(written);
  // A character that the column can not hold equals no row; where it would sort is the replacement's place.
  fit_ = failed_characters > 0 ? Fit::above : Fit::exact;
  return {};
}

Error Comparand::prepare_image(THD* thd, const Value& value, bool raw) {
  kind_ = Kind::image;
  Error error;
  const SecondRecord second(field_->table, field_);
  fit_ = store_searched(thd, field_, value, raw, error);
  if (fit_ == Fit::malformed) {
    return error;
  }
  if (is_shown_twice(thd, field_, value, shown_)) [[unlikely]] {
    kind_ = Kind::shown_time;
    fit_ = Fit::exact;
    return {};
  }
  // One byte more than the image: some 3-byte comparisons read 4.
  bytes_.assign(field_->pack_length() + 1, 0);
  if (field_->real_type() == MYSQL_TYPE_BIT) {
    kind_ = Kind::integer;
    number_ = WholeNumber::of(field_->val_int(), true);  // BIT keeps some bits elsewhere in the record
    return {};
  }
  std::memcpy(bytes_.data(), field_->ptr, field_->pack_length());
  return {};
}

bool Comparand::row_is_unset() const {
  if (field_->is_null()) {
    return true;
  }
  if (field_->cmp_type() != STRING_RESULT) {
    return field_->val_real() == 0;  // dates as well: 0000-00-00
  }
  StringBuffer<16> buffer;
  const String* const text = field_->val_str(&buffer);
  const auto* const begin = reinterpret_cast<const uchar*>(text->ptr());
  my_wc_t character = 0;
  const int bytes = field_->charset()->mb_wc(&character, begin, begin + text->length());
  return bytes == static_cast<int>(text->length()) && character == '0';
}

int Comparand::compare_row() const {
  if (field_->is_null()) {
    return kind_ == Kind::null ? 0 : -1;
  }
  int order = 0;
  switch (kind_) {
    case Kind::null:
      return 1;
    case Kind::integer:
      order = compare(WholeNumber::of(field_->val_int(), (field_->flags & UNSIGNED_FLAG) != 0), number_);
      break;
    case Kind::text: {
      StringBuffer<MAX_FIELD_WIDTH> buffer;
      const String* const row = field_->val_str(&buffer);
      CHARSET_INFO* const charset = field_->charset();
      order = charset->strnncollsp(row->ptr(), row->length(), bytes_.data(), bytes_.size());
      break;
    }
    case Kind::image:
      order = field_->cmp(field_->ptr, reinterpret_cast<const uchar*>(bytes_.data()));
      break;
    case Kind::shown_time: {
      const longlong row = field_->val_datetime_packed(thd_);
      order = row < shown_ ? -1 : row > shown_ ? 1 : 0;
      break;
    }
  }
  return sql_values::order_to_searched(order, fit_);
}

}  // namespace rowsocket::mariadb
