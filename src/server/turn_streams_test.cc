// SPDX-License-Identifier: GPL-2.0-only
//
// Streams that end or make no sense, and what the log says of them.
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <cerrno>
#include <new>

#include "base/invariant.h"
#include "net/failing_call.h"
#include "server/turn_loop_fixture.h"
#include "wire/echo/echo.h"

namespace rowsocket::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::echo::echo_protocol;

// ---- bad streams

class BadStreamTest : public TurnLoopTest {
 protected:
  BadStreamTest() {
    settings_.line_bytes_max = limits::line_bytes_min;
    reconfigure();
  }
  std::string send_too_long_a_line(TestClient& client, std::string_view before = "") {
    return ask(client, std::string(before) + std::string(limits::line_bytes_min + 1, 'x'), 3);
  }
};

TEST_F(BadStreamTest, a_line_that_is_too_long_is_answered_after_what_came_before_it) {
  TestClient client = connect_with_items();
  EXPECT_THAT(send_too_long_a_line(client, find_pen), testing::StartsWith(std::string(pen) + "2\t1\t"));
  EXPECT_TRUE(client.sees_end());
  EXPECT_EQ(count(Counter::errors_request), 1u);
}

TEST_F(BadStreamTest, who_goes_on_sending_is_not_executed_and_closed_soon) {
  TestClient client = connect_with_items();
  send_too_long_a_line(client);
  EXPECT_EQ(ask(client, std::string(100'000, 'x').append("\n").append(find_pen), 5), "");
  pass_ms(limits::linger_ms - 1);
  EXPECT_EQ(loop_->connections().size(), 1u);
  pass_ms(limits::sweep_interval_ms);
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_EQ(count(Counter::connections_timed_out), 0u) << "that counter is for idle clients";
}

TEST_F(BadStreamTest, what_comes_behind_is_not_kept) {
  TestClient client = connect_with_items();
  send_too_long_a_line(client);
  ask(client, std::string(50'000, 'x'), 5);
  ASSERT_EQ(loop_->connections().size(), 1U);
  EXPECT_EQ(loop_->connections().all()[0]->stream.input().view().size(), 0U);
}

TEST_F(BadStreamTest, who_ends_is_closed_at_once) {
  TestClient client = connect_with_items();
  send_too_long_a_line(client);
  client.close_output();
  turn();
  EXPECT_EQ(loop_->connections().size(), 0u);
}

TEST_F(BadStreamTest, the_log_says_who_sent_it) {
  TestClient client = connect_with_items();
  send_too_long_a_line(client);
  EXPECT_THAT(
      log_.lines(),
      ElementsAre(
          "rowsocket-w0: connection 1 (test) sent what can not be followed (a line that is too long): "
          "it is closed"));
}

TEST_F(BadStreamTest, clients_can_not_flood_the_log) {
  for (size_t i = 0; i < 100; ++i) {
    TestClient client = connect();
    send_too_long_a_line(client);
  }
  EXPECT_EQ(log_.lines().size(), limits::log_lines_per_interval);
  pass_ms(limits::log_interval_ms);
  TestClient client = connect();
  send_too_long_a_line(client);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("left out 90 lines")));
}

// ---- the end of a stream

TEST_F(TurnLoopTest, http_is_closed_without_an_answer_and_with_a_line_in_the_log) {
  TestClient browser = connect();
  EXPECT_EQ(ask(browser, std::string("POST / HTTP/1.1\n").append(open_items)), "");
  EXPECT_TRUE(browser.sees_end());
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_THAT(log_.lines(),
              ElementsAre("rowsocket-w0: connection 1 (test) speaks HTTP: it is closed, and nothing that "
                          "it sent is done"));
}

TEST_F(TurnLoopTest, who_leaves_is_answered_what_it_asked_before_and_closed_in_the_same_turn) {
  TestClient client = connect(echo_protocol());
  EXPECT_EQ(ask(client, "NO\nQUIT\nNO\n"), "ERROR unknown_command\n");
  EXPECT_TRUE(client.sees_end());
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(TurnLoopTest, who_leaves_and_reads_slowly_gets_every_byte) {
  TestClient client = connect(echo_protocol());
  std::string replies = ask(client, "OPEN 0 shop item name\nGET 0 3\nQUIT\n");
  EXPECT_EQ(loop_->connections().size(), 1u);
  while (loop_->connections().size() > 0) {
    turn();
    const std::string more = client.received();
    ASSERT_FALSE(more.empty());
    replies += more;
  }
  replies += client.received();
  EXPECT_THAT(replies, testing::EndsWith("x\nEND\n"));
  EXPECT_GT(replies.size(), big_name_bytes);
  EXPECT_TRUE(client.sees_end());
}

TEST_F(TurnLoopTest, what_asks_for_nothing_takes_its_share_of_a_turn_and_is_no_request) {
  TestClient client = connect(echo_protocol());
  const std::string nothing = repeat("\n", limits::requests_per_connection_turn);
  EXPECT_EQ(ask(client, nothing + "NO\n"), "");
  EXPECT_EQ(count(Counter::turn_requests), 0u);
  turn();
  EXPECT_EQ(client.received(), "ERROR unknown_command\n");
  EXPECT_EQ(count(Counter::turn_requests), 1u);
}

// ---- other protocols

/// Answers one byte, whatever came.
class OneByteReply final : public Reply {
 public:
  explicit OneByteReply(Buffer& out) : Reply(out, no_values) {}
  void failed(const Error&) override { out().append('-'); }

 private:
  static constexpr ValueFormat no_values = {};
};

/// Every byte is a request that means nothing; '!' is more than the machine can take.
class OneByteProtocol final : public Protocol {
 public:
  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    if (input[0] == '!') {
      throw std::bad_alloc();
    }
    auto* const request = parsing.arena.make<Request>();
    request->reply = parsing.arena.make<OneByteReply>(parsing.out);
    return {.status = Parsed::Status::request, .consumed_bytes = 1, .request = request};
  }
  void refuse_stream(Buffer&, const Error&, const Settings&) const override {}
};

/// A reply that no memory is left for, whatever came.
class MemorylessReply final : public Reply {
 public:
  explicit MemorylessReply(Buffer& out) : Reply(out, no_values) {}
  void failed(const Error&) override { throw std::bad_alloc(); }

 private:
  static constexpr ValueFormat no_values = {};
};

/// Every byte is a request whose reply takes memory that there is not.
class MemorylessProtocol final : public Protocol {
 public:
  [[nodiscard]] Parsed parse(std::string_view, const Parsing& parsing) const override {
    auto* const request = parsing.arena.make<Request>();
    request->reply = parsing.arena.make<MemorylessReply>(parsing.out);
    return {.status = Parsed::Status::request, .consumed_bytes = 1, .request = request};
  }
  void refuse_stream(Buffer&, const Error&, const Settings&) const override {}
};

/// Says that it took a byte more than there are, or none.
class MiscountingProtocol final : public Protocol {
 public:
  [[nodiscard]] Parsed parse(std::string_view input, const Parsing&) const override {
    return {.status = Parsed::Status::nothing, .consumed_bytes = input[0] == '0' ? 0 : input.size() + 1};
  }
  void refuse_stream(Buffer&, const Error&, const Settings&) const override {}
};

/// What its bytes ask takes three steps, each of which is answered with a byte.
class SteppingProtocol final : public Protocol {
 public:
  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    auto* const request = parsing.arena.make<Request>();
    request->reply = parsing.arena.make<OneByteReply>(parsing.out);
    const bool is_last = ++steps_ == 3;
    return {.status = Parsed::Status::request,
            .consumed_bytes = is_last ? input.size() : 0,
            .request = request,
            .is_step = !is_last};
  }
  void refuse_stream(Buffer&, const Error&, const Settings&) const override {}

 private:
  mutable int steps_ = 0;
};

TEST_F(TurnLoopTest, each_step_of_a_request_has_a_turn_of_its_own) {
  const SteppingProtocol protocol;
  TestClient client = connect_with_items();
  TestClient stepping = connect(protocol);
  EXPECT_EQ(ask(stepping, "abc"), "-");
  client.send(find_pen);
  turn();
  EXPECT_EQ(stepping.received(), "-");
  EXPECT_EQ(client.received(), pen) << "others are served between two steps";
  turn();
  EXPECT_EQ(stepping.received(), "-");
  EXPECT_EQ(count(Counter::turn_requests), 5u);
}

TEST_F(TurnLoopTest, a_request_that_ends_without_memory_leaves_the_loop_to_its_thread) {
  const MemorylessProtocol protocol;
  TestClient client = connect_with_items();
  TestClient unlucky = connect(protocol);
  EXPECT_EQ(ask(unlucky, "a"), "");
  EXPECT_TRUE(unlucky.sees_end());
  EXPECT_EQ(loop_->token().seen(), 0u) << "no other thread can take the loop from one that goes on";
  EXPECT_EQ(ask(client, find_pen), pen);
}

TEST_F(TurnLoopTest, a_parser_that_miscounts_costs_its_connection) {
  const MiscountingProtocol protocol;
  TestClient client = connect_with_items();
  for (const std::string_view bytes : {"0", "1"}) {
    const uint64_t broken_before = broken_invariants();
    TestClient unlucky = connect(protocol);
    EXPECT_EQ(ask(unlucky, bytes), "");
    EXPECT_TRUE(unlucky.sees_end());
    EXPECT_EQ(broken_invariants(), broken_before + 1);
  }
  EXPECT_EQ(ask(client, find_pen), pen);
}

TEST_F(TurnLoopTest, connections_of_different_protocols_share_a_turn) {
  const OneByteProtocol protocol;
  TestClient other = connect(protocol);
  TestClient client = connect_with_items();
  other.send("abc");
  EXPECT_EQ(ask(client, find_pen), pen);
  EXPECT_EQ(other.received(), "---");
}

TEST_F(TurnLoopTest, a_refused_allocation_costs_one_connection) {
  const OneByteProtocol protocol;
  TestClient unlucky = connect(protocol);
  TestClient client = connect_with_items();
  unlucky.send("a!");
  EXPECT_EQ(ask(client, find_pen), pen);
  EXPECT_TRUE(unlucky.sees_end());
  EXPECT_EQ(ask(client, find_pen), pen);
}

TEST_F(TurnLoopTest, the_replies_of_a_turn_leave_without_a_call_for_each) {
  if (!send_ring_.open()) {
    GTEST_SKIP() << "this system has no io_uring for us";
  }
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  one.send(find_pen);
  other.send(find_pen);
  ASSERT_TRUE(net::while_call_fails(SYS_sendto, EIO, [this] { turn(); }));
  EXPECT_EQ(one.received(), pen);
  EXPECT_EQ(other.received(), pen);
}

}  // namespace
}  // namespace rowsocket::server
