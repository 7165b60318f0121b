// SPDX-License-Identifier: GPL-2.0-only
//
// A form is the bytes of a request or of a reply, with blanks. A blank is a field: the player puts a number
// into it for each request. Every field has a fixed width, so a form has a fixed size too, and nothing has to
// be parsed:
//
//   bytes    1 ⇥ = ⇥ 1 ⇥ 0 0 0 0 0 0 0 0 ↵
//   field                '--- key 0 ---'
//
// One kind of field is different: `digits` stands between two bytes of a reply, and takes one or more digits
// there. It is for numbers that nobody can foretell. Forms do not change after they were made; they own their
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rowsocket::bench {

/// What a field's number is made from.
enum class Source : uint8_t { key, tick, connection, digits };

struct Field {
  size_t at = 0;        ///< of the form's bytes
  size_t width = 0;     ///< bytes
  bool binary = false;  ///< little endian; else decimal digits with leading zeros
  Source of = Source::key;
  size_t key = 0;  ///< which of the request's keys
  uint64_t multiply = 1;
  uint64_t add = 0;
  uint64_t divide = 1;
  uint64_t modulo = 0;  ///< 0 = the whole number
};

/// The numbers of one request.
struct Numbers {
  const std::vector<uint32_t>& keys;
  uint64_t tick = 0;        ///< differs from request to request
  uint64_t connection = 0;  ///< the connection's own number
};

/// How much of a reply has arrived.
struct Progress {
  size_t position = 0;  ///< in the form's bytes
  size_t field = 0;     ///< the next one
  bool saw_digit = false;
};

class Form {
 public:
  /// Fields are in ascending order. Throws std::runtime_error where one does not fit.
  Form(std::string bytes, std::vector<Field> fields);
  Form() = default;

  /// Appends the filled-in form.
  void write(const Numbers& numbers, std::string& out) const;

  /// Compares what was received with the form from where `progress` stands, and takes what is right off the
  /// front. False at the first wrong byte. Ends early where the form does: what is left belongs to the next
  /// reply.
  [[nodiscard]] bool take(const Numbers& numbers, std::string_view& received, Progress& progress) const;
  [[nodiscard]] bool is_whole(const Progress& progress) const { return progress.position == bytes_.size(); }

 private:
  std::string bytes_;
  std::vector<Field> fields_;
};

}  // namespace rowsocket::bench
