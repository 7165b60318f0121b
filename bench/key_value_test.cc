// SPDX-License-Identifier: GPL-2.0-only
//
// memcached and Redis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/test_workload.h"

namespace rowsocket::bench {
namespace {

constexpr const char* read = "keys 2 of 1 to 9\nrequest\ncolumns name,age\nanswer 1 rows from {k}\n";

TEST(Memcached, GetTakesManyKeys) {
  const Spoken get("memcached", std::string(read) + "memcached get user:{k}");
  EXPECT_EQ(get.request({3, 5}), "get user:3 user:5\r\n");
  EXPECT_EQ(get.right_reply({3, 5}), "VALUE user:3 0 7\r\nuser3\t4\r\nVALUE user:5 0 7\r\nuser5\t6\r\nEND\r\n");
}

TEST(Memcached, SetSaysHowLongTheValueIs) {
  const Spoken set("memcached", "request\ncolumns name,age\nanswer inserted\nmemcached set user:{k} {value}");
  EXPECT_EQ(set.request({12}), "set user:12 0 0 9\r\nuser12\t13\r\n");
  EXPECT_EQ(set.right_reply({12}), "STORED\r\n");
}

TEST(Memcached, IncrIsAnsweredWithANumber) {
  const Spoken increment("memcached", "request\nanswer number\nmemcached incr hits:{k} 1");
  EXPECT_EQ(increment.request({1}), "incr hits:1 1\r\n");
  EXPECT_EQ(increment.protocol->check_reply({0, 0, {1}}, "4"), 0u);
  EXPECT_EQ(increment.protocol->check_reply({0, 0, {1}}, "42\r"), 0u);
  EXPECT_EQ(increment.protocol->check_reply({0, 0, {1}}, "42\r\n43\r\n"), 4u);
  EXPECT_THROW((void)increment.protocol->check_reply({0, 0, {1}}, "NOT_FOUND\r\n"), WrongAnswer);
  EXPECT_THROW((void)increment.protocol->check_reply({0, 0, {1}}, "\r\n"), WrongAnswer);
}

TEST(Redis, ARequestIsAnArrayOfItsWords) {
  const Spoken get("redis", "request\ncolumns name,age\nanswer 1 rows from {k}\nredis GET user:{k}");
  EXPECT_EQ(get.request({3}), "*2\r\n$3\r\nGET\r\n$6\r\nuser:3\r\n");
  EXPECT_EQ(get.right_reply({3}), "$7\r\nuser3\t4\r\n");
}

TEST(Redis, MgetIsAnsweredWithAnArray) {
  const Spoken get("redis", std::string(read) + "redis MGET user:{k}");
  EXPECT_EQ(get.request({3, 5}), "*3\r\n$4\r\nMGET\r\n$6\r\nuser:3\r\n$6\r\nuser:5\r\n");
  EXPECT_EQ(get.right_reply({3, 5}), "*2\r\n$7\r\nuser3\t4\r\n$7\r\nuser5\t6\r\n");
}

TEST(Redis, WritesAreAnsweredOkOrWithANumber) {
  const Spoken writes("redis",
                      "request\ncolumns name\nanswer changed\nredis SET user:{k} {value}\n"
                      "request\nanswer number\nredis INCR hits:{k}");
  EXPECT_EQ(writes.request({3}), "*3\r\n$3\r\nSET\r\n$6\r\nuser:3\r\n$5\r\nuser3\r\n");
  EXPECT_EQ(writes.right_reply({3}), "+OK\r\n");
  EXPECT_EQ(writes.protocol->check_reply({1, 0, {3}}, ":17\r\n"), 5u);
  EXPECT_THROW((void)writes.protocol->check_reply({1, 0, {3}}, "-ERR no\r\n"), WrongAnswer);
}

TEST(KeyValue, ARequestWithoutItsKeyIsRefused) {
  EXPECT_THAT([] { Spoken("redis", "request\nanswer changed\nredis PING"); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("\"PING\" names no key")));
}

}  // namespace
}  // namespace rowsocket::bench
