// SPDX-License-Identifier: GPL-2.0-only
#include "request/error_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/limits.h"

namespace rowsocket {
namespace {

void append_quoted(Buffer& out, std::string_view text) {
  text = text.substr(0, limits::error_text_bytes_max);
  const size_t begin = out.size();
  out.append(text);
  if (!out.failed()) {
    std::replace_if(
        out.data() + begin, out.data() + out.size(), [](char byte) { return byte >= 0 && byte < ' '; }, ' ');
  }
}

void append_container(Buffer& out, std::string_view name) {
  out.append("container '");
  append_quoted(out, name);
  out.append("': ");
}

}  // namespace

void append_error_text(Buffer& out, const Error& error, const Container* container) {
  if (container != nullptr) {
    append_container(out, container->name);
  }
  out.append(error_name(error.code));
  if (error.number != 0) {
    char number[16] = {' '};
    const char* const end = std::to_chars(number + 1, std::end(number), error.number).ptr;
    out.append({number, static_cast<size_t>(end - number)});
  }
  const std::string_view known = container != nullptr ? detail_without_object(error) : error.detail();
  const std::string_view detail = known.empty() ? explanation(error.code) : known;
  if (!detail.empty()) {
    out.append(": ");
    append_quoted(out, detail);
  }
}

void append_problem_text(Buffer& out, std::string_view container_name, std::string_view problem) {
  if (!container_name.empty()) {
    append_container(out, container_name);
  }
  append_quoted(out, problem);
}

}  // namespace rowsocket
