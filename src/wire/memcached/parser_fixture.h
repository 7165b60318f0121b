// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: requests of memcached in words.
#pragma once

#include "request/protocol_fixture.h"
#include "wire/memcached/memcached.h"
#include "wire/memcached/state.h"

namespace rowsocket::wire::memcached::test {

class MemcachedTest : public rowsocket::test::ProtocolTest<State> {
 protected:
  MemcachedTest() : ProtocolTest(memcached_protocol()) {}

  const Find& find_of(std::string_view input) { return find_in(request_of(input)); }
  const Insert& insert_of(std::string_view input) { return insert_in(request_of(input)); }
  std::string answer_to(std::string_view input) { return answer_of(request_of(input)); }
};

}  // namespace rowsocket::wire::memcached::test
