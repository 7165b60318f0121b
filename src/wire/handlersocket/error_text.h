// SPDX-License-Identifier: GPL-2.0-only
//
// How an error stands on the wire. Clients look at the code, and some at the text.
#pragma once

#include <string_view>

#include "request/error.h"

namespace rowsocket::wire::handlersocket {

struct ErrorText {
  char code;              ///< '1' the table, its engine or the server refused; '2' the request is wrong; '3'
                          ///< authentication
  std::string_view text;  ///< empty: the error's number stands here
};
[[nodiscard]] ErrorText error_text(ErrorCode code);

}  // namespace rowsocket::wire::handlersocket
