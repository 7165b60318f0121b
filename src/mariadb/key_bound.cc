// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "mariadb/conversion.h"
#include "mariadb/key_bound.h"
#include "mariadb/key_part.h"
#include "mariadb/text_bounds.h"
#include "mariadb/text_prefix.h"
#include "sql_values/order.h"
#include "sql_values/range_end.h"

namespace rowsocket::mariadb {
namespace {

/// The current row to the key, as the index orders them: as if spaces without end stood behind both texts.
/// key_cmp() compares a number of characters instead, and so takes a text for a shorter one where its last
/// characters do not sort.
int order_of_padded_text(const KeyPart& part, const uchar* image) {
  if (part.is_nullable) {
    const bool key_is_null = *image++ != 0;
    const bool row_is_null = part.info->field->is_null();
    if (key_is_null || row_is_null) {
      return static_cast<int>(key_is_null) - static_cast<int>(row_is_null);
    }
  }
  const CHARSET_INFO* const charset = part.field->charset();
  const size_t byte_count = part.info->length;
  const auto kept = [&](const uchar* bytes) {
    const auto* const text = reinterpret_cast<const char*>(bytes);
    const size_t character_bytes = charset->charpos(text, text + byte_count, byte_count / charset->mbmaxlen);
    return std::string_view(text, std::min(character_bytes, byte_count));
  };
  const std::string_view row = kept(part.info->field->ptr);
  if ((charset->state & MY_CS_NOPAD) != 0) {  // the spaces behind the key are part of it
    return order_of_filled(charset, byte_count, row, {reinterpret_cast<const char*>(image), byte_count});
  }
  const std::string_view key = kept(image);
  return charset->strnncollsp(row.data(), row.size(), key.data(), key.size());
}

}  // namespace

bool KeyBound::set(THD* thd, TABLE* table, const Binding& binding, KeyOperator key_operator,
                   std::span<const Value> key, bool raw, Error& error) {
  set_open(key_operator);
  binding_ = &binding;
  image_.resize(binding.key->key_length + 8);
  bool has_null = false;
  bool is_beginning = false;  // of a column, for which the rows are candidates
  for (size_t i = 0; i < key.size(); ++i) {
    const KeyPart& part = binding.key_parts[i];
    const Fit fit =
        write_key_part(thd, table, binding.key, part, key[i], raw, image_.data() + part.key_offset, error);
    if (fit == Fit::malformed) {
      return false;
    }
    if (fit == Fit::unordered && is_string_column(part.field) && key_operator != KeyOperator::equal) {
      error = no_order(part.field);
      return false;
    }
    if (fit != Fit::lower_end && fit != Fit::unordered) {
      bytes_ = part.key_offset + part.info->store_length;
      map_ = (map_ << 1) | 1;
    }
    has_null = has_null || key[i].is_null();
    if (part.may_stand_twice && !key[i].is_null() && take_both_places(thd, table, part, key[i], raw, fit))
        [[unlikely]] {
      return prepare_recheck(thd, key, raw, error);
    }
    const bool is_undecided = part.decides_in_part && (fit == Fit::exact || fit == Fit::above);
    if (is_undecided && !key[i].is_null()) [[unlikely]] {
      is_beginning = true;
      if (key_operator != KeyOperator::equal) {
        break;  // rows with the same beginning may stand on either side, whatever the next parts say
      }
      continue;
    }
    if (fit == Fit::exact) {
      continue;
    }
    const auto end = sql_values::end_at_nearest(key_operator, fit, part.is_descending, map_ != 0);
    operator_ = end.key_operator;
    finds_nothing_ = end.finds_nothing;  // always, where a beginning stands before this part
    return true;
  }
  is_of_one_row_ = key_operator == KeyOperator::equal && binding.whole_key_is_unique && !has_null &&
                   key.size() == binding.key_parts.size();
  return !is_beginning || prepare_recheck(thd, key, raw, error);
}

/// What equals the part that was just written stands in two places of the index: the walk begins at the outer
/// one, or goes from the one to the other. False if it stands in one. (No walk goes over a hash index.)
bool KeyBound::take_both_places(THD* thd, TABLE* table, const KeyPart& part, const Value& value, bool raw,
                                Fit fit) {
  const bool is_text_apart =
      part.is_text_apart && !value.is_now() &&
      (fit == Fit::above || fit == Fit::below || (fit == Fit::exact && part.is_prefix));
  const bool is_of_two_numbers = part.is_of_members && fit == Fit::exact && operator_ == KeyOperator::equal;
  if ((!part.is_moment && !is_of_two_numbers && !is_text_apart) || binding_->whole_key_only) [[likely]] {
    return false;
  }
  const auto first = image_.begin() + part.key_offset;
  other_end_.assign(first, first + part.info->store_length);
  const bool is_written =
      is_text_apart ? write_both_ends(table, binding_->key, part, value, raw, operator_ == KeyOperator::equal,
                                      &*first, other_end_.data())
                    : write_both_places(thd, table, binding_->key, part, &*first, other_end_.data());
  if (!is_written) {
    return false;
  }
  if (goes_down(operator_) != part.is_descending) {
    std::swap_ranges(other_end_.begin(), other_end_.end(), first);
  }
  has_two_ends_ = operator_ == KeyOperator::equal;
  return true;
}

bool KeyBound::prepare_recheck(THD* thd, std::span<const Value> key, bool raw, Error& error) {
  rechecks_ = true;
  recheck_operator_ = operator_;
  operator_ = sql_values::with_same_beginning(operator_);
  if (recheck_.size() < key.size()) {
    recheck_.resize(key.size());
  }
  recheck_count_ = key.size();
  for (size_t i = 0; i < key.size(); ++i) {
    error = recheck_[i].prepare(thd, binding_->key_parts[i].field, key[i], raw);
    if (!error.ok()) {
      return false;
    }
  }
  return true;
}

void KeyBound::set_open(KeyOperator key_operator) {
  operator_ = key_operator;
  bytes_ = 0;
  map_ = 0;
  finds_nothing_ = false;
  is_of_one_row_ = false;
  has_two_ends_ = false;
  rechecks_ = false;
}

void KeyBound::open_between(KeyBound& low, KeyBound& high) {
  high.binding_ = low.binding_;
  high.image_ = low.image_;
  high.bytes_ = low.bytes_;
  high.map_ = low.map_;
  high.finds_nothing_ = false;
  high.is_of_one_row_ = false;
  high.rechecks_ = false;  // one of the two is enough
  if (low.has_two_ends_) [[unlikely]] {
    std::copy(low.other_end_.begin(), low.other_end_.end(),
              high.image_.begin() + static_cast<ptrdiff_t>(high.bytes_ - low.other_end_.size()));
  }
  low.is_of_one_row_ = false;
  low.operator_ = KeyOperator::at_or_after;
  high.operator_ = KeyOperator::at_or_before;
}

bool KeyBound::set_prefix(THD* thd, TABLE* table, const Binding& binding, std::span<const Value> key,
                          bool raw, KeyBound& low, KeyBound& high, TextPrefix& prefix, Error& error) {
  const auto last = static_cast<uint32_t>(key.size() - 1);
  const KeyPart& part = binding.key_parts[last];
  if (!is_string_column(part.field)) {
    error =
        Error(ErrorCode::bad_operator, std::string("column '") + part.field->field_name.str + "' is no text");
    return false;
  }
  if (!low.set(thd, table, binding, KeyOperator::equal, key.first(last), raw, error)) {
    return false;
  }
  low.finds_nothing_ = low.finds_nothing_ || key[last].is_null() || !prefix.set(part.field, key[last], raw);
  open_between(low, high);
  std::vector<char> least;
  std::vector<char> greatest;
  const bool has_range = !part.is_prefix || !beginnings_say_nothing(part.field->charset());
  if (has_range && !low.finds_nothing_ && !low.has_two_ends_ &&
      prefix.range(part.info->length, least, greatest)) {
    low.append_part(last, least.data(), least.size());
    high.append_part(last, greatest.data(), greatest.size());
    if (part.is_descending) {
      std::swap(low.image_, high.image_);
    }
  }
  return true;
}

/// The next part of the key, from text that fits it.
void KeyBound::append_part(uint32_t number, const char* text, size_t size) {
  const KeyPart& part = binding_->key_parts[number];
  uchar* image = image_.data() + part.key_offset;
  std::memset(image, 0, part.info->store_length);
  if (part.is_nullable) {
    ++image;
  }
  if ((part.info->key_part_flag & (HA_BLOB_PART | HA_VAR_LENGTH_PART)) != 0) {
    int2store(image, static_cast<uint16_t>(size));
    image += HA_KEY_BLOB_LENGTH;
  }
  std::memcpy(image, text, size);
  bytes_ = part.key_offset + part.info->store_length;
  map_ = (map_ << 1) | 1;
}

bool KeyBound::admits_row() const { return map_ == 0 || sql_values::satisfies(order_of_row(), operator_); }

/// In the order of the index.
int KeyBound::order_of_row() const {
  if (!binding_->has_padded_text) [[likely]] {
    return key_cmp(binding_->key->key_part, image_.data(), bytes_);
  }
  int order = 0;
  for (size_t i = 0; i < binding_->key_parts.size() && order == 0; ++i) {
    const KeyPart& part = binding_->key_parts[i];
    if (part.key_offset >= bytes_) {
      break;
    }
    const uchar* const image = image_.data() + part.key_offset;
    if (part.is_padded_text) {
      order = order_of_padded_text(part, image);
      order = part.is_descending ? -order : order;
    } else {
      order = key_cmp(part.info, image, part.info->store_length);
    }
  }
  return order;
}

bool KeyBound::passes_recheck() const {
  int order = 0;
  for (size_t i = 0; i < recheck_count_ && order == 0; ++i) {
    if (!recheck_[i].has_order()) {
      return false;
    }
    order = recheck_[i].compare_row();
    order = binding_->key_parts[i].is_descending ? -order : order;
  }
  return sql_values::satisfies(order, recheck_operator_);
}

}  // namespace rowsocket::mariadb
