// SPDX-License-Identifier: GPL-2.0-only
//
// Whole runs of the generator against a server of this file, which answers every line with what the test makes of it.
#include "bench/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench/report.h"

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

/// What a right server with keys 1..9 answers.
std::string right_answer(const std::string& line) {
  if (line.starts_with("P\t") || line.starts_with("1\t+")) {
    return "0\t1\n";
  }
  const std::string user_id = line.substr(line.rfind('\t') + 1, 1);
  return "0\t3\tuser" + user_id + "\tuser" + user_id + "@example.com\t2026-01-01 00:00:0" + user_id + "\n";
}

class RunTest : public testing::Test {
 protected:
  Measurement run(const LineServer& server, Workload workload = Workload::point) {
    options_.endpoint.socket_path = server.path();
    options_.target.workload = workload;
    options_.connections = 1;
    options_.in_flight = 4;
    options_.rows = 9;
    options_.first_key = 1000;
    options_.warm_up_s = 0.01;
    options_.seconds = 0.05;
    return bench::Run(options_, *make_protocol("handlersocket")).execute();
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
  EXPECT_EQ(measured.latency_ns.total(), measured.requests);
  EXPECT_GE(measured.requests_in_all, measured.requests);
  EXPECT_THAT(report_line(options_, measured), testing::HasSubstr("\"requests\": " + std::to_string(measured.requests)));
}

TEST_F(RunTest, EndsAtAWrongAnswer) {
  const LineServer server([](const std::string& line) {
    return line.starts_with("P\t") ? right_answer(line) : "0\t3\tuser0\tuser0@example.com\t2026-01-01 00:00:00\n";
  });
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
  uint64_t request_count = 0;
  {
    const LineServer server([&](const std::string& line) {
      if (line.starts_with("1\t+")) {
        inserted.insert(line);
      }
      return right_answer(line);
    });
    request_count = run(server, Workload::insert).requests_in_all;
  }
  EXPECT_EQ(inserted.size(), request_count);
  EXPECT_THAT(*inserted.begin(), testing::StartsWith("1\t+\t4\t1000\t"));
}

TEST(FailureLine, IsOneLineOfJson) {
  EXPECT_THAT(failure_line({}, "wrong \"a\"\n"), testing::HasSubstr(R"("errors": 1, "failure": "wrong \"a\" ")"));
}

}  // namespace
}  // namespace rowsocket::bench
