// SPDX-License-Identifier: GPL-2.0-only
//
// Commands that can not be followed, or that ask for more than there may be.
#include <gmock/gmock.h>

#include <string>

#include "wire/memcached/parser_fixture.h"

namespace rowsocket::wire::memcached::test {
namespace {

using testing::HasSubstr;

class RefusalsTest : public MemcachedTest {
 protected:
  /// Of a line that is too long for being cut at each of its bytes. It outlives its request.
  const Request& request_of_line(const std::string& line) {
    const Parsed parsed = parse(line);
    EXPECT_EQ(parsed.status, Parsed::Status::request);
    return *parsed.request;
  }
  /// The keys of two containers by turns, each of which is a request of its own.
  static std::string by_turns(size_t count) {
    std::string line = "get";
    for (size_t number = 0; number < count; ++number) {
      line += number % 2 == 0 ? " a" : " @@bare.b";
    }
    return line + "\r\n";
  }
};

TEST_F(RefusalsTest, a_get_has_as_many_keys_as_the_setting_says) {
  settings.in_values_max = 2;
  EXPECT_EQ(find_of("get a b\r\n").limit, 2U);
  EXPECT_EQ(answer_to("get a b c\r\n"), "CLIENT_ERROR too many keys\r\n");
}

TEST_F(RefusalsTest, a_get_changes_between_containers_a_bounded_number_of_times) {
  const std::string most = by_turns(limits::group_requests_max);
  const std::string more = by_turns(limits::group_requests_max + 1);
  EXPECT_EQ(static_cast<const Group&>(request_of_line(most)).members.size(), limits::group_requests_max);
  EXPECT_EQ(answer_of(request_of_line(more)), "CLIENT_ERROR too many keys\r\n");
}

TEST_F(RefusalsTest, a_container_that_is_not_there_is_not_chosen) {
  EXPECT_THAT(answer_to("get @@none\r\n"), HasSubstr("there is no such container"));
}

TEST_F(RefusalsTest, without_containers_nothing_is_flushed) {
  settings.allows_flush = true;
  settings.containers = nullptr;
  EXPECT_THAT(answer_to("flush_all\r\n"), HasSubstr("rowsocket_containers names no table"));
}

TEST_F(RefusalsTest, a_meta_command_has_a_bounded_number_of_flags) {
  const auto with_flags = [](size_t count) {
    std::string line = "mg a";
    for (size_t number = 0; number < count; ++number) {
      line += " v";
    }
    return line + "\r\n";
  };
  EXPECT_EQ(answer_to(with_flags(limits::memcached_flag_count_max)), "CLIENT_ERROR duplicate flag\r\n");
  EXPECT_EQ(answer_to(with_flags(limits::memcached_flag_count_max + 1)),
            "CLIENT_ERROR options flags are too long\r\n");
}

TEST_F(RefusalsTest, a_key_in_base64_has_its_digits_only) {
  EXPECT_EQ(words_of(find_of("mg YWJj b v\r\n").range.key), "abc");
  for (const std::string_view key : {"YW-j", "=WJj", "YW=j", "YWJ"}) {
    EXPECT_THAT(answer_to("mg " + std::string(key) + " b v\r\n"), HasSubstr("CLIENT_ERROR ")) << key;
  }
}

TEST_F(RefusalsTest, an_add_does_not_tell_its_number) {
  EXPECT_EQ(answer_to("ms a 1 ME c\r\nx\r\n"), "CLIENT_ERROR c is not told of an add\r\n");
}

}  // namespace
}  // namespace rowsocket::wire::memcached::test
