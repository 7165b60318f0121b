// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"

namespace rowsocket::mariadb {
namespace {

/// A whole number in text: sign and magnitude, so that both ends of BIGINT and BIGINT UNSIGNED are exact.
struct Integer {
  bool is_negative = false;
  uint64_t magnitude = 0;
};

/// False if the text is not a plain whole number; `overflow` if it is one beyond 64 bits.
bool parse_integer(std::string_view text, Integer& number, bool& overflow) {
  overflow = false;
  const char* from = text.data();
  const char* const end = from + text.size();
  number.is_negative = from != end && *from == '-';
  if (from != end && (*from == '-' || *from == '+')) {
    ++from;
  }
  const auto [stop, failure] = std::from_chars(from, end, number.magnitude);
  if (stop != end || from == end) {
    return false;
  }
  overflow = failure == std::errc::result_out_of_range;
  return true;
}

/// The number's bits in two's complement if the column can hold it; else which side it lies on.
Fit fit_integer(const Integer& number, bool overflow, const KeyPart& part, uint64_t& bits) {
  const unsigned bit_count = part.integer_bytes * 8U;
  const uint64_t signed_max = (uint64_t{1} << (bit_count - 1)) - 1;
  const uint64_t max = part.is_unsigned ? signed_max * 2 + 1 : signed_max;
  const uint64_t negative_max = part.is_unsigned ? 0 : signed_max + 1;
  const bool is_negative = number.is_negative && (overflow || number.magnitude > 0);
  if (is_negative) {
    if (overflow || number.magnitude > negative_max) {
      bits = ~negative_max + 1;
      return Fit::below;
    }
    bits = ~number.magnitude + 1;
    return Fit::exact;
  }
  if (overflow || number.magnitude > max) {
    bits = max;
    return Fit::above;
  }
  bits = number.magnitude;
  return Fit::exact;
}

/// The current time as text, as NOW() would be stored in the field or compared with it.
std::string_view now_as_text(THD* thd, const Field* field, char (&text)[MAX_DATE_STRING_REP_LENGTH]) {
  MYSQL_TIME now;
  thd->variables.time_zone->gmt_sec_to_TIME(&now, thd->query_start());
  now.second_part = thd->query_start_sec_part();
  thd->used |= THD::TIME_ZONE_USED;
  switch (field->type()) {
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_NEWDATE:
      now.time_type = MYSQL_TIMESTAMP_DATE;
      return {text, static_cast<size_t>(my_date_to_str(&now, text))};
    case MYSQL_TYPE_TIME:
      now.time_type = MYSQL_TIMESTAMP_TIME;
      now.year = now.month = now.day = 0;
      return {text, static_cast<size_t>(my_time_to_str(&now, text, field->decimals()))};
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP:
      return {text, static_cast<size_t>(my_datetime_to_str(&now, text, field->decimals()))};
    case MYSQL_TYPE_YEAR:
      return {text, static_cast<size_t>(std::snprintf(text, sizeof(text), "%04u", now.year))};
    default:
      break;
  }
  if (field->cmp_type() == STRING_RESULT) {
    return {text, static_cast<size_t>(my_datetime_to_str(&now, text, 0))};
  }
  return {text, static_cast<size_t>(std::snprintf(text, sizeof(text), "%04u%02u%02u%02u%02u%02u", now.year, now.month, now.day,
                                                  now.hour, now.minute, static_cast<unsigned>(now.second)))};
}

/// Points a field at the table's second record while it lives.
class SecondRecord {
 public:
  SecondRecord(TABLE* table, Field* field) : field_(field), distance_(table->record[1] - table->record[0]) {
    field_->move_field_offset(distance_);
  }
  SecondRecord(const SecondRecord&) = delete;
  SecondRecord& operator=(const SecondRecord&) = delete;
  ~SecondRecord() { field_->move_field_offset(-distance_); }

