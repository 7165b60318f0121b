// SPDX-License-Identifier: GPL-2.0-only
//
// The text of a request with its placeholders, parsed once and written for every request without allocating:
//
//   {k} {k*20+1}          the key, and expressions of it
//   {user_email}          what stands in that column of row k
//   {tick} {count}        a number that was not used before; how many keys there are
//   {value}               all the request's columns of row k with a TAB between each two
//   {each , }...{end}     once for every key, with ", " between each two
//
// What a value looks like is the protocol's business: it passes a sink, of which `write` calls
//
//   literal(bytes)   integer(number)   column(column, row)   value(row)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/operation.h"
#include "bench/table.h"

namespace rowsocket::bench {

class RequestText {
 public:
  RequestText() = default;
  /// `table` outlives the result. Throws std::runtime_error with a text for people.
  static RequestText parse(std::string_view text, const Table& table);

  template <typename Sink>
  void write(const Operation& operation, Sink&& sink) const {
    for (const Section& section : sections_) {
      if (!section.each_key) {
        write_parts(section, operation, operation.keys.front(), sink);
        continue;
      }
      for (size_t i = 0; i < operation.keys.size(); ++i) {
        if (i > 0) {
          sink.literal(section.separator);
        }
        write_parts(section, operation, operation.keys[i], sink);
      }
    }
  }
  /// The text for one of the operation's keys alone.
  template <typename Sink>
  void write_for_key(const Operation& operation, uint32_t key, Sink&& sink) const {
    for (const Section& section : sections_) {
      write_parts(section, operation, key, sink);
    }
  }
  /// Whether it differs from key to key.
  [[nodiscard]] bool names_key() const;

 private:
  enum class Kind : uint8_t { literal, key, column, tick, count, value };
  struct Part {
    Kind kind = Kind::literal;
    std::string literal;
    Expression expression;
    const Column* column = nullptr;
  };
  struct Section {
    bool each_key = false;
    std::string separator;
    std::vector<Part> parts;
  };

  static Part parse_placeholder(std::string_view inside, const Table& table);

  template <typename Sink>
  static void write_parts(const Section& section, const Operation& operation, uint32_t key, Sink& sink) {
    for (const Part& part : section.parts) {
      switch (part.kind) {
        case Kind::literal:
          sink.literal(part.literal);
          break;
        case Kind::key:
          sink.integer(part.expression.at(key));
          break;
        case Kind::column:
          sink.column(*part.column, key);
          break;
        case Kind::tick:
          sink.integer(static_cast<int64_t>(operation.tick));
          break;
        case Kind::count:
          sink.literal(CountText(operation.keys.size()).view());
          break;
        case Kind::value:
          sink.value(key);
          break;
      }
    }
  }

  /// A count belongs to the request's form and is no parameter, so it goes out as text.
  class CountText {
   public:
    explicit CountText(size_t count);
    [[nodiscard]] std::string_view view() const { return {digits_, length_}; }

   private:
    char digits_[20];
    size_t length_;
  };

  std::vector<Section> sections_;
};

/// Writes values as plain text. `Derived` protocols that quote or count have sinks of their own.
class PlainSink {
 public:
  PlainSink(const Table& table, const std::vector<size_t>& columns, Buffer& out) : table_(table), columns_(columns), out_(out) {}
  void literal(std::string_view bytes) { out_.append(bytes); }
  void integer(int64_t number) { append_number(out_, number); }
  void column(const Column& column, uint32_t row) { column.formula.append(out_, row); }
  void value(uint32_t row);

 private:
  const Table& table_;
  const std::vector<size_t>& columns_;
  Buffer& out_;
};

}  // namespace rowsocket::bench
