// SPDX-License-Identifier: GPL-2.0-only
#include "wire/memcached/meta_line.h"

#include "base/limits.h"

namespace rowsocket::wire::memcached {
namespace {

constexpr std::string_view bad_token = "CLIENT_ERROR bad token in command line format";
constexpr std::string_view no_answer = "CLIENT_ERROR invalid flag: a table has no answer to it";
constexpr std::string_view opaque_too_long = "CLIENT_ERROR opaque token too long";

/// The flags that each command takes.
std::string_view flags_of(char command) {
  switch (command) {
    case 'g':
      return "bcfkLOPqstTuv";
    case 's':
      return "bcCEFkLMNOPqT";
    case 'd':
      return "bCEkLOPqx";
    case 'a':
      return "bcCDEJkLMNOPqtTv";
    default:
      return "bLP";
  }
}

std::string_view read_flag(std::string_view flag, Meta& meta) {
  const std::string_view token = flag.substr(1);
  if (flags_of(meta.command).find(flag[0]) == std::string_view::npos) {
    constexpr std::string_view of_memcached = "EhIlNRT";
    return of_memcached.find(flag[0]) != std::string_view::npos ? no_answer : "CLIENT_ERROR invalid flag";
  }
  bool is_right = true;
  switch (flag[0]) {
    case 'b':
      meta.is_base64 = true;
      break;
    case 'q':
      meta.is_quiet = true;
      break;
    case 'v':
      meta.tells_value = true;
      break;
    case 'C':
      meta.has_cas = true;
      is_right = parse_number(token, meta.cas);
      break;
    case 'T':
      meta.has_expiry = true;
      is_right = parse_number(token, meta.exptime);
      break;
    case 'E':
      is_right = parse_number(token, meta.new_cas.emplace());
      break;
    case 'N':
      is_right = parse_number(token, meta.made_exptime.emplace());
      break;
    case 'J':
      if (!parse_number(token, meta.initial)) {
        return "CLIENT_ERROR invalid numeric initial value";
      }
      break;
    case 'x':
      meta.keeps_row = true;
      break;
    case 'F':
      if (!parse_number(token, meta.client_flags)) {
        return bad_format;
      }
      break;
    case 'D':
      if (!parse_number(token, meta.delta)) {
        return "CLIENT_ERROR invalid numeric delta value";
      }
      break;
    case 'M':
      if (token.size() != 1) {
        return "CLIENT_ERROR incorrect length for M token";
      }
      meta.mode = token[0];
      break;
    case 'O':
      if (token.size() > limits::memcached_opaque_bytes_max) {
        return opaque_too_long;
      }
      break;
    default:
      break;
  }
  return is_right ? std::string_view() : bad_token;
}

}  // namespace

std::string_view as_told(const Meta& meta, std::string_view wrong) {
  const bool tells_less = meta.command == 'd' || meta.command == 'a';
  return tells_less && !wrong.empty() && wrong != no_answer && wrong != opaque_too_long
             ? "CLIENT_ERROR invalid or duplicate flag"
             : wrong;
}

bool read_flags(const Scope& scope, Words words, Meta& meta) {
  const size_t count = words.count_left();
  if (count > limits::memcached_flag_count_max) {
    meta.wrong = "CLIENT_ERROR options flags are too long";
    return true;
  }
  const auto flags = scope.arena().array<std::string_view>(count);
  if (flags.size() != count) {
    return false;
  }
  for (size_t number = 0; number < count; ++number) {
    flags[number] = words.next();
    const char letter = flags[number][0];
    const bool is_double = std::any_of(flags.begin(), flags.begin() + static_cast<ptrdiff_t>(number),
                                       [letter](auto one) { return one[0] == letter; });
    const std::string_view wrong = is_double ? "CLIENT_ERROR duplicate flag" : read_flag(flags[number], meta);
    meta.wrong = meta.wrong.empty() ? as_told(meta, wrong) : meta.wrong;
  }
  meta.flags = flags;
  return true;
}

}  // namespace rowsocket::wire::memcached
