// SPDX-License-Identifier: GPL-2.0-only
#include "server/adrift_turns.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/memory/memory_engine.h"

namespace rowsocket::server {
namespace {

struct Client final : engine::Presence {
  [[nodiscard]] bool is_gone() const override { return gone; }
  [[nodiscard]] bool is_killed() const override { return killed; }
  bool gone = false;
  bool killed = false;
};

class AdriftTurnsTest : public testing::Test {
 protected:
  AdriftTurnsTest() { add(*session_, client_); }
  void add(engine::Session& session, const Client& client) {
    adrift_.make_room();
    adrift_.add({.session = &session, .since_us = 1000, .client = &client, .write = &write_});
  }
  void look() { adrift_.stop_those_gone(now_ms_); }
  void look_for(uint64_t ms) {
    look();
    now_ms_ += ms;
    look();
  }
  [[nodiscard]] bool is_stopped() const { return session_->was_stopped(); }

  engine::memory::MemoryEngine engine_;
  std::unique_ptr<engine::Session> session_ = engine_.create_session({});
  Client client_;
  exec::WriteUnderWay write_;
  AdriftTurns adrift_;
  uint64_t now_ms_ = 5;
};

TEST_F(AdriftTurnsTest, what_a_client_asked_that_has_gone_is_stopped) {
  const auto other = engine_.create_session({});
  const Client stays;
  add(*other, stays);
  client_.gone = true;
  look_for(limits::end_by_itself_ms);
  EXPECT_TRUE(is_stopped());
  EXPECT_FALSE(other->was_stopped());
  EXPECT_EQ(adrift_.remove(*session_).since_us, 1000);
  EXPECT_EQ(adrift_.remove(*session_).session, nullptr) << "it is not there any more";
}

TEST_F(AdriftTurnsTest, a_request_has_some_time_to_end_by_itself) {
  client_.gone = true;
  look_for(limits::end_by_itself_ms - 1);
  EXPECT_FALSE(is_stopped());
}

TEST_F(AdriftTurnsTest, what_a_client_asked_that_was_killed_has_none) {
  client_.gone = client_.killed = true;
  look();
  EXPECT_TRUE(is_stopped());
}

TEST_F(AdriftTurnsTest, a_commit_before_a_request_takes_none_of_its_time) {
  client_.gone = true;
  look();
  session_->work_for(nullptr);
  look_for(limits::end_by_itself_ms);
  session_->work_for_request();
  look_for(limits::end_by_itself_ms - 1);
  EXPECT_FALSE(is_stopped());
}

TEST_F(AdriftTurnsTest, a_commit_between_two_looks_takes_none_of_it_either) {
  client_.gone = true;
  look_for(limits::end_by_itself_ms - 1);
  session_->work_for(nullptr);
  session_->work_for_request();
  look_for(limits::end_by_itself_ms - 1);
  EXPECT_FALSE(is_stopped());
}

TEST_F(AdriftTurnsTest, a_request_that_runs_again_is_stopped_when_its_own_client_has_gone) {
  Client another;
  another.gone = true;
  session_->work_for(&another);
  look_for(limits::end_by_itself_ms);
  EXPECT_TRUE(is_stopped());
}

TEST_F(AdriftTurnsTest, no_request_that_runs_again_is_stopped_when_another_client_has_gone) {
  const Client another;
  client_.gone = true;
  session_->work_for(&another);
  look_for(limits::end_by_itself_ms);
  EXPECT_FALSE(is_stopped());
}

TEST_F(AdriftTurnsTest, each_request_that_runs_again_has_some_time_to_end_by_itself) {
  Client another;
  another.gone = true;
  for (int request = 0; request < 3; ++request) {
    session_->work_for(&another);
    look_for(limits::end_by_itself_ms - 1);
  }
  EXPECT_FALSE(is_stopped());
}

TEST_F(AdriftTurnsTest, a_request_that_has_ended_is_not_stopped) {
  adrift_.end_request(*session_);
  client_.gone = true;
  look_for(limits::end_by_itself_ms);
  EXPECT_FALSE(is_stopped());
}

TEST_F(AdriftTurnsTest, one_that_runs_again_behind_it_is) {
  adrift_.end_request(*session_);
  client_.gone = true;
  session_->work_for(&client_);
  look_for(limits::end_by_itself_ms);
  EXPECT_TRUE(is_stopped());
}

TEST_F(AdriftTurnsTest, a_write_is_known_to_take_long_before_it_is_over) {
  constexpr exec::LongRequests::Place place = 7;
  write_.add(place);
  exec::LongRequests long_requests{1};
  constexpr uint64_t long_us = limits::long_write_us_min;
  adrift_.note_long(long_requests, 1000 + long_us);
  adrift_.note_long(long_requests, 1001 + long_us);
  long_requests.note_commit(place, long_us);
  EXPECT_TRUE(long_requests.expects(place));
  long_requests.note_commit(place, limits::commit_behind_us_min);
  EXPECT_FALSE(long_requests.expects(place)) << "the same time counts once";
  EXPECT_EQ(adrift_.remove(*session_).noted_us, long_us + 1);
}

TEST_F(AdriftTurnsTest, a_write_that_has_ended_is_known_to_take_no_longer) {
  constexpr exec::LongRequests::Place place = 7;
  write_.add(place);
  exec::LongRequests long_requests{1};
  adrift_.end_request(*session_);
  adrift_.note_long(long_requests, 1000 + limits::long_write_us_min);
  EXPECT_EQ(adrift_.remove(*session_).noted_us, 0);
}

}  // namespace
}  // namespace rowsocket::server
