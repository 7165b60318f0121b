// SPDX-License-Identifier: GPL-2.0-only
#include "server/crew.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <semaphore>
#include <string>

#include "base/limits.h"
#include "server/test_support.h"

namespace rowsocket::server {
namespace {

/// While it lives, the system starts no thread: none has room for such a stack.
class NoThreads {
 public:
  NoThreads() {
    EXPECT_EQ(::pthread_getattr_default_np(&before_), 0);
    pthread_attr_t attributes;
    EXPECT_EQ(::pthread_getattr_default_np(&attributes), 0);
    constexpr size_t more_than_there_is = size_t{1} << 48;
    EXPECT_EQ(::pthread_attr_setstacksize(&attributes, more_than_there_is), 0);
    EXPECT_EQ(::pthread_setattr_default_np(&attributes), 0);
    EXPECT_EQ(::pthread_attr_destroy(&attributes), 0);
  }
  ~NoThreads() {
    EXPECT_EQ(::pthread_setattr_default_np(&before_), 0);
    EXPECT_EQ(::pthread_attr_destroy(&before_), 0);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

class CrewTest : public testing::Test {
 protected:
  CrewTest() { thread_limit_.set(1); }
  ~CrewTest() override { crew_.join(); }

  TestLog log_;
  ManualClock clock_;
  ThreadLimit thread_limit_;
  Crew crew_{{log_, clock_, thread_limit_}, "test", [this](Hand& hand, bool is_in_charge) {
               crew_.note_end(hand, is_in_charge);
               ended_.release();
             }};
  std::counting_semaphore<> ended_{0};
};

TEST_F(CrewTest, a_thread_that_the_system_refuses_is_none_of_those_that_may_be_made) {
  clock_.advance_ms(1);
  {
    const NoThreads none;
    EXPECT_FALSE(crew_.has_idle_for(1));
  }
  EXPECT_TRUE(crew_.has_failed_lately());
  EXPECT_EQ(crew_.size(), 0U);
  EXPECT_TRUE(thread_limit_.some_left());
}

TEST_F(CrewTest, after_a_while_it_is_tried_again) {
  clock_.advance_ms(1);
  {
    const NoThreads none;
    EXPECT_FALSE(crew_.has_idle_for(1));
  }
  EXPECT_FALSE(crew_.has_idle_for(1));
  EXPECT_EQ(crew_.size(), 0U) << "so soon";
  clock_.advance_ms(limits::stand_in_retry_ms);
  EXPECT_FALSE(crew_.has_idle_for(1)) << "it has only begun";
  EXPECT_EQ(crew_.size(), 1U);
  EXPECT_FALSE(thread_limit_.some_left());
  ended_.acquire();
}

TEST_F(CrewTest, a_thread_that_has_nothing_to_do_stays_for_a_while) {
  static_cast<void>(crew_.calls().expect());
  crew_.shrink(1);
  EXPECT_FALSE(crew_.calls().must_end());
}

TEST_F(CrewTest, a_thread_that_has_ended_may_be_made_again) {
  EXPECT_FALSE(crew_.has_idle_for(1));
  EXPECT_FALSE(thread_limit_.some_left());
  ended_.acquire();
  crew_.shrink(0);
  EXPECT_EQ(crew_.size(), 0U);
  EXPECT_TRUE(thread_limit_.some_left());
}

}  // namespace
}  // namespace rowsocket::server
