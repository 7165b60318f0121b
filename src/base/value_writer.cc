// SPDX-License-Identifier: GPL-2.0-only
#include "base/value_writer.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rowsocket {

void ValueWriter::text(std::string_view bytes) {
  // Twice the size is room for the worst case, so the loop needs no check. A value that would not fit twice over may still fit once:
  // the cap of a reply is coarse on purpose.
  if (!out_.reserve(1 + 2 * bytes.size() + 16)) [[unlikely]] {
    return;
  }
  char* to = out_.end();
  const char* const start = to;
  const char* from = bytes.data();
  const char* const from_end = from + bytes.size();
  *to++ = format_.separator;
#if defined(__SSE2__)
  // 16 at a time while no byte needs escaping: max(b, limit) == b exactly where b >= limit.
  const __m128i limit = _mm_set1_epi8(static_cast<char>(format_.escape_below));
  while (from_end - from >= 16) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(chunk, limit), chunk)) != 0xFFFF) {
      break;
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), chunk);
    from += 16;
    to += 16;
  }
#endif
  for (; from != from_end; ++from) {
    const auto byte = static_cast<unsigned char>(*from);
    if (byte < format_.escape_below) [[unlikely]] {
      *to++ = format_.escape_lead;
      *to++ = static_cast<char>(byte + format_.escape_shift);
    } else {
      *to++ = *from;
    }
  }
  out_.advance(static_cast<size_t>(to - start));
}

}  // namespace rowsocket
