// SPDX-License-Identifier: GPL-2.0-only
//
// Logins over real sockets and threads: the engine's accounts are the test's.
#include "server/logins.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "server/server_fixture.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

constexpr std::string_view unauthenticated = "3\t1\tunauth\n";
constexpr std::string_view right_login = "A\t2\tapp\tright\n";
constexpr std::string_view wrong_login = "A\t2\tapp\twrong\n";

class LoginsTest : public ServerTest {
 protected:
  LoginsTest() {
    config_.settings.needs_account = true;
    engine_.accept_logins([this](const engine::Credentials& credentials) {
      ++tried_;
      std::unique_lock lock(mutex_);
      last_tried_ = credentials;
      opened_.wait(lock, [this] { return !is_closed_; });
      return credentials.password == "right";
    });
  }
  ~LoginsTest() override { open_gate(); }

  /// Logins that are tried wait from now on.
  void close_gate() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
  }
  void open_gate() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = false;
    opened_.notify_all();
  }
  /// What the client said of whom a login was tried last.
  engine::Credentials last_tried() {
    const std::scoped_lock lock(mutex_);
    return last_tried_;
  }

  std::atomic<int> tried_{0};

 private:
  std::mutex mutex_;
  engine::Credentials last_tried_;
  std::condition_variable opened_;
  bool is_closed_ = false;
};

TEST_F(LoginsTest, who_has_not_logged_in_may_do_nothing) {
  start();
  TestClient client = writer();
  EXPECT_EQ(client.ask(open_items), unauthenticated);
  EXPECT_EQ(client.ask(find_pen), unauthenticated);
  EXPECT_EQ(client.ask(right_login), ok);
  EXPECT_EQ(client.ask(open_items), ok);
  EXPECT_EQ(client.ask(find_pen), pen);
}

TEST_F(LoginsTest, the_host_learns_what_a_client_says_and_where_it_came_from) {
  config_.settings.account_connections_max = 9;
  start();
  EXPECT_EQ(writer().ask(right_login), ok);
  const engine::Credentials tried = last_tried();
  EXPECT_EQ(tried.user + " " + tried.password, "app right");
  EXPECT_EQ(tried.host, "127.0.0.1");
  EXPECT_NE(tried.port, 0U);
  EXPECT_GE(tried.socket, 0);
  EXPECT_FALSE(tried.is_unix);
  EXPECT_EQ(tried.account_connections_max, 9U);
}

TEST_F(LoginsTest, logins_and_refusals_count_apart) {
  start();
  TestClient client = writer();
  EXPECT_EQ(client.ask(right_login), ok);
  EXPECT_EQ(client.ask(wrong_login), unauthenticated);
  EXPECT_EQ(client.ask(wrong_login), unauthenticated);
  EXPECT_EQ(server_.counter(Counter::logins), 1U);
  EXPECT_EQ(server_.counter(Counter::logins_refused), 2U);
}

TEST_F(LoginsTest, a_name_that_is_no_line_of_text_is_not_tried) {
  start();
  TestClient client = writer();
  for (const std::string_view name : {"app\x01\x4A", "app\x01\x4D", "\x1B[2J", "app\x7F", "\xFF"}) {
    EXPECT_EQ(client.ask("A\t2\t" + std::string(name) + "\tright\n"), unauthenticated) << name;
  }
  EXPECT_EQ(tried_, 0);
  EXPECT_EQ(server_.counter(Counter::logins_untried), 5u);
  EXPECT_EQ(client.ask("A\t2\tann grün\tright\n"), ok);
}

TEST_F(LoginsTest, a_name_or_a_password_that_is_too_long_is_not_tried) {
  start();
  TestClient client = writer();
  const auto ask = [&client](size_t user_bytes, size_t password_bytes) {
    return client.ask("A\t2\t" + std::string(user_bytes, 'u') + "\t" + std::string(password_bytes, 'p') +
                      "\n");
  };
  EXPECT_EQ(ask(limits::login_user_bytes_max + 1, 1), unauthenticated);
  EXPECT_EQ(ask(1, limits::login_password_bytes_max + 1), unauthenticated);
  EXPECT_EQ(tried_, 0);
  EXPECT_EQ(server_.counter(Counter::logins_untried), 2U);
  EXPECT_EQ(ask(limits::login_user_bytes_max, limits::login_password_bytes_max), unauthenticated);
  EXPECT_EQ(tried_, 1);
}