 private:
  Field* field_;
  my_ptrdiff_t distance_;
};

bool is_negative_text(const Value& value) { return value.size > 0 && value.data[0] == '-'; }

/// On which side of the stored number the searched one lies: more digits than the column has are rounded with no more than a
/// note.
Fit side_of_number(Field* field, const Value& value) {
  my_decimal wanted;
  my_decimal stored;
  str2my_decimal(0, value.data, value.size, &my_charset_utf8mb4_general_ci, &wanted);
  const int side = my_decimal_cmp(&wanted, field->val_decimal(&stored));
  return side == 0 ? Fit::exact : side < 0 ? Fit::below : Fit::above;
}

/// The same for dates and times, whose surplus digits are cut or, as sql_mode says, rounded: fractions of a second, and the time of
/// day where the column is a date.
Fit side_of_time(const THD* thd, const Field* field, const Value& value) {
  std::string_view surplus = value.view();
  const bool is_date = field->type() == MYSQL_TYPE_DATE;
  if (is_date) {
    surplus.remove_prefix(std::min(surplus.find_first_of(" T"), surplus.size()));
  } else {
    const size_t point = surplus.find('.');
    surplus.remove_prefix(point == std::string_view::npos ? surplus.size()
                                                          : std::min(point + 1 + field->decimals(), surplus.size()));
  }
  if (surplus.find_first_of("123456789") == std::string_view::npos) {
    return Fit::exact;
  }
  const bool is_rounded_up = !is_date && (thd->variables.sql_mode & MODE_TIME_ROUND_FRACTIONAL) != 0 && surplus[0] >= '5';
  return is_negative_text(value) != is_rounded_up ? Fit::below : Fit::above;
}

Fit side_of_stored(const THD* thd, Field* field, const Value& value) {
  switch (field->cmp_type()) {
    case INT_RESULT:
    case DECIMAL_RESULT:
      return field->real_type() == MYSQL_TYPE_BIT ? Fit::exact : side_of_number(field, value);
    case TIME_RESULT:
      return side_of_time(thd, field, value);
    default:
      return Fit::exact;
  }
}

bool is_well_formed(const Field* field, const Value& value, bool raw) {
  const Well_formed_prefix prefix(wire_charset(field, raw), value.data, value.size);
  return prefix.length() == value.size;
}

/// An empty text searched in a number column is 0, as SQL compares; clients walk a table from its start with it.
Value searched_value(THD* thd, const Field* field, const Value& value, char (&now_text)[MAX_DATE_STRING_REP_LENGTH]) {
  if (value.is_now()) [[unlikely]] {
    return Value(now_as_text(thd, field, now_text));
  }
  const bool is_number =
      field->cmp_type() == INT_RESULT || field->cmp_type() == DECIMAL_RESULT || field->cmp_type() == REAL_RESULT;
  return is_number && !value.is_null() && value.size == 0 && field->real_type() != MYSQL_TYPE_BIT ? Value("0") : value;
}

/// Store a searched value into the field where it points now.
Fit store_searched(THD* thd, Field* field, const Value& value, bool raw, Error& error) {
  error = store_value(thd, field, value, raw);
  if (error.ok()) {
    return side_of_stored(thd, field, value);
  }
  switch (error.number) {
    case ER_DATA_TOO_LONG:
      return Fit::above;
    case ER_WARN_DATA_OUT_OF_RANGE:
      return is_negative_text(value) ? Fit::below : Fit::above;
    case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD:
      // A character that the column's character set lacks: no row has it, and what replaced it sorts before it.
      return is_string_column(field) && is_well_formed(field, value, raw) ? Fit::above : Fit::malformed;
    default:
      return Fit::malformed;
  }
}

/// Copies the value where the field points now into its place in a key image. Unlike key_copy() it takes the bits of a BIT column
/// from there, too.
void copy_key_part(const KEY* key, const KeyPart& part, uchar* image) {
  Field* const field = part.info->field;
  const uint length = part.info->length;
  if (part.is_nullable) {
    *image++ = 0;
  }
  const bool is_variable = (part.info->key_part_flag & (HA_BLOB_PART | HA_VAR_LENGTH_PART)) != 0;
  const uint copied =
      field->get_key_image(image, length, field->ptr, (key->flags & HA_SPATIAL) != 0 ? Field::itMBR : Field::itRAW);
  if (copied < length && !is_variable) {
    field->charset()->fill(reinterpret_cast<char*>(image) + copied, length - copied, ' ');
  }
}

void write_integer(uchar* image, uint64_t bits, uint8_t byte_count) {
  for (uint8_t i = 0; i < byte_count; ++i) {
    image[i] = static_cast<uchar>(bits >> (8 * i));
  }
}

/// True if the value has more characters than the part keeps, so that the index alone can not decide.
bool exceeds_prefix(const KeyPart& part, const Value& value, bool raw) {
  CHARSET_INFO* const charset = wire_charset(part.field, raw);
  const size_t characters_kept = part.info->length / part.field->charset()->mbmaxlen;
  return charset->numchars(value.data, value.data + value.size) >= characters_kept;
}

}  // namespace

CHARSET_INFO* wire_charset(const Field* field, bool raw) {
  if (raw || field->charset() == &my_charset_bin || field->real_type() == MYSQL_TYPE_BIT) {
    return field->charset() == &my_charset_bin || raw ? field->charset() : &my_charset_bin;
  }
  return &my_charset_utf8mb4_general_ci;
}

Error store_value(THD* thd, Field* field, const Value& value, bool raw) {
  if (value.is_null()) {
    if (!field->maybe_null() && field->type() == MYSQL_TYPE_TIMESTAMP) {
      field->set_time();  // as in SQL
      return {};
    }
    if (!field->maybe_null() && field != field->table->next_number_field) {
      return Error(ErrorCode::sql, ER_BAD_NULL_ERROR, std::string("column '") + field->field_name.str + "' cannot be NULL");
    }
    field->set_null();
    field->reset();
    return {};
  }
  field->set_notnull();
  if (value.is_now()) [[unlikely]] {
    char text[MAX_DATE_STRING_REP_LENGTH];
    if (field->type() == MYSQL_TYPE_TIMESTAMP || field->type() == MYSQL_TYPE_DATETIME) {
      field->set_time();  // exactly what DEFAULT CURRENT_TIMESTAMP stores
      return {};
    }
    return store_value(thd, field, Value(now_as_text(thd, field, text)), false);
  }
  const int truncation = field->store(value.data, value.size, wire_charset(field, raw));
  if (thd->is_error()) [[unlikely]] {
    return take_server_error(thd, ErrorCode::sql);
  }
  if (truncation != 0) [[unlikely]] {
    clear_diagnostics(thd);  // a note: trailing spaces, or more fraction digits than the column has, as in SQL
  }
  return {};
}

Fit write_key_part(THD* thd, TABLE* table, const KEY* key, const KeyPart& part, const Value& given, bool raw, uchar* image,
                   Error& error) {
  char now_text[MAX_DATE_STRING_REP_LENGTH];
  const Value value = searched_value(thd, part.field, given, now_text);
  if (value.is_null()) {
    if (!part.is_nullable) {
      return Fit::lower_end;
    }
    std::memset(image, 0, part.info->store_length);
    image[0] = 1;
    return Fit::exact;
  }
  Integer number;
  bool overflow = false;
  if (part.integer_bytes > 0 && parse_integer(value.view(), number, overflow)) [[likely]] {
    uint64_t bits = 0;
    const Fit fit = fit_integer(number, overflow, part, bits);
    if (part.is_nullable) {
      *image++ = 0;
    }
    write_integer(image, bits, part.integer_bytes);
    return fit;
  }
  const SecondRecord second(table, part.info->field);
  Fit fit = store_searched(thd, part.info->field, value, raw, error);
  if (fit == Fit::malformed) {
    return fit;
  }
  if (fit == Fit::exact && part.is_prefix && exceeds_prefix(part, value, raw)) {
    fit = Fit::above;
  }
  copy_key_part(key, part, image);
  return fit;
}

Error Comparand::prepare(THD* thd, Field* field, const Value& given, bool raw) {
  char now_text[MAX_DATE_STRING_REP_LENGTH];
  const Value value = searched_value(thd, field, given, now_text);
  field_ = field;
  fit_ = Fit::exact;
  if (value.is_null()) {
    kind_ = Kind::null;
    return {};
  }
  if (is_string_column(field)) {
    return prepare_text(value, raw);
  }
  Integer number;
  bool overflow = false;
  const bool is_integer =
      field->cmp_type() == INT_RESULT && field->result_type() == INT_RESULT && field->real_type() != MYSQL_TYPE_BIT;
  if (is_integer && parse_integer(value.view(), number, overflow)) {
    kind_ = Kind::integer;
    is_negative_ = number.is_negative && (overflow || number.magnitude > 0);
    magnitude_ = overflow ? UINT64_MAX : number.magnitude;
    fit_ = !overflow ? Fit::exact : is_negative_ ? Fit::below : Fit::above;
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
    return {};
  }
  bytes_.resize(value.size * to->mbmaxlen);
  uint failed_characters = 0;
  const size_t written = copy_and_convert(bytes_.data(), bytes_.size(), to, value.data, value.size, from, &failed_characters);
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
  // One byte more than the image: some 3-byte comparisons read 4.
  bytes_.assign(field_->pack_length() + 1, 0);
  if (field_->real_type() == MYSQL_TYPE_BIT) {
    const longlong bits = field_->val_int();  // BIT keeps some bits elsewhere in the record
    kind_ = Kind::integer;
    is_negative_ = false;
    magnitude_ = static_cast<uint64_t>(bits);
    return {};
  }
  std::memcpy(bytes_.data(), field_->ptr, field_->pack_length());
  return {};
}

int Comparand::compare_row() const {
  if (field_->is_null()) {
    return kind_ == Kind::null ? 0 : -1;
  }
  int order = 0;
  switch (kind_) {
    case Kind::null:
      return 1;
    case Kind::integer: {
      const longlong row = field_->val_int();
      const bool row_is_negative = row < 0 && (field_->flags & UNSIGNED_FLAG) == 0;
      if (row_is_negative != is_negative_) {
        order = row_is_negative ? -1 : 1;
      } else {
        const uint64_t row_magnitude = row_is_negative ? ~static_cast<uint64_t>(row) + 1 : static_cast<uint64_t>(row);
        order = row_magnitude == magnitude_ ? 0 : (row_magnitude < magnitude_) != row_is_negative ? -1 : 1;
      }
      break;
    }
    case Kind::text: {
      String buffer;
      const String* const row = field_->val_str(&buffer);
      CHARSET_INFO* const charset = field_->charset();
      order = charset->strnncollsp(row->ptr(), row->length(), bytes_.data(), bytes_.size());
      break;
    }
    case Kind::image:
      order = field_->cmp(field_->ptr, reinterpret_cast<const uchar*>(bytes_.data()));
      break;
  }
  if (order == 0 && fit_ != Fit::exact) {
    order = fit_ == Fit::above ? -1 : 1;
  }
  return order;
}

}  // namespace rowsocket::mariadb
