// SPDX-License-Identifier: GPL-2.0-only
#include "bench/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace rowsocket::bench {
namespace {

Options parse(std::vector<std::string> words) {
  std::vector<char*> arguments{words.front().data()};
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    arguments.push_back(word->data());
  }
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string complaint(const std::vector<std::string>& words) {
  try {
    (void)parse(words);
  } catch (const std::runtime_error& failure) {
    return failure.what();
  }
  return "";
}

TEST(Options, AreTakenFromTheCommandLine) {
  const Options options = parse({"load", "--port", "9998", "--workload", "in", "--keys", "7", "--zipf", "0.99", "--describe"});
  EXPECT_EQ(options.endpoint.port, 9998);
  EXPECT_EQ(options.workload, "in");
  EXPECT_EQ(options.settings.keys_per_request, 7u);
  EXPECT_EQ(options.task, Task::describe);
  EXPECT_DOUBLE_EQ(options.zipf_exponent, 0.99);
}

TEST(Options, InsertsBeginAfterTheRowsThatAreThere) { EXPECT_EQ(parse({"load", "--port", "1", "--rows", "10"}).first_key, 11u); }

TEST(Options, AMistakeIsNamed) {
  EXPECT_THAT(complaint({"load", "--prot", "x"}), testing::HasSubstr("unknown option --prot"));
  EXPECT_THAT(complaint({"load", "--port"}), testing::HasSubstr("--port needs a value"));
  EXPECT_THAT(complaint({"load", "--port", "70000"}), testing::HasSubstr("--port: \"70000\" is not a number"));
  EXPECT_THAT(complaint({"load", "--set", "take"}), testing::HasSubstr("--set: \"take\" is not NAME=VALUE"));
}

TEST(Options, HelpNamesEveryOption) {
  EXPECT_EQ(parse({"load", "--help"}).task, Task::help);
  EXPECT_THAT(usage(), testing::HasSubstr("--server-pid PID"));
}

}  // namespace
}  // namespace rowsocket::bench
