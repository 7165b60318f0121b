// SPDX-License-Identifier: GPL-2.0-only
//
// What went wrong, in one line for people: for protocols that put a word of their own in front and a line end
// behind. What it quotes is bounded, and has no line ends.
//
//   container 'name': error_name number: detail
//   container 'name': problem
#pragma once

#include <string_view>

#include "base/buffer.h"
#include "request/containers.h"
#include "request/error.h"

namespace rowsocket {

/// `container` is the one that the request was about, or nullptr. A client that named no table is not told
/// which table was denied to it.
void append_error_text(Buffer& out, const Error& error, const Container* container);

/// A container can not be used; with an empty name, none can.
void append_problem_text(Buffer& out, std::string_view container_name, std::string_view problem);

}  // namespace rowsocket