TEST_F(LoginsTest, a_refusal_takes_back_what_an_earlier_login_gave) {
  start();
  TestClient client = writer();
  EXPECT_EQ(client.ask(right_login), ok);
  EXPECT_EQ(client.ask(open_items), ok);
  EXPECT_EQ(client.ask(wrong_login), unauthenticated);
  EXPECT_EQ(client.ask(find_pen), unauthenticated);
}

TEST_F(LoginsTest, what_was_opened_ends_with_the_account) {
  start();
  TestClient client = writer();
  EXPECT_EQ(client.ask(right_login), ok);
  EXPECT_EQ(client.ask(open_items), ok);
  EXPECT_EQ(client.ask("A\t2\tothers\tright\n"), ok);
  EXPECT_EQ(client.ask(find_pen), "2\t1\tstmtnum\n");
}

TEST_F(LoginsTest, a_login_that_takes_long_holds_up_its_own_connection_only) {
  start();
  TestClient other = writer();
  EXPECT_EQ(other.ask(right_login), ok);
  EXPECT_EQ(other.ask(open_items), ok);
  close_gate();
  TestClient client = writer();
  client.send(std::string(right_login).append(open_items).append(find_pen));
  ASSERT_TRUE(eventually([this] { return tried_ == 2; }));
  EXPECT_EQ(other.ask(find_pen), pen);
  EXPECT_EQ(client.received(), "");
  open_gate();
  EXPECT_EQ(client.lines(3), std::string(ok).append(ok).append(pen));
}

TEST_F(LoginsTest, a_client_that_goes_away_is_forgotten) {
  start();
  close_gate();
  std::vector<TestClient> gone;
  for (uint32_t i = 0; i < limits::login_threads_for_strange; ++i) {
    gone.push_back(writer());
    gone.back().send(right_login);
  }
  ASSERT_TRUE(eventually([this] { return tried_ == static_cast<int>(limits::login_threads_for_strange); }));
  TestClient waiting = writer();
  waiting.send(right_login);
  for (TestClient& client : gone) {
    client.reset();
  }
  waiting.reset();
  TestClient last = writer();
  last.send(right_login);
  open_gate();
  EXPECT_EQ(last.lines(1), ok);
  EXPECT_EQ(tried_, static_cast<int>(limits::login_threads_for_strange) + 1)
      << "nothing is tried for who went away";
  EXPECT_TRUE(eventually([this] { return server_.connections_write() == 1; }));
}

TEST_F(LoginsTest, of_a_client_that_resets_while_its_login_is_tried_nothing_is_begun_behind_it) {
  start();
  close_gate();
  TestClient client = writer();
  client.send(std::string(right_login).append(open_items).append("0\t+\t2\t10\tcup\n"));
  ASSERT_TRUE(eventually([this] { return tried_ == 1; }));
  client.reset();
  open_gate();
  EXPECT_TRUE(eventually([this] { return server_.connections_write() == 0; }));
  EXPECT_EQ(engine_.rows("shop.item").size(), 3U);
}

TEST_F(LoginsTest, the_server_stops_while_clients_wait) {
  start();
  close_gate();
  std::vector<TestClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(writer());
    clients.back().send(right_login);
  }
  ASSERT_TRUE(eventually([this] { return tried_ == static_cast<int>(limits::login_threads_for_strange); }));
  std::thread stopping([this] { server_.stop(); });
  EXPECT_EQ(clients.front().rest(), "");
  open_gate();
  stopping.join();
  EXPECT_EQ(tried_, static_cast<int>(limits::login_threads_for_strange));
}

