// SPDX-License-Identifier: GPL-2.0-only
#include "bench/operation_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/test_workload.h"

namespace rowsocket::bench {
namespace {

class OperationSourceTest : public testing::Test {
 protected:
  /// The operations that follow from a workload, one after the other.
  std::vector<Operation> draw(const std::string& text, size_t count) {
    const Workload workload = test_workload(text);
    OperationSource source(options_, workload);
    std::vector<Operation> operations(count);
    for (Operation& operation : operations) {
      source.next(operation);
    }
    unused_key_ = source.unused_key();
    return operations;
  }

  Options options_;
  uint32_t unused_key_ = 0;
};

TEST_F(OperationSourceTest, KeysOfARequestDifferAndAscend) {
  for (const Operation& operation : draw("keys 8 of 11 to 20\nrequest\nanswer inserted", 200)) {
    EXPECT_TRUE(std::is_sorted(operation.keys.begin(), operation.keys.end(), std::less_equal<>()));
    EXPECT_THAT(operation.keys, testing::Each(testing::AllOf(testing::Ge(11u), testing::Le(20u))));
  }
}

TEST_F(OperationSourceTest, EvenWhenFewKeysAreDrawnNearlyAlways) {
  options_.zipf_exponent = 10;
  EXPECT_THAT(draw("keys 4 of 1 to 4\nrequest\nanswer inserted", 20),
              testing::Each(testing::Field(&Operation::keys, testing::ElementsAre(1, 2, 3, 4))));
}

TEST_F(OperationSourceTest, RowsAreMadeUnderTheNextKeys) {
  options_.first_key = 50;
  const auto operations = draw("keys 2 next\nrequest\nanswer inserted", 2);
  EXPECT_THAT(operations[0].keys, testing::ElementsAre(50, 51));
  EXPECT_THAT(operations[1].keys, testing::ElementsAre(52, 53));
  EXPECT_EQ(unused_key_, 54u);
}

TEST_F(OperationSourceTest, RequestsAreDrawnByWeight) {
  const auto operations = draw("keys 1 of 1 to 9\nrequest 90\nanswer inserted\nrequest 10\nanswer changed", 10'000);
  const auto writes = std::count_if(operations.begin(), operations.end(), [](const auto& one) { return one.request == 1; });
  EXPECT_NEAR(static_cast<double>(writes), 1000, 150);
}

TEST_F(OperationSourceTest, TheSameSeedDrawsTheSameKeys) {
  const std::string text = "keys 1 of 1 to 1000000\nrequest\nanswer inserted";
  EXPECT_EQ(draw(text, 1)[0].keys, draw(text, 1)[0].keys);
  options_.seed = 2;
  const auto other = draw(text, 1)[0].keys;
  options_.seed = 1;
  EXPECT_NE(draw(text, 1)[0].keys, other);
}

TEST_F(OperationSourceTest, TicksDiffer) {
  const auto operations = draw("request\nanswer changed", 2);
  EXPECT_NE(operations[0].tick, operations[1].tick);
}

}  // namespace
}  // namespace rowsocket::bench
