// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: requests of RESP in words.
#pragma once

#include <initializer_list>

#include "request/protocol_fixture.h"
#include "wire/resp/resp.h"
#include "wire/resp/state.h"

namespace rowsocket::wire::resp::test {

/// A command as clients send it.
[[nodiscard]] inline std::string encoded(std::initializer_list<std::string_view> arguments) {
  std::string bytes = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string_view argument : arguments) {
    bytes += "$" + std::to_string(argument.size()) + "\r\n" + std::string(argument) + "\r\n";
  }
  return bytes;
}

/// So many names of columns: c0,c1,...
[[nodiscard]] inline std::string names(size_t count) {
  std::string list;
  for (size_t number = 0; number < count; ++number) {
    list += (number == 0 ? "c" : ",c") + std::to_string(number);
  }
  return list;
}

class RespTest : public rowsocket::test::ProtocolTest<State> {
 protected:
  using Words = std::initializer_list<std::string_view>;

  RespTest() : ProtocolTest(resp_protocol()) {}

  const Find& find_of(Words arguments) { return find_in(request_of(encoded(arguments))); }
  const Insert& insert_of(Words arguments) { return insert_in(request_of(encoded(arguments))); }
  /// What is inserted where the row that is to be changed is not there.
  const Insert& inserted_by(Words arguments) {
    const Find& find = find_of(arguments);
    EXPECT_NE(find.otherwise, nullptr);
    EXPECT_EQ(find.otherwise->reply, find.reply);
    return *find.otherwise;
  }
  std::string answer_to(Words arguments) { return answer_of(request_of(encoded(arguments))); }
};

}  // namespace rowsocket::wire::resp::test
