// SPDX-License-Identifier: GPL-2.0-only
//
// What request/protocol_fuzzing.h says of any protocol, of memcached's: every reply is whole lines.
//
// Seeds and dictionary: memcached_fuzz_corpus, memcached_fuzz.dict.
#include "request/protocol_fuzzing.h"
#include "wire/memcached/memcached.h"

namespace {

using namespace rowsocket;

std::string shown(std::string_view reply) {
  fuzzing::require(reply.empty() || reply.ends_with("\r\n"));
  return reply.starts_with("STAT ") ? "(stats)" : std::string(reply);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Protocol& protocol = wire::memcached::memcached_protocol();
  return fuzzing::fuzz({.protocol = protocol,
                        .new_state = [] { return wire::memcached::memcached_protocol().new_state(); },
                        .shown = shown},
                       data, size);
}
