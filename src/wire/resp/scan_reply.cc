// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/scan_reply.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/limits.h"
#include "wire/resp/glob.h"
#include "wire/resp/parts.h"
#include "wire/resp/scan_places.h"

namespace rowsocket::wire::resp {

void ScanReply::begin_rows(size_t) {
  begin_ = out().size();
  row_count_ = told_count_ = cursor_ = 0;
  is_lost_ = false;
}

std::string_view ScanReply::column(size_t number) const {
  const size_t begin = number == 0 ? row_begin_ : shape_.ends[number - 1].bytes;
  return out().view().substr(begin, shape_.ends[number].bytes - begin);
}

void ScanReply::row_ends() {
  if (out().failed()) {
    return;
  }
  if (++row_count_ == shape_.row_limit) {
    remember_place();
  }
  const size_t columns_end = out().size();
  const bool has_key = append_key();
  const std::string_view key = out().view().substr(columns_end);
  if (!has_key || out().failed() || !matches_glob(key, shape_.pattern)) {
    if (!out().failed()) {
      out().truncate(row_begin_);
    }
    return;
  }
  const bool names_container = needs_name(key);
  const size_t bytes = key.size();
  std::memmove(out().data() + row_begin_, key.data(), bytes);
  out().truncate(row_begin_ + bytes);
  if (names_container) {
    out().append(shape_.rows);
    out().append('.');
    if (out().failed()) {
      return;
    }
    char* const begin = out().data() + row_begin_;
    std::rotate(begin, begin + bytes, out().data() + out().size());
  }
  put_in_front(out(), row_begin_, '$', out().size() - row_begin_);
  out().append(line_end);
  ++told_count_;
}

bool ScanReply::needs_name(std::string_view key) const {
  size_t names_end = 0;
  return !shape_.is_of_table && shape_.lead.empty() &&
         (key.starts_with("@@") || names_row(*shape_.state, key, names_end));
}

void ScanReply::remember_place() {
  std::array<Value, limits::resp_key_parts_max> key;
  for (size_t number = 0; number < *shape_.column_count; ++number) {
    key[number] = shape_.ends[number].is_null ? Value() : Value(column(number));
  }
  cursor_ = ScanPlaces::all().remember(shape_.rows, std::span(key).first(*shape_.column_count), key_shape_,
                                       shape_.unix_time_us, *shape_.own_places);
  is_lost_ = cursor_ == 0;
}

bool ScanReply::append_key() {
  const size_t bytes_max = shape_.lead.size() + 2 * (out().size() - row_begin_) + *shape_.column_count;
  if (!out().reserve(bytes_max)) {  // so that columns stay where they are meanwhile
    return false;
  }
  out().append(shape_.lead);
  for (size_t number = 0; number < *shape_.column_count; ++number) {
    if (shape_.ends[number].is_null) {
      return false;
    }
    const bool ends_at_separator = !shape_.is_of_table && number + 1 < *shape_.column_count;
    if (ends_at_separator && column(number).find(container_separator) != std::string_view::npos) {
      return false;
    }
    if (number > 0) {
      out().append(shape_.is_of_table ? part_separator : container_separator);
    }
    for (const char byte : column(number)) {
      if (shape_.is_of_table && (byte == part_separator || byte == part_escape)) {
        out().append(part_escape);
      }
      out().append(byte);
    }
  }
  return true;
}

void ScanReply::end_rows() {
  if (out().failed()) {
    return;
  }
  if (shape_.key_shape.value_or(key_shape_) != key_shape_) {
    out().truncate(begin_);
    append_line(out(), no_such_cursor);
    return;
  }
  if (is_lost_) {
    out().truncate(begin_);
    append_line(out(),
                "-ERR the scan can not go on: there is no memory for its place, or its key is too long");
    return;
  }
  char digits[24];
  const auto size = static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, cursor_).ptr - digits);
  // A list of two: the cursor, and the list of keys. What stands before the keys is known now.
  const size_t keys_end = out().size();
  append_number(out(), '*', 2);
  append_text(out(), {digits, size});
  append_number(out(), '*', static_cast<int64_t>(told_count_));
  if (!out().failed()) {
    std::rotate(out().data() + begin_, out().data() + keys_end, out().data() + out().size());
  }
}

}  // namespace rowsocket::wire::resp
