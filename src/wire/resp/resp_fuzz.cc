// SPDX-License-Identifier: GPL-2.0-only
//
// What request/protocol_fuzzing.h says of any protocol, of RESP: each request has one reply, with as many
// parts as it says.
//
// Seeds and dictionary: resp_fuzz_corpus, resp_fuzz.dict.
#include <charconv>

#include "request/protocol_fuzzing.h"
#include "wire/resp/resp.h"
#include "wire/resp/scan_places.h"
#include "wire/resp/state.h"

namespace {

using namespace rowsocket;
using fuzzing::require;

/// One reply at the front is taken away; false if there is none that is whole.
bool take_reply(std::string_view& answer) {
  const size_t end = answer.find("\r\n");
  if (end == std::string_view::npos || end == 0) {
    return false;
  }
  const char kind = answer[0];
  const std::string_view head = answer.substr(1, end - 1);
  answer.remove_prefix(end + 2);
  if (kind == '+' || kind == '-' || kind == ':' || kind == '_') {
    return true;
  }
  int64_t count = 0;
  const auto parsed = std::from_chars(head.data(), head.data() + head.size(), count);
  require(parsed.ec == std::errc() && parsed.ptr == head.data() + head.size());
  if (kind == '$') {
    if (count == -1) {
      return true;
    }
    const auto bytes = static_cast<size_t>(count);
    if (answer.size() < bytes + 2 || answer.substr(bytes, 2) != "\r\n") {
      return false;
    }
    answer.remove_prefix(bytes + 2);
    return true;
  }
  require(kind == '*' || kind == '%');
  for (int64_t part = 0; part < (kind == '%' ? 2 * count : count); ++part) {
    if (!take_reply(answer)) {
      return false;
    }
  }
  return true;
}

std::string shown(std::string_view reply) {
  std::string_view rest = reply;
  require(rest.empty() || (take_reply(rest) && rest.empty()));
  return std::string(reply);
}

std::unique_ptr<WireState> new_state() {
  wire::resp::ScanPlaces::all().clear();  // so that the same scans have the same cursors
  auto state = std::make_unique<wire::resp::State>();
  state->id = 1;
  return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzzing::fuzz({.protocol = wire::resp::resp_protocol(), .new_state = new_state, .shown = shown},
                       data, size);
}
