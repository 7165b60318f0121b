// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/token_reader.h"

#include <cstring>

namespace rowsocket::wire::handlersocket {
namespace {

constexpr char escape_lead = 0x01;
constexpr unsigned char escape_shift = 0x40;
constexpr unsigned char escaped_below = 0x10;

/// Unescapes `token` to `to`, where there is room for it all. The number of bytes written, or -1 at a bad
/// escape.
ptrdiff_t unescape(std::string_view token, char* to) {
  const char* const to_begin = to;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != escape_lead) {
      *to++ = token[i];
      continue;
    }
    if (++i == token.size()) {
      return -1;
    }
    const auto byte = static_cast<unsigned char>(static_cast<unsigned char>(token[i]) - escape_shift);
    if (byte >= escaped_below) {
      return -1;
    }
    *to++ = static_cast<char>(byte);
  }
  return to - to_begin;
}

}  // namespace

size_t TokenReader::tokens_left(size_t count_max) const {
  size_t count = 0;
  for (TokenReader ahead = *this; count < count_max && ahead.has_token(); ahead.token()) {
    ++count;
  }
  return count;
}

const char* TokenReader::find_separator(const char* from) const {
  const void* const found = std::memchr(from, '\t', static_cast<size_t>(end_ - from));
  return found == nullptr ? end_ : static_cast<const char*>(found);
}

Value TokenReader::decode(std::string_view token) {
  if (token == null_token) {
    return {};
  }
  if (token == now_token) {
    return Value::now();
  }
  // A raw NUL in a longer value is refused, although the original takes it: a client that does not escape NUL
  // would turn the value "\0" into NULL.
  if (token.find('\0') != std::string_view::npos) {
    fail(ErrorCode::syntax);
    return {};
  }
  if (token.find(escape_lead) == std::string_view::npos) {
    return Value(token);
  }
  char* const to = arena_->allocate(token.size());
  if (to == nullptr) {
    fail(ErrorCode::out_of_memory);
    return {};
  }
  const ptrdiff_t byte_count = unescape(token, to);
  if (byte_count < 0) {
    fail(ErrorCode::syntax);
    return {};
  }
  return {to, static_cast<size_t>(byte_count)};
}

}  // namespace rowsocket::wire::handlersocket
