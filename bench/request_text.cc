// SPDX-License-Identifier: GPL-2.0-only
#include "bench/request_text.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace rowsocket::bench {

RequestText RequestText::parse(std::string_view text, const Table& table) {
  constexpr std::string_view each = "each ";
  RequestText result;
  result.sections_.emplace_back();
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t open = std::min(rest.find('{'), rest.size());
    if (open > 0) {
      result.sections_.back().parts.push_back({Kind::literal, std::string(rest.substr(0, open)), {}, nullptr});
      rest.remove_prefix(open);
      continue;
    }
    const size_t close = rest.find('}');
    if (close == std::string_view::npos) {
      throw std::runtime_error("a { without its } in \"" + std::string(text) + "\"");
    }
    const std::string_view inside = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    const bool in_each = result.sections_.back().each_key;
    if (inside.starts_with(each) && !in_each) {
      result.sections_.push_back({true, std::string(inside.substr(each.size())), {}});
    } else if (inside == "end" && in_each) {
      result.sections_.emplace_back();
    } else {
      result.sections_.back().parts.push_back(parse_placeholder(inside, table));
    }
  }
  if (result.sections_.back().each_key) {
    throw std::runtime_error("{each} without its {end} in \"" + std::string(text) + "\"");
  }
  return result;
}

RequestText::Part RequestText::parse_placeholder(std::string_view inside, const Table& table) {
  Part part;
  if (inside == "tick") {
    part.kind = Kind::tick;
  } else if (inside == "count") {
    part.kind = Kind::count;
  } else if (inside == "value") {
    part.kind = Kind::value;
  } else if (inside == "k" ||
             (inside.size() > 1 && inside[0] == 'k' && std::string_view("+-*/%").find(inside[1]) != inside.npos)) {
    part.kind = Kind::key;
    part.expression = Expression::parse(inside, "k");
  } else {
    part.kind = Kind::column;
    part.column = &table.columns[table.column_of(inside)];
  }
  return part;
}

bool RequestText::names_key() const {
  return std::any_of(sections_.begin(), sections_.end(), [](const Section& section) {
    return std::any_of(section.parts.begin(), section.parts.end(),
                       [](const Part& part) { return part.kind == Kind::key || part.kind == Kind::column; });
  });
}

RequestText::CountText::CountText(size_t count)
    : length_(static_cast<size_t>(std::to_chars(digits_, digits_ + sizeof(digits_), count).ptr - digits_)) {}

void PlainSink::value(uint32_t row) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) {
      out_.append('\t');
    }
    table_.columns[columns_[i]].formula.append(out_, row);
  }
}

}  // namespace rowsocket::bench
