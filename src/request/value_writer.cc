// SPDX-License-Identifier: GPL-2.0-only
#include "request/value_writer.h"

#include <algorithm>
#include <charconv>

#include "base/limits.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rowsocket {
namespace {

/// Copies [from, end) to `to`, escaped. Where the next byte goes.
inline char* escape(const char* from, const char* end, char* to, const ValueFormat& format) {
  for (; from != end; ++from) {
    const auto byte = static_cast<unsigned char>(*from);
    if (byte < format.escape_below) [[unlikely]] {
      *to++ = format.escape_lead;
      *to++ = static_cast<char>(byte + format.escape_shift);
    } else {
      *to++ = *from;
    }
  }
  return to;
}

size_t count_escapes(std::string_view bytes, const ValueFormat& format) {
  return static_cast<size_t>(std::count_if(bytes.begin(), bytes.end(), [&format](char byte) {
    return static_cast<unsigned char>(byte) < format.escape_below;
  }));
}

#if defined(__SSE2__)
/// Of the bytes in these lanes: max(b, limit) == b exactly where b >= limit.
inline bool need_no_escape(__m128i bytes, __m128i limit, int lanes) {
  const int plain_lanes = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(bytes, limit), bytes));
  return (plain_lanes & lanes) == lanes;
}
#endif

}  // namespace

/// False if no value follows.
bool ValueWriter::begin_value() {
  if (per_column_.prefixes != nullptr) {
    out_.append(per_column_.prefixes[column_]);
  }
  if (per_column_.told_count != nullptr) {
    ++*per_column_.told_count;
  }
  if (format_.named == ValueFormat::Named::values) [[likely]] {
    return true;
  }
  length_prefixed(name_);
  return format_.named == ValueFormat::Named::names_and_values;
}

void ValueWriter::end_value(bool is_null) {
  if (per_column_.ends != nullptr) {
    per_column_.ends[column_] = {out_.size(), is_null};
  }
  ++column_;
}

void ValueWriter::length_prefixed(std::string_view bytes) {
  constexpr size_t digits_max = 20;
  constexpr std::string_view line_end = "\r\n";
  if (!out_.reserve(1 + digits_max + bytes.size() + 2 * line_end.size())) [[unlikely]] {
    return;
  }
  char* to = out_.end();
  char* const start = to;
  *to++ = format_.length_lead;
  to = std::to_chars(to, to + digits_max, bytes.size()).ptr;
  to = std::copy(line_end.begin(), line_end.end(), to);
  to = std::copy(bytes.begin(), bytes.end(), to);
  to = std::copy(line_end.begin(), line_end.end(), to);
  out_.advance(static_cast<size_t>(to - start));
}

void ValueWriter::framed(std::string_view bytes) {
  if (!begin_value()) [[unlikely]] {
    end_value(false);
    return;
  }
  switch (format_.framing) {
    case ValueFormat::Framing::separated:
      escaped(bytes);
      break;
    case ValueFormat::Framing::bare:
      out_.append(bytes);
      break;
    case ValueFormat::Framing::length_prefixed:
      length_prefixed(bytes);
      break;
  }
  end_value(false);
}

void ValueWriter::framed_null() {
  if (format_.leaves_out_null || !begin_value()) {
    end_value(true);
    return;
  }
  if (format_.framing == ValueFormat::Framing::separated) {
    out_.append(format_.separator);
  }
  out_.append(format_.null_token);
  end_value(true);
}

void ValueWriter::escaped(std::string_view bytes) {
  // Twice the size is room for the worst case, so the loop needs no check. Of a long value the escapes are
  // counted instead.
  const size_t escapes =
      bytes.size() <= limits::value_bytes_measured ? bytes.size() : count_escapes(bytes, format_);
  if (!out_.reserve(1 + bytes.size() + escapes + 16)) [[unlikely]] {
    return;
  }
  char* to = out_.end();
  const char* const start = to;
  const char* from = bytes.data();
  const char* const from_end = from + bytes.size();
  *to++ = format_.separator;
#if defined(__SSE2__)
  const __m128i limit = _mm_set1_epi8(static_cast<char>(format_.escape_below));
  for (; from_end - from >= 16; from += 16) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if (need_no_escape(chunk, limit, 0xFFFF)) [[likely]] {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), chunk);
      to += 16;
    } else {
      to = escape(from, from + 16, to, format_);
    }
  }
  if (from_end - from >= 8) {
    const __m128i chunk = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    if (need_no_escape(chunk, limit, 0xFF)) [[likely]] {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to), chunk);
      to += 8;
      from += 8;
    }
  }
  if (from_end - from >= 4) {
    int chunk = 0;
    std::memcpy(&chunk, from, sizeof chunk);
    if (need_no_escape(_mm_cvtsi32_si128(chunk), limit, 0xF)) [[likely]] {
      std::memcpy(to, &chunk, sizeof chunk);
      to += sizeof chunk;
      from += sizeof chunk;
    }
  }
#endif
  to = escape(from, from_end, to, format_);
  out_.advance(static_cast<size_t>(to - start));
}

}  // namespace rowsocket
