// SPDX-License-Identifier: GPL-2.0-only
#include "bench/definition.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

constexpr int64_t list_max = 1000;

bool belongs_to_name(char byte) { return byte == '_' || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9'); }

/// The line with `{list c 3}` written out: c1,c2,c3. Throws std::runtime_error.
std::string with_lists(std::string line) {
  constexpr std::string_view begin = "{list ";
  for (size_t at = line.find(begin); at != std::string::npos; at = line.find(begin, at)) {
    const size_t end = std::min(line.find('}', at), line.size());
    const auto [name, count] = split_word(std::string_view(line).substr(at + begin.size(), end - at - begin.size()));
    std::string names;
    for (int64_t number = 1; number <= whole_number(count, 1, list_max); ++number) {
      names.append(names.empty() ? "" : ",").append(name).append(std::to_string(number));
    }
    line.replace(at, end - at + 1, names);
  }
  return line;
}

}  // namespace

void Parameters::define(const std::string& name, const std::string& value) {
  const auto found = set_.find(name);
  values_[name] = found == set_.end() ? value : found->second;
}

std::string Parameters::filled_in(std::string_view line) const {
  std::string text;
  while (!line.empty()) {
    const size_t dollar = std::min(line.find('$'), line.size());
    text += line.substr(0, dollar);
    line.remove_prefix(dollar);
    if (line.empty()) {
      break;
    }
    line.remove_prefix(1);
    const auto end = std::find_if_not(line.begin(), line.end(), belongs_to_name);
    const std::string name(line.begin(), end);
    const auto found = values_.find(name);
    if (found == values_.end()) {
      throw std::runtime_error("$" + name + " is not defined by a param line above");
    }
    text += found->second;
    line.remove_prefix(name.size());
  }
  return text;
}

void Parameters::check_all_used() const {
  for (const auto& [name, value] : set_) {
    if (!values_.contains(name)) {
      throw std::runtime_error("--set " + name + ": neither the workload nor its table has such a param");
    }
  }
}

void for_each_line(std::string_view text, Parameters& parameters,
                   const std::function<void(std::string_view word, std::string_view rest)>& take) {
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    try {
      const std::string filled_in = with_lists(parameters.filled_in(line));
      const auto [word, rest] = split_word(filled_in);
      if (word == "param") {
        const auto [name, value] = split_word(rest);
        parameters.define(std::string(name), std::string(value));
      } else {
        take(word, rest);
      }
    } catch (const std::runtime_error& failure) {
      throw std::runtime_error("line " + std::to_string(line_number) + ": " + failure.what());
    }
  }
}

std::string first_comment(std::string_view text) {
  std::string comment;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    if (!line.starts_with("# SPDX")) {
      comment.append(comment.empty() ? "" : " ").append(trimmed(std::string_view(line).substr(1)));
    }
  }
  return comment;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

WordAndRest split_word(std::string_view text) {
  const std::string_view whole = trimmed(text);
  const size_t end = std::min(whole.find(' '), whole.size());
  return {whole.substr(0, end), trimmed(whole.substr(end))};
}

int64_t whole_number(std::string_view text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < least || value > most) {
    throw std::runtime_error("\"" + std::string(text) + "\" is not a number from " + std::to_string(least) + " to " +
                             std::to_string(most));
  }
  return value;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!(text << file.rdbuf())) {
    throw std::runtime_error("cannot read " + path);
  }
  return text.str();
}

}  // namespace rowsocket::bench
