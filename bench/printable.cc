// SPDX-License-Identifier: GPL-2.0-only
#include "bench/printable.h"

#include <array>
#include <cstdio>

namespace rowsocket::bench {

std::string printable(std::string_view bytes) {
  constexpr size_t shown_max = 200;
  std::string text = "\"";
  for (const char byte : bytes.substr(0, shown_max)) {
    if (byte == '\t') {
      text += "\\t";
    } else if (byte == '\n') {
      text += "\\n";
    } else if (byte < ' ' || byte > '~') {
      std::array<char, 5> escaped;
      (void)std::snprintf(escaped.data(), escaped.size(), "\\x%02x", static_cast<unsigned char>(byte));
      text += escaped.data();
    } else {
      text += byte;
    }
  }
  return text + (bytes.size() > shown_max ? "\"..." : "\"");
}

}  // namespace rowsocket::bench
