// SPDX-License-Identifier: GPL-2.0-only
//
// Whole runs of the generator against a server of this file, which answers every line with what the test makes of it.
#include "bench/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench/report.h"
#include "bench/test_workload.h"

namespace rowsocket::bench {
namespace {

/// Serves one connection on a unix socket, from a thread of its own, until the client leaves.
class LineServer {
 public:
  using Answer = std::function<std::string(const std::string& line)>;

  explicit LineServer(Answer answer) : answer_(std::move(answer)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0) << std::strerror(errno);
    EXPECT_EQ(::listen(listener_, 1), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~LineServer() {
    thread_.join();
    ::close(listener_);
    ::unlink(path_.c_str());
  }
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void serve() {
    const int client = ::accept(listener_, nullptr, nullptr);
    std::string line;
    for (char byte = 0; ::recv(client, &byte, 1, 0) == 1;) {
      line += byte;
      if (byte == '\n') {
        const std::string reply = answer_(line);
        (void)::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
        line.clear();
      }
    }
    ::close(client);
  }

  Answer answer_;
  std::string path_ = "/tmp/rowsocket-run-test-" + std::to_string(::getpid());
  int listener_ = -1;
  std::thread thread_;
};

constexpr const char* point =
    "keys 1 of 1 to 9\nhandlersocket-open P⇥1⇥bench⇥user⇥PRIMARY⇥name\n"
    "request\ncolumns name\nanswer 1 rows from {k}\nhandlersocket 1⇥=⇥1⇥{k}";
constexpr const char* insert = "keys 1 next\nrequest\nanswer inserted\nhandlersocket 1⇥+⇥2⇥{user_id}⇥{name}";

/// What a right server answers.
std::string right_answer(const std::string& line) {
  if (line.starts_with("P\t") || line.starts_with("1\t+")) {
    return "0\t1\n";
  }
  return "0\t1\tuser" + line.substr(line.rfind('\t') + 1);
}

class RunTest : public testing::Test {
 protected:
  RunTest() {
    options_.connections = 1;
    options_.in_flight = 4;
    options_.first_key = 1000;
    options_.warm_up_s = 0.01;
    options_.seconds = 0.05;
  }
  Measurement run(const LineServer& server, const char* text = point) {
    options_.endpoint.socket_path = server.path();
    const Workload workload = test_workload(text);
    return bench::Run(options_, workload, *make_protocol("handlersocket", workload, {})).execute();
  }
  std::string failure(const LineServer& server) {
    try {
      (void)run(server);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  Options options_;
};

TEST_F(RunTest, CountsWhatWasAnsweredRightly) {
  const LineServer server(right_answer);
  const Measurement measured = run(server);
  EXPECT_GT(measured.requests, 0u);
  EXPECT_EQ(measured.keys, measured.requests);
  EXPECT_EQ(measured.rows, measured.requests);
  EXPECT_GE(measured.requests_in_all, measured.requests);
  EXPECT_EQ(measured.writes_in_all, 0u);
  const double under_way_max = options_.connections * options_.in_flight;
  EXPECT_NEAR(static_cast<double>(measured.latency_ns.total()), static_cast<double>(measured.requests), under_way_max);
  EXPECT_NEAR(static_cast<double>(measured.bytes_received) / static_cast<double>(measured.requests), 10, 1);
  EXPECT_THAT(report_line(options_, test_workload(point), measured),
              testing::HasSubstr("\"requests\": " + std::to_string(measured.requests)));
}

TEST_F(RunTest, ARunOfSoManyRequestsAsksThemAllAndNoMore) {
  options_.requests = 10;
  const LineServer server(right_answer);
  const Measurement measured = run(server, insert);
  EXPECT_EQ(measured.requests, 10u);
  EXPECT_EQ(measured.requests_in_all, 10u);
  EXPECT_EQ(measured.writes_in_all, 10u);
  EXPECT_EQ(measured.next_key, 1010u);
}

TEST_F(RunTest, AnOpenLoopAsksAtItsRate) {
  options_.rate_per_s = 1000;
  options_.requests = 30;
  const LineServer server(right_answer);
  const Measurement measured = run(server);
  EXPECT_EQ(measured.requests, 30u);
  EXPECT_GE(measured.seconds, 0.029);
}

TEST_F(RunTest, AnOpenLoopCountsTheWaitOfWhatAStallHeldUp) {
  options_.rate_per_s = 1000;
  options_.requests = 60;
  options_.in_flight = 1;
  int answered = 0;
  const LineServer server([&](const std::string& line) {
    if (++answered == 5) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the stall
    }
    return right_answer(line);
  });
  const Measurement measured = run(server);
  // One request met the stall; those that were due in its first 40 ms waited 10 ms and more for it to end.
  EXPECT_GT(measured.latency_ns.percentile(50), 10'000'000u);
  EXPECT_GT(measured.backlog_max, 10u);
}

TEST_F(RunTest, EndsAtAWrongAnswer) {
  const LineServer server([](const std::string& line) { return line.starts_with("P\t") ? right_answer(line) : "0\t1\tuser0\n"; });
  EXPECT_THAT(failure(server), testing::HasSubstr("wrong answer"));
}

TEST_F(RunTest, SeesAnErrorThatIsShorterThanTheRightAnswer) {
  const LineServer server([](const std::string& line) { return line.starts_with("P\t") ? right_answer(line) : "2\t1\top\n"; });
  EXPECT_THAT(failure(server), testing::HasSubstr("wrong answer \"2\\t1\\top\\n"));
}

TEST_F(RunTest, SeesASecondAnswerToOneRequest) {
  const LineServer server([](const std::string& line) { return right_answer(line) + (line.starts_with("P\t") ? "" : "0\t0\n"); });
  EXPECT_THAT(failure(server), testing::HasSubstr("answer"));
}

TEST_F(RunTest, ReportsARefusedOpening) {
  const LineServer server([](const std::string&) { return "1\t1\topen_table\n"; });
  EXPECT_THAT(failure(server), testing::HasSubstr("was answered \"1\\t1\\topen_table\\n\""));
}

TEST_F(RunTest, EveryInsertHasANewKeyAndIsWaitedFor) {
  std::set<std::string> inserted;
  Measurement measured;
  {
    const LineServer server([&](const std::string& line) {
      inserted.insert(line);
      return right_answer(line);
    });
    measured = run(server, insert);
  }
  EXPECT_EQ(inserted.size(), measured.requests_in_all);
  EXPECT_EQ(inserted.size(), measured.next_key - 1000);
  EXPECT_THAT(*inserted.begin(), testing::StartsWith("1\t+\t2\t1000\tuser1000"));
}

TEST(Printable, ShowsEveryByteInPlainCharacters) { EXPECT_EQ(printable("a\t\x01\xC8\n"), R"("a\t\x01\xc8\n")"); }

TEST(FailureLine, IsOneLineOfJson) {
  EXPECT_THAT(failure_line({}, {}, "wrong \"a\"\n"), testing::HasSubstr(R"("errors": 1, "failure": "wrong \"a\" ")"));
}

TEST(DescriptionLine, SaysWhatAHarnessNeeds) {
  const Workload workload = test_workload("keys 1 next\nrequest\nanswer inserted\nredis SET user:{k} 1");
  EXPECT_THAT(description_line(workload),
              testing::HasSubstr(R"("writes": true, "makes_rows": true, "keys": 1, "protocols": ["redis"])"));
}

}  // namespace
}  // namespace rowsocket::bench
