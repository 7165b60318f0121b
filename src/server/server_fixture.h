// SPDX-License-Identifier: GPL-2.0-only
//
// The whole of RowSocket over the memory engine: real sockets, real threads.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "server/server.h"
#include "server/test_support.h"

namespace rowsocket::server {

/// Wait for what another thread does; false if it takes a minute.
inline bool eventually(const std::function<bool()>& holds) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > give_up) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    create_items(engine_);
    std::string pattern = testing::TempDir() + "rowsocket-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    config_.doors[door_read].port = config_.doors[door_write].port = 0;
    config_.threads_read = config_.threads_write = 2;
  }
  ~ServerTest() override {
    server_.stop();
    std::filesystem::remove_all(folder_);
  }

  void start() {
    std::string failure;
    ASSERT_TRUE(server_.start(config_, failure)) << failure;
  }
  TestClient reader() const { return TestClient::over_tcp(server_.port("read")); }
  TestClient writer() const { return TestClient::over_tcp(server_.port("write")); }
  static TestClient with_items(TestClient client) {
    EXPECT_EQ(client.ask(open_items), ok);
    return client;
  }
  [[nodiscard]] std::string path(const char* name) const { return folder_ + "/" + name; }

  engine::memory::MemoryEngine engine_;
  TestLog log_;
  SteadyClock clock_;
  Config config_;
  std::string folder_;
  Server server_{engine_, log_, clock_};
};

}  // namespace rowsocket::server