TEST_F(LoginsTest, a_client_whose_login_is_being_tried_sees_its_end_at_once) {
  start();
  close_gate();
  TestClient client = writer();
  client.send(right_login);
  ASSERT_TRUE(eventually([this] { return tried_ == 1; }));
  std::thread stopping([this] { server_.stop(); });
  EXPECT_EQ(client.rest(), "") << "though the login thread has its socket still";
  open_gate();
  stopping.join();
}

TEST_F(LoginsTest, guesses_beyond_a_few_are_not_tried) {
  start();
  std::vector<TestClient> clients;
  for (uint32_t i = 0; i < limits::slowed_logins_waiting_max + limits::guesses_at_once; ++i) {
    clients.push_back(writer());
    clients.back().send(wrong_login);
  }
  ASSERT_TRUE(eventually([this] { return tried_ >= static_cast<int>(limits::guesses_at_once); }));
  ASSERT_TRUE(eventually([&] {    // once its party has as many waiting as it may
    clients.push_back(writer());  // a client whose login waits is not read from
    clients.back().send(wrong_login);
    return server_.counter(Counter::logins_untried) > 0;
  }));
  EXPECT_LT(tried_, 100);
}

TEST_F(LoginsTest, another_party_is_not_slowed_down) {
  config_.doors[door_write].socket = path("write");
  start();
  std::vector<TestClient> guessing;
  for (uint32_t i = 0; i < 2 * limits::guesses_at_once; ++i) {
    guessing.push_back(writer());
    guessing.back().send(wrong_login);
  }
  ASSERT_TRUE(eventually([this] { return tried_ == static_cast<int>(limits::guesses_at_once); }));
  TestClient other = TestClient::over_unix(path("write"));
  EXPECT_EQ(other.ask(right_login), ok);
}

TEST_F(LoginsTest, a_crowd_at_once_gets_in) {
  config_.settings.max_connections = 20'000;
  config_.doors[door_write].socket = path("write");
  start();
  constexpr int count = 500;
  close_gate();
  std::vector<TestClient> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(TestClient::over_unix(path("write")));
    clients.back().send(right_login);
  }
  open_gate();
  for (TestClient& client : clients) {
    EXPECT_EQ(client.lines(1), ok);
  }
  EXPECT_EQ(tried_, count);
}

TEST_F(LoginsTest, a_login_that_waits_has_no_descriptor_of_its_own) {
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  start();
  TestClient other = writer();
  EXPECT_EQ(other.ask(right_login), ok);
  const auto before = open_descriptors();
  close_gate();
  constexpr int count = 50;
  std::vector<TestClient> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(writer());
    EXPECT_EQ(clients.back().ask(open_items), unauthenticated);
  }
  for (TestClient& client : clients) {
    client.send(right_login);
  }
  EXPECT_EQ(other.ask(open_items), ok);  // its worker has read the others by then
  EXPECT_EQ(other.ask(find_pen), pen);
  EXPECT_LE(open_descriptors(), before + 2 * count + static_cast<int>(limits::login_threads));
  open_gate();
  for (TestClient& client : clients) {
    EXPECT_EQ(client.lines(1), ok);
  }
}

// ---- without connections

/// Its threads read it while the test moves it.
class SharedClock final : public Clock {
 public:
  [[nodiscard]] uint64_t now_us() const override { return now_us_; }
  [[nodiscard]] uint64_t unix_time_us() const override { return now_us_; }
  void sleep_us(uint64_t microseconds) override { now_us_ += microseconds; }
  void advance_ms(uint64_t milliseconds) { now_us_ += milliseconds * 1000; }

 private:
  std::atomic<uint64_t> now_us_{1'000'000};
};

