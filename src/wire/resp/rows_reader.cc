// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/rows_reader.h"

#include <limits>

#include "base/limits.h"

namespace rowsocket::wire::resp {
namespace {

struct OperatorWord {
  std::string_view word;
  KeyOperator key_operator;
};
constexpr OperatorWord operators[] = {
    {"=", KeyOperator::equal},  {">", KeyOperator::after},         {">=", KeyOperator::at_or_after},
    {"<", KeyOperator::before}, {"<=", KeyOperator::at_or_before}, {"STARTS", KeyOperator::starts_with},
};

struct ComparisonWord {
  std::string_view word;
  Comparison comparison;
};
constexpr ComparisonWord comparisons[] = {
    {"=", Comparison::equal},          {"!=", Comparison::not_equal},  {"<", Comparison::less},
    {"<=", Comparison::less_or_equal}, {">", Comparison::greater},     {">=", Comparison::greater_or_equal},
    {"IS", Comparison::equal},         {"NOT", Comparison::not_equal},
};

}  // namespace

// ---- arguments

bool ArgumentReader::take_text(std::string_view& text) {
  if (at_ >= arguments_.size()) {
    return refuse(syntax_error);
  }
  text = arguments_[at_++];
  return true;
}

bool ArgumentReader::take_count(uint64_t& count) {
  std::string_view text;
  int64_t number = 0;
  if (!take_text(text)) {
    return false;
  }
  if (!parse_integer(text, number) || number < 0) {
    return refuse(not_an_integer);
  }
  count = static_cast<uint64_t>(number);
  return true;
}

bool ArgumentReader::take_values(std::span<Value>& values) {
  uint64_t count = 0;
  if (!take_count(count)) {
    return false;
  }
  if (count == 0 || count > arguments_.size() - at_) {
    return refuse("-ERR the number of values is not that of those behind it");
  }
  const auto taken = scope_.arena().array<Value>(count);
  if (taken.empty()) {
    return out_of_memory();
  }
  for (Value& value : taken) {
    value = Value(arguments_[at_++]);
  }
  values = taken;
  return true;
}

bool ArgumentReader::take_stand_in(std::string_view word, bool& taken) {
  const bool is_null = is_word(word, "NULLS");
  taken = is_null || is_word(word, "NOW");
  return !taken || take_text((is_null ? stands_for_null_ : stands_for_now_).emplace());
}

void ArgumentReader::replace_stand_ins(std::span<Value> values) const {
  for (Value& value : values) {
    if (value.is_null() || value.is_now()) {
      continue;
    }
    if (value.view() == stands_for_null_) {
      value = Value();
    } else if (value.view() == stands_for_now_) {
      value = Value::now();
    }
  }
}

// ---- a range

bool RangeReader::take_operator(KeyOperator& key_operator) {
  std::string_view text;
  if (!take_text(text)) {
    return false;
  }
  const OperatorWord* const found = find_word(operators, text);
  if (found == nullptr) {
    return refuse("-ERR the operator of a range is one of = > >= < <= STARTS");
  }
  key_operator = found->key_operator;
  return true;
}

bool RangeReader::begin(size_t range_at) {
  names_ = scope_.arena().make<SelectionNames>();
  find_ = scope_.arena().make<Find>();
  const size_t room = std::min(arguments_.size(), size_t{limits::value_count_max});
  filter_columns_ = scope_.arena().array<std::string_view>(std::min(room, size_t{limits::filter_count_max}));
  filters_ = scope_.arena().array<Filter>(filter_columns_.size());
  if (names_ == nullptr || find_ == nullptr || filters_.empty() || filter_columns_.empty()) {
    return out_of_memory();
  }
  find_->selection.names = names_;
  find_->limit = std::numeric_limits<uint64_t>::max();
  at_ = range_at;
  if (!take_table(scope_, arguments_[1], *names_, plan_) || !take_operator(find_->range.key_operator) ||
      !take_values(key_)) {
    return false;
  }
  find_->range.key = key_;
  return true;
}

bool RangeReader::take_filter(Mismatch mismatch) {
  std::string_view column;
  std::string_view word;
  std::string_view value;
  if (!take_text(column) || !take_text(word) || !take_text(value)) {
    return false;
  }
  const ComparisonWord* const found = find_word(comparisons, word);
  const bool is_about_null = is_word(word, "IS") || is_word(word, "NOT");
  if (found == nullptr || (is_about_null && !is_word(value, "NULL"))) {
    return refuse("-ERR a condition is column = != < <= > >= value, column IS NULL, or column NOT NULL");
  }
  if (filter_count_ == filters_.size()) {
    return refuse("-ERR too many conditions");
  }
  filter_columns_[filter_count_] = column;
  filters_[filter_count_] = {.mismatch = mismatch,
                             .comparison = found->comparison,
                             .filter_column = static_cast<uint32_t>(filter_count_),
                             .value = is_about_null ? Value() : Value(value)};
  ++filter_count_;
  return true;
}

bool RangeReader::take_list(bool holds_whole_keys) {
  uint64_t part = 0;
  if (find_->list.is_given) {
    return refuse(syntax_error);
  }
  if (!holds_whole_keys && !take_count(part)) {
    return false;
  }
  find_->list.is_given = true;
  find_->list.holds_whole_keys = holds_whole_keys;
  find_->list.part = static_cast<uint32_t>(std::min<uint64_t>(part, limits::value_count_max));
  if (!take_values(list_)) {
    return false;
  }
  find_->list.values = list_;
  if (find_->list.values.size() > scope_.parsing.settings.in_values_max) {
    return refuse("-ERR too many keys");
  }
  return !holds_whole_keys || find_->list.values.size() % find_->range.key.size() == 0 ||
         refuse("-ERR KEYS are of as many values as the key of the range");
}

bool RangeReader::take_clause(std::string_view word) {
  bool taken = false;
  if (!take_stand_in(word, taken)) {
    return false;
  }
  if (taken) {
    return true;
  }
  if (is_word(word, "TO")) {
    find_->range.has_end = true;
    if (!take_operator(find_->range.end_operator) || !take_values(end_key_)) {
      return false;
    }
    find_->range.end_key = end_key_;
    return true;
  }
  if (is_word(word, "REVERSE")) {
    find_->range.reverse = true;
    return true;
  }
  if (is_word(word, "LIMIT")) {
    return take_count(find_->limit);
  }
  if (is_word(word, "OFFSET")) {
    return take_count(find_->offset);
  }
  if (is_word(word, "EACH")) {
    return take_count(find_->list.row_limit_per_key) &&
           (find_->list.row_limit_per_key > 0 || refuse("-ERR EACH is at least 1"));
  }
  if (is_word(word, "IN") || is_word(word, "KEYS")) {
    return take_list(is_word(word, "KEYS"));
  }
  if (is_word(word, "WHERE") || is_word(word, "WHILE")) {
    return take_filter(is_word(word, "WHERE") ? Mismatch::skip : Mismatch::stop);
  }
  if (is_word(word, "NAMES")) {
    has_names_ = true;
    return true;
  }
  return refuse(syntax_error);
}

bool RangeReader::finish() {
  if (find_->list.row_limit_per_key > 0 && !find_->list.is_given) {
    return refuse("-ERR EACH is about the keys of IN or KEYS");
  }
  replace_stand_ins(key_);
  replace_stand_ins(end_key_);
  replace_stand_ins(list_);
  for (Filter& filter : filters_.first(filter_count_)) {
    replace_stand_ins({&filter.value, 1});
  }
  if (filter_count_ > 0) {
    find_->filters = filters_.first(filter_count_);
    return take_columns(scope_, filter_columns_.first(filter_count_), names_->filter_columns, plan_);
  }
  return true;
}

}  // namespace rowsocket::wire::resp
