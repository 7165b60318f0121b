// SPDX-License-Identifier: GPL-2.0-only
//
// A command and its arguments, out of the bytes that a client sent: an array of strings with their lengths in
// front, or a line of words as a person types it.
//
//   *2 CR LF $3 CR LF GET CR LF $1 CR LF a CR LF
//   GET a CR LF
//
// Pure functions over the input. Whatever is found does not depend on how the bytes were cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/arena.h"

namespace rowsocket::wire::resp {

/// Behind each part of a request and of a reply.
inline constexpr std::string_view line_end = "\r\n";

using Arguments = std::span<const std::string_view>;

struct Reading {
  enum class Status : uint8_t {
    whole,
    need_more,
    empty,         ///< a request that has no words
    broken,        ///< the stream can not be followed: `problem`
    out_of_memory  ///< `bytes` are the request's
  };
  Status status = Status::need_more;
  size_t bytes = 0;               ///< of the request
  Arguments arguments = {};       ///< views of the input or the arena
  std::string_view line = {};     ///< of a request that is a line
  std::string_view problem = {};  ///< a text for people, which lives as long as the program
};

/// A request has at most `bytes_max` bytes. `needed_bytes` remembers between calls how many bytes the input
/// has at least when it holds a whole request (0 at first).
[[nodiscard]] Reading read_arguments(std::string_view input, size_t bytes_max, Arena& arena,
                                     size_t& needed_bytes);

}  // namespace rowsocket::wire::resp
