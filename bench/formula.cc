// SPDX-License-Identifier: GPL-2.0-only
#include "bench/formula.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

constexpr size_t digits_max = 20;
constexpr std::string_view operations = "+-*/%";
constexpr std::string_view fill_word = "fill ";

[[noreturn]] void fail(std::string_view what, std::string_view where) {
  throw std::runtime_error(std::string(what).append(" in \"").append(where).append("\""));
}

int64_t number_in(std::string_view text, std::string_view where) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) {
    fail("\"" + std::string(text) + "\" is not a number", where);
  }
  return value;
}

void append_with_zeros(Buffer& out, int64_t number, unsigned digits_min) {
  char digits[digits_max];
  const auto length = static_cast<size_t>(std::to_chars(digits, digits + digits_max, number).ptr - digits);
  for (size_t i = length; i < digits_min; ++i) {
    out.append('0');
  }
  out.append({digits, length});
}

std::string quoted(std::string_view text) { return std::string("'").append(text).append("'"); }

}  // namespace

void append_number(Buffer& out, int64_t number) {
  if (out.reserve(digits_max)) {
    const auto written = std::to_chars(out.end(), out.end() + digits_max, number);
    out.advance(static_cast<size_t>(written.ptr - out.end()));
  }
}

Expression Expression::parse(std::string_view text, std::string_view variable) {
  if (!text.starts_with(variable)) {
    fail("an expression begins with \"" + std::string(variable) + "\", not as", text);
  }
  Expression expression;
  std::string_view rest = text.substr(variable.size());
  while (!rest.empty()) {
    const char operation = rest.front();
    if (operations.find(operation) == std::string_view::npos) {
      fail(std::string("\"") + operation + "\" is none of + - * / %", text);
    }
    rest.remove_prefix(1);
    const std::string_view operand = rest.substr(0, rest.find_first_of(operations));
    rest.remove_prefix(operand.size());
    const Step step{operation, number_in(operand, text)};
    if (step.operand == 0 && (operation == '/' || operation == '%')) {
      fail("a division by zero", text);
    }
    expression.steps_.push_back(step);
  }
  return expression;
}

int64_t Expression::apply(const Step& step, int64_t value) {
  switch (step.operation) {
    case '+':
      return value + step.operand;
    case '-':
      return value - step.operand;
    case '*':
      return value * step.operand;
    case '/':
      return value / step.operand;
    default:
      return value % step.operand;
  }
}

std::string Expression::sql(std::string_view variable) const {
  std::string text(variable);
  for (const Step& step : steps_) {
    const std::string operation = step.operation == '/' ? "DIV" : std::string(1, step.operation);
    text = "(" + text + " " + operation + " " + std::to_string(step.operand) + ")";
  }
  return text;
}

Formula Formula::parse(std::string_view text, std::string_view variable) {
  Formula formula;
  std::string_view rest = text;
  while (!rest.empty()) {
    Part part;
    const size_t open = std::min(rest.find('{'), rest.size());
    part.literal = rest.substr(0, open);
    if (part.literal.find_first_of("'\\}") != std::string::npos) {
      fail("a quote, a backslash or a } out of place", text);
    }
    rest.remove_prefix(open);
    if (!rest.empty()) {
      const size_t close = rest.find('}');
      if (close == std::string_view::npos) {
        fail("a { without its }", text);
      }
      const std::string_view inside = rest.substr(1, close - 1);
      rest.remove_prefix(close + 1);
      if (inside.starts_with(fill_word)) {
        formula.fill_bytes_ = static_cast<size_t>(number_in(inside.substr(fill_word.size()), text));
        if (!rest.empty()) {
          fail("{fill} is not at the end", text);
        }
      } else {
        const size_t colon = std::min(inside.find(':'), inside.size());
        part.has_number = true;
        part.number = Expression::parse(inside.substr(0, colon), variable);
        if (colon < inside.size()) {
          part.digits_min = static_cast<unsigned>(number_in(inside.substr(colon + 1), text));
        }
      }
    }
    formula.parts_.push_back(std::move(part));
  }
  return formula;
}

void Formula::append(Buffer& out, int64_t value) const {
  const size_t size_before = out.size();
  for (const Part& part : parts_) {
    out.append(part.literal);
    if (part.has_number) {
      append_with_zeros(out, part.number.at(value), part.digits_min);
    }
  }
  if (fill_bytes_ == 0) {
    return;
  }
  const size_t made_bytes = out.size() - size_before;
  if (made_bytes >= fill_bytes_) {
    out.truncate(size_before + fill_bytes_);
  } else if (out.reserve(fill_bytes_ - made_bytes)) {
    std::memset(out.end(), 'x', fill_bytes_ - made_bytes);
    out.advance(fill_bytes_ - made_bytes);
  }
}

std::string Formula::sql(std::string_view variable) const {
  std::string pieces;
  size_t piece_count = 0;
  const auto add = [&](const std::string& piece) { pieces += (piece_count++ == 0 ? "" : ", ") + piece; };
  for (const Part& part : parts_) {
    if (!part.literal.empty()) {
      add(quoted(part.literal));
    }
    if (part.has_number) {
      const std::string number = part.number.sql(variable);
      add(part.digits_min > 1 ? "LPAD(" + number + ", " + std::to_string(part.digits_min) + ", '0')" : number);
    }
  }
  const std::string whole = piece_count == 0 ? "''" : piece_count == 1 ? pieces : "CONCAT(" + pieces + ")";
  return fill_bytes_ == 0 ? whole : "RPAD(" + whole + ", " + std::to_string(fill_bytes_) + ", 'x')";
}

}  // namespace rowsocket::bench
