// SPDX-License-Identifier: GPL-2.0-only
//
// The text files of tables/ and workloads/, line by line, with their parameters: `param take 3` names one and its default,
// `$take` stands for its value in the lines that follow, and the command line's `--set take=10` overrides it. `{list c 3}`
// stands for c1,c2,c3. `#` begins a comment line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace rowsocket::bench {

class Parameters {
 public:
  /// What the command line says; it stands above every default.
  void set(const std::string& name, const std::string& value) { set_[name] = value; }

  /// `value`, unless the command line says otherwise.
  void define(const std::string& name, const std::string& value);
  /// The line with the values in the place of `$name`. Throws std::runtime_error at an unknown name.
  [[nodiscard]] std::string filled_in(std::string_view line) const;
  /// Throws std::runtime_error if something was set that no file defines.
  void check_all_used() const;

 private:
  std::map<std::string, std::string> set_;
  std::map<std::string, std::string> values_;
};

/// Calls `take(word, rest)` for every line that is neither empty nor a comment nor a `param`. What `take` throws gets the number
/// of the line put before it.
void for_each_line(std::string_view text, Parameters& parameters,
                   const std::function<void(std::string_view word, std::string_view rest)>& take);

/// The first comment of a file, without its `#`.
[[nodiscard]] std::string first_comment(std::string_view text);

/// The first word of `text` and what follows it, both without spaces around.
struct WordAndRest {
  std::string_view word;
  std::string_view rest;
};
[[nodiscard]] WordAndRest split_word(std::string_view text);
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// `text` with each `what` replaced.
[[nodiscard]] std::string replaced(std::string text, std::string_view what, std::string_view with);

/// Throws std::runtime_error unless it is one from `least` to `most`.
[[nodiscard]] int64_t whole_number(std::string_view text, int64_t least, int64_t most);

/// Throws std::runtime_error.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace rowsocket::bench
