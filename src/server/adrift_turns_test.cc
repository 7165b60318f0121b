// SPDX-License-Identifier: GPL-2.0-only
#include "server/adrift_requests.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/invariant.h"
#include "engine/memory/memory_engine.h"

namespace rowsocket::server {
namespace {

struct Client final : exec::Presence {
  [[nodiscard]] bool is_gone() const override { return gone; }
  bool gone = false;
};

TEST(AdriftRequests, those_whose_clients_have_gone_are_stopped) {
  engine::memory::MemoryEngine engine;
  const auto session = engine.create_session({});
  const auto other = engine.create_session({});
  const Client stays;
  Client leaves;
  const exec::WriteUnderWay write;
  AdriftRequests adrift;
  for (int count = 0; count < 2; ++count) {
    adrift.make_room();
    adrift.add(count == 0 ? stays : leaves, count == 0 ? *other : *session, write, 7);
  }
  leaves.gone = true;
  adrift.stop_those_gone();
  adrift.stop_those_gone();
  const AdriftRequests::Request request = adrift.remove(*session);
  EXPECT_TRUE(request.is_stopped);
  EXPECT_EQ(request.since_us, 7);
  EXPECT_FALSE(adrift.remove(*other).is_stopped);
  const uint64_t broken_before = broken_invariants();
  EXPECT_EQ(adrift.remove(*session).session, nullptr) << "it is not there any more";
  EXPECT_EQ(broken_invariants(), broken_before + 1);
}

class GoneClientTest : public testing::Test {
 protected:
  GoneClientTest() {
    client_.gone = true;
    adrift_.make_room();
    adrift_.add(client_, *session_, write_, 7);
  }
  bool is_stopped() { return adrift_.remove(*session_).is_stopped; }

  engine::memory::MemoryEngine engine_;
  std::unique_ptr<engine::Session> session_ = engine_.create_session({});
  Client client_;
  const exec::WriteUnderWay write_;
  AdriftRequests adrift_;
};

TEST_F(GoneClientTest, a_request_has_some_time_to_end_by_itself) {
  adrift_.stop_those_gone();
  EXPECT_FALSE(is_stopped());
}

TEST_F(GoneClientTest, a_commit_before_a_request_takes_none_of_its_time) {
  adrift_.stop_those_gone();
  session_->keep_stops_off(true);
  adrift_.stop_those_gone();
  session_->keep_stops_off(false);
  adrift_.stop_those_gone();
  EXPECT_FALSE(is_stopped());
}

TEST(AdriftRequests, a_write_is_known_to_take_long_before_it_is_over) {
  constexpr exec::LongRequests::Place place = 7;
  engine::memory::MemoryEngine engine;
  const auto session = engine.create_session({});
  const Client client;
  exec::WriteUnderWay write;
  write.add(place);
  exec::LongRequests long_requests{1};
  AdriftRequests adrift;
  adrift.make_room();
  adrift.add(client, *session, write, 1000);
  constexpr uint64_t long_us = limits::long_write_us_min;
  adrift.note_long(long_requests, 1000 + long_us);
  adrift.note_long(long_requests, 1001 + long_us);
  long_requests.note_commit(place, long_us);
  EXPECT_TRUE(long_requests.expects(place));
  long_requests.note_commit(place, limits::commit_behind_us_min);
  EXPECT_FALSE(long_requests.expects(place)) << "the same time counts once";
  EXPECT_EQ(adrift.remove(*session).noted_us, long_us + 1);
}

}  // namespace
}  // namespace rowsocket::server
