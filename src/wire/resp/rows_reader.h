// SPDX-License-Identifier: GPL-2.0-only
//
// What the ROWS commands have in common: arguments one by one, and a range of an index with its clauses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "wire/resp/parts.h"

namespace rowsocket::wire::resp {

/// The item whose `word` is the text, without regard to case; nullptr if there is none.
template <typename Words>
const auto* find_word(const Words& words, std::string_view text) {
  const auto* const found = std::find_if(std::begin(words), std::end(words),
                                         [text](const auto& one) { return is_word(text, one.word); });
  return found == std::end(words) ? nullptr : found;
}

/// The arguments of a command, one after the other. What takes one returns false where the plan refuses the
/// command.
class ArgumentReader {
 public:
  ArgumentReader(const Scope& scope, Arguments arguments, Plan& plan)
      : scope_(scope), arguments_(arguments), plan_(plan) {}

 protected:
  [[nodiscard]] bool at_end() const { return at_ >= arguments_.size(); }
  [[nodiscard]] bool take_text(std::string_view& text);
  [[nodiscard]] bool take_count(uint64_t& count);
  /// How many there are, and the values.
  [[nodiscard]] bool take_values(std::span<Value>& values);
  /// NULLS and NOW name a text that stands for NULL, or for the time of the command. `taken`: the word is one
  /// of them.
  [[nodiscard]] bool take_stand_in(std::string_view word, bool& taken);
  /// What such a text stands for, in its place.
  void replace_stand_ins(std::span<Value> values) const;
  [[nodiscard]] bool refuse(std::string_view line) {
    plan_.refuse(line);
    return false;
  }
  [[nodiscard]] bool out_of_memory() {
    plan_.add(nullptr);
    return false;
  }

  const Scope& scope_;
  const Arguments arguments_;
  Plan& plan_;
  size_t at_ = 0;

 private:
  std::optional<std::string_view> stands_for_null_;
  std::optional<std::string_view> stands_for_now_;
};

/// A range of an index: the key, and clauses behind it.
class RangeReader : public ArgumentReader {
 public:
  using ArgumentReader::ArgumentReader;

 protected:
  /// The table, and the range, whose operator is the argument `range_at`.
  [[nodiscard]] bool begin(size_t range_at);
  [[nodiscard]] bool take_clause(std::string_view word);
  /// Behind the last clause.
  [[nodiscard]] bool finish();

  Find* find_ = nullptr;
  SelectionNames* names_ = nullptr;
  bool has_names_ = false;

 private:
  [[nodiscard]] bool take_operator(KeyOperator& key_operator);
  [[nodiscard]] bool take_filter(Mismatch mismatch);
  [[nodiscard]] bool take_list(bool holds_whole_keys);

  std::span<Value> key_;
  std::span<Value> end_key_;
  std::span<Value> list_;
  // Room for as many as there can be.
  std::span<std::string_view> filter_columns_;
  std::span<Filter> filters_;
  size_t filter_count_ = 0;
};

}  // namespace rowsocket::wire::resp
