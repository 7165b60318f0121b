// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/reply.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "request/error_text.h"
#include "wire/resp/rows_reply.h"

namespace rowsocket::wire::resp {
namespace {

constexpr std::string_view null_2 = "$-1\r\n";
constexpr std::string_view null_3 = "_\r\n";

constexpr ValueFormat make_format(Form form, std::string_view null_token) {
  using Named = ValueFormat::Named;
  ValueFormat format;
  format.framing = form == Form::bare ? ValueFormat::Framing::bare : ValueFormat::Framing::length_prefixed;
  format.null_token = form == Form::bare ? std::string_view() : null_token;
  format.named = form == Form::names || form == Form::counted                ? Named::names
                 : form == Form::names_and_values || form == Form::named_row ? Named::names_and_values
                                                                             : Named::values;
  format.leaves_out_null = form != Form::values && form != Form::bare && form != Form::named_row;
  return format;
}

constexpr size_t form_count = static_cast<size_t>(Form::named_row) + 1;

constexpr std::array<ValueFormat, form_count> make_formats(std::string_view null_token) {
  std::array<ValueFormat, form_count> formats{};
  for (size_t form = 0; form < form_count; ++form) {
    formats[form] = make_format(static_cast<Form>(form), null_token);
  }
  return formats;
}

constexpr std::array<ValueFormat, form_count> formats_2 = make_formats(null_2);
constexpr std::array<ValueFormat, form_count> formats_3 = make_formats(null_3);

std::string_view code_of(const Error& error) {
  if (error.reason == Reason::denied) {
    return "-NOPERM ";
  }
  if (error.reason == Reason::read_only) {
    return "-READONLY ";
  }
  switch (error.code) {
    case ErrorCode::read_only:
      return "-READONLY ";
    case ErrorCode::bad_modification:
      return "-WRONGTYPE ";
    case ErrorCode::out_of_memory:
      return "-OOM ";
    default:
      return "-ERR ";
  }
}

}  // namespace

const ValueFormat& format_of(Form form, uint32_t version) {
  return (version == 2 ? formats_2 : formats_3)[static_cast<size_t>(form)];
}

namespace {

/// A whole number of 64 bits as a column tells it: with zeros in front (ZEROFILL), or behind a point
/// (DECIMAL).
bool parse_whole(std::string_view text, int64_t& number) {
  const size_t point = std::min(text.find('.'), text.size());
  const char* const end = text.data() + point;
  const auto parsed = std::from_chars(text.data(), end, number);
  const bool has_fraction = text.find_first_not_of(".0", point) != std::string_view::npos;
  return parsed.ec == std::errc() && parsed.ptr == end && !has_fraction;
}

}  // namespace

void append_number(Buffer& out, char lead, int64_t number) {
  char text[32];
  text[0] = lead;
  char* const end = std::to_chars(text + 1, text + 24, number).ptr;
  std::copy(line_end.begin(), line_end.end(), end);
  out.append({text, static_cast<size_t>(end - text) + line_end.size()});
}

void append_null(Buffer& out, uint32_t version) { out.append(version == 2 ? null_2 : null_3); }

void append_text(Buffer& out, std::string_view text) {
  append_number(out, '$', static_cast<int64_t>(text.size()));
  append_line(out, text);
}

void append_error(Buffer& out, const Error& error, const Container* container) {
  if (error.code == ErrorCode::not_authenticated) {
    append_line(out, "-NOAUTH Authentication required.");
    return;
  }
  out.append(code_of(error));
  append_error_text(out, error, container);
  out.append(line_end);
}

void put_in_front(Buffer& out, size_t begin, char lead, uint64_t number) {
  char text[32];
  text[0] = lead;
  char* const end = std::to_chars(text + 1, text + 24, number).ptr;
  std::copy(line_end.begin(), line_end.end(), end);
  const size_t bytes = static_cast<size_t>(end - text) + line_end.size();
  if (out.failed() || !out.reserve(bytes)) {
    return;
  }
  char* const place = out.data() + begin;
  std::memmove(place + bytes, place, out.size() - begin);
  std::memcpy(place, text, bytes);
  out.advance(bytes);
}

bool keep_value(Buffer& out, size_t row_begin, const Layout& layout) {
  if (out.failed() || layout.ends.empty()) {
    return true;
  }
  const size_t begin = layout.first == 0 ? row_begin : layout.ends[layout.first - 1].bytes;
  const ColumnEnd& end = layout.ends[layout.first + layout.count - 1];
  if (begin > row_begin) {
    char* const to = out.data() + row_begin;
    std::memmove(to, out.data() + begin, end.bytes - begin);
  }
  out.truncate(row_begin + end.bytes - begin);
  return layout.count > 1 || !end.is_null;
}

void ProblemReply::failed(const Error& error) {
  if (error.code == ErrorCode::not_authenticated) {
    CommonReply::failed(error);
    return;
  }
  out().append("-ERR ");
  append_problem_text(out(), name_, problem_);
  out().append(line_end);
}

// ---- rows

ValuesReply::ValuesReply(Buffer& out, uint32_t version, const Container* container, const Shape& shape,
                         PerColumn per_column)
    : CommonReply(out, shape.layout.ends.empty() ? Form::values : Form::bare, version, container),
      shape_(shape) {
  tells_rows_ = !shape.layout.ends.empty();
  tells_misses_ = true;
  per_column_ = per_column;
}

void ValuesReply::begin_rows(size_t) {
  if (shape_.header > 0) {
    append_number(out(), '*', shape_.header);
  }
}

void ValuesReply::row_ends() {
  if (shape_.layout.ends.empty()) {
    return;
  }
  if (!keep_value(out(), row_begin_, shape_.layout)) {
    append_null(out(), version());
    return;
  }
  put_in_front(out(), row_begin_, '$', out().size() - row_begin_);
  out().append(line_end);
}

void ValuesReply::missed(size_t) {
  for (uint32_t number = 0; number < shape_.null_count; ++number) {
    append_null(out(), version());
  }
}

/// The row was missed, which has been told.
void ValuesReply::inserted(const RowOutcome&) {}

NumberReply::NumberReply(Buffer& out, const Container* container, Kind kind, const Layout& layout,
                         PerColumn per_column)
    : CommonReply(out, Form::bare, 2, container), kind_(kind), layout_(layout) {
  tells_rows_ = true;
  tells_misses_ = kind == Kind::length;
  per_column_ = per_column;
}

void NumberReply::failed(const Error& error) {
  if (error.reason == Reason::out_of_range) {
    append_line(out(), "-ERR increment or decrement would overflow");
  } else if (error.reason == Reason::no_number && (kind_ == Kind::number || kind_ == Kind::text)) {
    append_line(out(), kind_ == Kind::text      ? "-ERR hash value is not a float"
                       : container() == nullptr ? "-ERR hash value is not an integer"
                                                : "-ERR value is not an integer or out of range");
  } else {
    CommonReply::failed(error);
  }
}

void NumberReply::row_ends() {
  const bool is_there = keep_value(out(), row_begin_, layout_);
  if (out().failed()) {
    return;
  }
  const size_t bytes = out().size() - row_begin_;
  if (kind_ == Kind::length || kind_ == Kind::new_length) {
    out().truncate(row_begin_);
    append_number(out(), ':', static_cast<int64_t>(bytes));
    return;
  }
  int64_t number = 0;
  if (kind_ == Kind::number &&
      (!is_there || bytes == 0 || parse_whole(out().view().substr(row_begin_), number))) {
    out().truncate(row_begin_);
    append_number(out(), ':', number);
    return;
  }
  put_in_front(out(), row_begin_, '$', bytes);  // a trigger may have made anything of the number
  out().append(line_end);
}

void CountedReply::row_begins(size_t) {
  row_begin_ = out().size();
  *count_ = 0;
}

void CountedReply::row_ends() {
  if (!out().failed()) {
    out().truncate(row_begin_);
    append_number(out(), ':', *count_);
  }
}

HashReply::HashReply(Buffer& out, uint32_t version, Form form, uint32_t* count)
    : CommonReply(out, form, version, nullptr), form_(form), count_(count) {
  tells_rows_ = true;
  tells_misses_ = true;
  per_column_.told_count = count;
}

void HashReply::row_begins(size_t) {
  row_begin_ = out().size();
  *count_ = 0;
}

void HashReply::row_ends() { put_header(row_begin_, *count_); }

void HashReply::put_header(size_t begin, uint32_t count) {
  const bool has_names = form_ == Form::names_and_values;
  put_in_front(out(), begin, has_names && version() > 2 ? '%' : '*',
               has_names && version() == 2 ? uint64_t{2} * count : count);
}

// ---- numbers and words

void OutcomeReply::changed(const Changes& changes) {
  append_line(out(), changes.rows_found == 0     ? lines_.missed
                     : changes.rows_matched == 0 ? lines_.refused
                                                 : lines_.changed);
}

void OutcomeReply::inserted(const RowOutcome& outcome) {
  append_line(out(), outcome.rows_affected == 1             ? lines_.inserted
                     : outcome.rows_affected == 0 && keeps_ ? lines_.refused
                                                            : lines_.changed);
}

void SumReply::add(uint64_t row_count) {
  *sum_ = row_count + (is_first_ ? 0 : *sum_);
  if (is_last_) {
    append_number(out(), ':', static_cast<int64_t>(*sum_));
  }
}

void InsertedReply::inserted(const RowOutcome& outcome) {
  new_count_ += outcome.error.ok() && outcome.rows_affected == 1 ? 1 : 0;
  if (tells_ == Tells::new_count) {
    return;
  }
  if (!outcome.error.ok()) {
    append_error(out(), outcome.error, nullptr);
  } else if (tells_ == Tells::outcomes) {
    append_number(out(), ':', outcome.rows_affected);
  } else if (!outcome.has_id) {
    append_null(out(), version());
  } else if (outcome.id > INT64_MAX && !outcome.id_is_negative) {
    put_in_front(out(), out().size(), ':', outcome.id);  // beyond what RESP says a number is
  } else {
    append_number(out(), ':', static_cast<int64_t>(outcome.id));
  }
}

void ExpiryReply::row_ends() {
  if (out().failed()) {
    return;
  }
  const std::string_view text = out().view().substr(row_begin_);
  uint64_t expires_s = 0;
  std::from_chars(text.data(), text.data() + text.size(), expires_s);
  out().truncate(row_begin_);
  if (expires_s == 0) {
    append_number(out(), ':', -1);
    return;
  }
  const uint64_t per_unit_us = 1'000'000;
  const uint64_t left_us = expires_s * per_unit_us > since_us_ ? expires_s * per_unit_us - since_us_ : 0;
  append_number(out(), ':', static_cast<int64_t>(left_us / per_unit_us * per_second_));
}

}  // namespace rowsocket::wire::resp