TEST_F(LoginsTest, who_has_waited_too_long_is_refused_untried) {
  SharedClock clock;
  AccountLoads loads;
  std::atomic<int> woken{0};
  const auto returns = std::make_shared<LoginReturns>([&woken] { ++woken; });
  Logins logins(engine_, log_, clock);
  std::string failure;
  ASSERT_TRUE(logins.start(failure)) << failure;
  close_gate();
  const net::Descriptor socket(::dup(STDERR_FILENO));
  const auto add = [&] {
    auto login =
        std::make_shared<Login>(Authenticate(), socket.get(), net::Peer(), nullptr, loads, 0, returns);
    EXPECT_TRUE(logins.add(login));
    return login;
  };
  for (uint32_t i = 0; i < limits::login_threads_for_strange; ++i) {
    add();
  }
  ASSERT_TRUE(eventually([this] { return tried_ == static_cast<int>(limits::login_threads_for_strange); }));
  const auto waiting = add();
  clock.advance_ms(limits::login_wait_ms);
  const auto other = add();
  ASSERT_TRUE(eventually([&] { return woken == 1; }));
  EXPECT_TRUE(waiting->is_done());
  EXPECT_EQ(waiting->take_identity(), nullptr);
  EXPECT_EQ(logins.count(Counter::logins_untried), 1U);
  EXPECT_FALSE(other->is_done());
  open_gate();
}

TEST(LoginReturnsTest, a_loop_that_has_ended_is_not_woken) {
  int woken = 0;
  LoginReturns returns([&woken] { ++woken; });
  returns.close();
  returns.add(nullptr);
  EXPECT_EQ(woken, 0);
}

// ---- one turn after the other

/// Logins of a loop that the test turns. None ends before `let_end`.
class LoginTurnsTest : public TurnLoopTest {
 protected:
  LoginTurnsTest() {
    engine_.accept_logins([may_end = may_end_.get_future().share()](const engine::Credentials&) {
      may_end.wait();
      return true;
    });
    std::string failure;
    EXPECT_TRUE(logins_.start(failure)) << failure;
    TurnLoop::Surroundings surroundings{*selections_, inbox_,       loop_poller_,   counters_, board_,
                                        clock_,       limited_log_, account_loads_, "write"};
    surroundings.logins = &logins_;
    loop_ = std::make_unique<TurnLoop>(surroundings);
    turn_ = std::make_unique<Turn>(
        Turn::Surroundings{*session_, counters_, clock_, &loop_->token(), numbers_, &loop_->desk()},
        board_.current());
  }
  ~LoginTurnsTest() override {
    let_end();
    turn_.reset();
    loop_.reset();
  }

  void let_end() {
    if (!std::exchange(have_ended_, true)) {
      may_end_.set_value();
    }
  }
  /// From now on none is tried.
  void stop_logins() {
    let_end();
    logins_.request_stop();
  }
  static constexpr std::string_view login = "A\t2\tapp\t\n";  // the test's clients come from the network
  [[nodiscard]] const ClientConnection& connection() const { return *loop_->connections().all().front(); }

 private:
  std::promise<void> may_end_;
  bool have_ended_ = false;
  net::Epoll loop_poller_;
  Logins logins_{engine_, log_, clock_};
};

TEST_F(LoginTurnsTest, nobody_looks_at_a_client_while_its_password_is_checked) {
  TestClient client = connect();
  EXPECT_EQ(ask(client, login), "");
  EXPECT_EQ(connection().interest, net::Interest::none);
  EXPECT_EQ(connection().state, ClientConnection::State::logging_in);
}

TEST_F(LoginTurnsTest, a_login_that_is_never_tried_is_refused_at_once) {
  TestClient client = connect();
  EXPECT_EQ(ask(client, "A\t2\tapp\tsecret in clear text\n"), unauthenticated);
}

TEST_F(LoginTurnsTest, a_login_while_the_server_stops_is_not_taken_for_a_wrong_one) {
  TestClient client = connect();
  stop_logins();
  EXPECT_EQ(ask(client, login), "") << "the connection ends with the server";
}

TEST_F(LoginTurnsTest, a_client_is_shown_as_who_it_is_from_its_login_on) {
  TestClient client = connect();
  const uint64_t before = connection().shown.account;
  client.send(login);
  let_end();
  ASSERT_TRUE(eventually([&] { return turn() && client.received() == ok; }));
  EXPECT_NE(connection().shown.account, before);
}

}  // namespace
}  // namespace rowsocket::server
