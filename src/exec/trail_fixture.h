// SPDX-License-Identifier: GPL-2.0-only
//
// A trail that writes down what it is told, a line each, and checks that each request is told of once.
//
//   nameless 192.0.2.1
//   received ROWSOCKET FIND shop.item PRIMARY = 1 LIMIT 1 COLUMNS stock
//   ended 3/2/0 ok        rows examined, told and changed; or the name of the error
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/trail.h"

namespace rowsocket::exec {

class RecordingTrail final : public engine::Trail {
 public:
  [[nodiscard]] std::shared_ptr<engine::Identity> introduce(const std::string& address) override {
    lines.push_back("nameless " + address);
    return std::make_shared<NamelessIdentity>();
  }
  [[nodiscard]] std::unique_ptr<engine::TrailEntry> received(const engine::Asked& asked,
                                                             const engine::TextMaker& text) override {
    EXPECT_NE(asked.client, nullptr);
    if (refuses_memory) {
      throw std::bad_alloc();
    }
    lines.push_back("received " + text());
    databases.emplace_back(asked.database);
    ++open_entries;
    return std::make_unique<Entry>();
  }
  void follow(engine::TrailEntry* entry) override { followed = entry; }
  void ended(engine::TrailEntry& entry, const engine::Asked& asked, const engine::Ended& end,
             const engine::TextMaker& text) override {
    auto& known = static_cast<Entry&>(entry);
    EXPECT_FALSE(known.has_ended) << "a request ends once: " << text();
    EXPECT_NE(asked.client, nullptr);
    EXPECT_EQ(followed, nullptr);
    known.has_ended = true;
    --open_entries;
    lines.push_back("ended " + std::to_string(end.rows_examined) + "/" + std::to_string(end.rows_told) + "/" +
                    std::to_string(end.rows_changed) + " " +
                    std::string(end.error.ok() ? "ok" : error_name(end.error.code)));
    reply_bytes.push_back(end.reply_bytes);
    hides_values = end.hides_values;
  }
  void end_turn() override { ++turns; }

  /// How many of the lines begin with this word.
  [[nodiscard]] size_t count(std::string_view word) const {
    return static_cast<size_t>(
        std::count_if(lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(word); }));
  }
  /// The lines so far, taken away.
  std::vector<std::string> take() { return std::exchange(lines, {}); }

  std::vector<std::string> lines;
  std::vector<std::string> databases;
  std::vector<uint64_t> reply_bytes;
  engine::TrailEntry* followed = nullptr;
  bool hides_values = false;  ///< of the last that ended
  int open_entries = 0;
  int turns = 0;
  bool refuses_memory = false;

 private:
  struct NamelessIdentity final : engine::Identity {
    [[nodiscard]] uint64_t number() const override { return engine::anonymous_account; }
    [[nodiscard]] std::string account_name() const override { return {}; }
    [[nodiscard]] uint64_t log_number() const override { return 14; }
  };
  struct Entry final : engine::TrailEntry {
    bool has_ended = false;
  };
};

}  // namespace rowsocket::exec
