// SPDX-License-Identifier: GPL-2.0-only
#include "bench/sql_packets.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "bench/connection.h"

namespace rowsocket::bench::sql {

namespace {

constexpr size_t header_bytes = 4;
constexpr size_t payload_bytes_max = 0xFFFFFF - 1;
constexpr unsigned char error_mark = 0xFF;
constexpr unsigned char end_mark = 0xFE;
constexpr size_t end_bytes_max = 8;  ///< a longer packet with this mark is a row
constexpr unsigned char two_bytes_follow = 0xFC;

unsigned char byte_at(std::string_view bytes, size_t position) { return static_cast<unsigned char>(bytes[position]); }

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | byte_at(bytes, i - 1);
  }
  return value;
}

/// Takes packets off the front of what was received.
class PacketReader {
 public:
  explicit PacketReader(std::string_view bytes) : bytes_(bytes) {}

  /// The next payload; nothing if it is not whole.
  std::optional<std::string_view> next() {
    const std::string_view rest = bytes_.substr(position_);
    if (rest.size() < header_bytes || rest.size() < header_bytes + little_endian(rest.substr(0, 3))) {
      return std::nullopt;
    }
    const size_t payload_bytes = little_endian(rest.substr(0, 3));
    position_ += header_bytes + payload_bytes;
    sequence_ = byte_at(rest, 3);
    return rest.substr(header_bytes, payload_bytes);
  }
  [[nodiscard]] size_t position() const { return position_; }
  [[nodiscard]] uint8_t sequence() const { return sequence_; }

 private:
  std::string_view bytes_;
  size_t position_ = 0;
  uint8_t sequence_ = 0;
};

bool is_end(std::string_view payload) {
  return !payload.empty() && byte_at(payload, 0) == end_mark && payload.size() <= end_bytes_max;
}

uint64_t digits(std::string_view text) {
  uint64_t value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Of "2026-01-31 12:00:59".
void append_binary_datetime(Buffer& out, std::string_view text) {
  constexpr char date_bytes = 4;
  constexpr char date_and_time_bytes = 7;
  const bool midnight = text.ends_with(" 00:00:00");
  out.append(midnight ? date_bytes : date_and_time_bytes);
  append_little_endian(out, digits(text.substr(0, 4)), 2);
  for (const size_t place : {5u, 8u}) {
    append_little_endian(out, digits(text.substr(place, 2)), 1);
  }
  for (const size_t place : {11u, 14u, 17u}) {
    if (!midnight) {
      append_little_endian(out, digits(text.substr(place, 2)), 1);
    }
  }
}

}  // namespace

void append_little_endian(Buffer& out, uint64_t value, size_t byte_count) {
  for (size_t i = 0; i < byte_count; ++i) {
    out.append(static_cast<char>(value >> (8 * i)));
  }
}

void append_length(Buffer& out, uint64_t length) {
  constexpr uint64_t one_byte_max = 250;
  if (length <= one_byte_max) {
    out.append(static_cast<char>(length));
  } else if (length <= 0xFFFF) {
    out.append(static_cast<char>(two_bytes_follow));
    append_little_endian(out, length, 2);
  } else {
    out.append(static_cast<char>(two_bytes_follow + 1));
    append_little_endian(out, length, 3);
  }
}

void append_text(Buffer& out, std::string_view bytes) {
  append_length(out, bytes.size());
  out.append(bytes);
}

Packet::Packet(Buffer& out, uint8_t sequence) : out_(out), begin_(out.size()) {
  append_little_endian(out, 0, 3);
  out.append(static_cast<char>(sequence));
}

void Packet::finish() {
  const size_t payload_bytes = out_.size() - begin_ - header_bytes;
  if (payload_bytes > payload_bytes_max) {
    throw std::runtime_error("a packet of more than 16 MiB");
  }
  for (size_t i = 0; i < 3; ++i) {
    out_.data()[begin_ + i] = static_cast<char>(payload_bytes >> (8 * i));
  }
}

void append_binary_value(Buffer& out, ColumnKind kind, std::string_view text) {
  switch (kind) {
    case ColumnKind::tiny:
      return append_little_endian(out, digits(text), 1);
    case ColumnKind::small:
      return append_little_endian(out, digits(text), 2);
    case ColumnKind::normal:
      return append_little_endian(out, digits(text), 4);
    case ColumnKind::big:
      return append_little_endian(out, digits(text), 8);
    case ColumnKind::datetime:
      return append_binary_datetime(out, text);
    case ColumnKind::text:
      return append_text(out, text);
  }
}

std::optional<ResultFrame> parse_result(std::string_view bytes) {
  PacketReader packets(bytes);
  const auto count = packets.next();
  if (!count) {
    return std::nullopt;
  }
  if (count->empty() || byte_at(*count, 0) == error_mark || byte_at(*count, 0) == 0) {
    throw std::runtime_error("no rows but " + printable(*count));
  }
  // A client that remembers the columns of its prepared statements is told here whether they follow once more.
  const bool definitions_follow = count->size() < 2 || byte_at(*count, 1) != 0;
  for (size_t i = 0; definitions_follow && i < byte_at(*count, 0); ++i) {
    if (!packets.next()) {
      return std::nullopt;
    }
  }
  ResultFrame frame;
  const auto take_head = [&] {
    frame.head = bytes.substr(0, packets.position());
    frame.first_row = static_cast<uint8_t>(packets.sequence() + 1);
  };
  take_head();
  bool first = true;
  for (auto payload = packets.next(); payload; payload = packets.next()) {
    if (is_end(*payload) && first) {
      take_head();
    } else if (is_end(*payload)) {
      frame.tail_payload = *payload;
      return frame;
    }
    first = false;
  }
  return std::nullopt;
}

std::optional<Ok> parse_ok(std::string_view bytes) {
  PacketReader packets(bytes);
  const auto payload = packets.next();
  if (!payload) {
    return std::nullopt;
  }
  if (payload->size() < 4 || byte_at(*payload, 0) != 0) {
    return Ok{};
  }
  const unsigned char length = byte_at(*payload, 1);
  return Ok{packets.position(), length == two_bytes_follow ? little_endian(payload->substr(2, 2)) : length};
}

}  // namespace rowsocket::bench::sql
