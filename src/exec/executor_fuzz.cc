// SPDX-License-Identifier: GPL-2.0-only
//
// Any requests at all (fuzzed_request.h), over a memory engine with faults. Every request must get exactly
// one reply (a group one for each of its lines), in its connection's order, and nothing may be left staged or
// locked.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "engine/memory/memory_engine.h"
#include "engine/trail.h"
#include "exec/executor.h"
#include "exec/fuzzed_request.h"

namespace rowsocket::exec {
namespace {

struct Connection {
  explicit Connection(Account account) : client(std::move(account)) {}
  Client client;
  Buffer out;
  std::vector<size_t> lines;  ///< of replies, that each of this turn's requests is to have
  size_t gtid_groups = 0;     ///< of this turn

  /// What was put back is to have none.
  [[nodiscard]] size_t expected_lines() const {
    const size_t answered = client.put_back_at.value_or(lines.size());
    return std::accumulate(lines.begin(), lines.begin() + static_cast<ptrdiff_t>(answered), size_t{0});
  }
  /// In mid-turn. The last line of a group that asks for its GTID comes with the commit.
  [[nodiscard]] bool has_expected_lines_so_far(size_t told_lines) const {
    return told_lines <= expected_lines() && told_lines + gtid_groups >= expected_lines();
  }
};

size_t reply_lines(const Request& request) {
  return request.kind == RequestKind::group ? static_cast<const Group&>(request).members.size() + 2 : 1;
}

bool wants_gtid(const Request& request) {
  return request.kind == RequestKind::group && static_cast<const Group&>(request).wants_gtid;
}

size_t lines_in(const Buffer& out) {
  const std::string_view text = out.view();
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

bool is_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char byte) { return byte >= 0 && byte < ' '; });
}

/// Logs everything: each text is one line, and no request ends twice.
class FuzzedTrail final : public engine::Trail {
 public:
  [[nodiscard]] std::shared_ptr<engine::Identity> introduce(const std::string&) override {
    return std::make_shared<NamelessIdentity>();
  }
  [[nodiscard]] std::unique_ptr<engine::TrailEntry> received(const engine::Asked&,
                                                             const engine::TextMaker& text) override {
    require(is_line(text()));
    return std::make_unique<Entry>();
  }
  void follow(engine::TrailEntry*) override {}
  void ended(engine::TrailEntry& entry, const engine::Asked&, const engine::Ended&,
             const engine::TextMaker& text) override {
    require(is_line(text()));
    require(!std::exchange(static_cast<Entry&>(entry).has_ended, true));
  }
  void end_turn() override {}

 private:
  struct NamelessIdentity final : engine::Identity {
    [[nodiscard]] uint64_t number() const override { return engine::anonymous_account; }
    [[nodiscard]] std::string account_name() const override { return {}; }
  };
  struct Entry final : engine::TrailEntry {
    bool has_ended = false;
  };
};

class World {
 public:
  World() {
    engine_.tell(&trail_);
    using namespace engine::memory;
    engine_.create_table(
        "d.t", {.columns = {auto_increment("id"), integer("a"), nullable(integer("b"))},
                .indexes = {{"PRIMARY", {"id"}, true}, {"by_a", {"a", "b"}}, {"by_b", {"b"}, true}}});
    engine_.create_table("d.u",
                         {.columns = {text("a", 4), with_default(integer("b"), "7"), nullable(text("id"))},
                          .indexes = {{"PRIMARY", {"a"}, true}, {"by_b", {"b"}}},
                          .has_transactions = false});
    engine_.set_lock_wait_timeout_ms(3);
    engine::SessionOptions options;
    options.intent = engine::Intent::write;
    session_ = engine_.create_session(options);
    executor_ = std::make_unique<Executor>(
        *session_, counters_,
        std::make_shared<const Settings>(Settings{.secret_write = "1", .reply_bytes_max = 256, .id_max = 8}),
        clock_);
    connections_.emplace_back(Account(Access::write, Access::write));
    connections_.emplace_back(Account(Access::write, Access::read));
    connections_.emplace_back(Account(Access::read, Access::none));
  }

  void turn(Bytes& bytes) {
    Arena arena;
    arm(bytes);
    executor_->begin_turn(now_ms_++);
    for (int left = 1 + bytes.byte() % 8; left > 0 && !bytes.empty(); --left) {
      Connection& connection = connections_[bytes.byte() % connections_.size()];
      const Request& request = *Fuzzed(bytes, arena, connection.out).request();
      const size_t position = connection.lines.size();
      if (executor_->execute(connection.client, request, position) == Executed::done) {
        connection.lines.push_back(reply_lines(request));
        connection.gtid_groups += wants_gtid(request) ? 1 : 0;
      } else {
        // A request that waits may have lost the transaction of those before it: their replies are told anew,
        // and may be longer then.
        require(connection.has_expected_lines_so_far(lines_in(connection.out)));
      }
    }
    executor_->end_turn();
    require(executor_->nothing_staged() && !session_->transaction_lost());
    for (Connection& connection : connections_) {
      require(lines_in(connection.out) == connection.expected_lines());
      connection.out.clear();
      connection.lines.clear();
      connection.gtid_groups = 0;
      connection.client.put_back_at.reset();
    }
  }

 private:
  void arm(Bytes& bytes) {
    const uint8_t fault = bytes.byte();
    engine_.lose_transaction_at_write(1 + fault / 8 % 8, fault % 8 == 1 ? 1 + fault / 64 * 2 : 0);
    engine_.lose_transaction_at_read(1 + fault / 8 % 8, fault % 8 == 2 ? 1 + fault / 64 * 2 : 0);
    engine_.fail_commit(Error(ErrorCode::engine, fault % 2 == 0 ? 149 : 135),
                        fault % 8 == 3 ? 1 + fault / 64 : 0);
    engine_.set_busy("d.t", fault % 8 == 4);
    if (fault % 8 == 5) {
      engine_.fail_write(1 + fault / 8 % 8, Error(ErrorCode::engine, fault < 128 ? 151 : 146));
    }
    if (fault % 8 == 6) {
      engine_.fail_group_end(Error(ErrorCode::engine, 135));
    }
    if (fault == 255) {
      engine_.make_transactions_long();
    }
  }

  FuzzedTrail trail_;
  engine::memory::MemoryEngine engine_;
  Counters counters_;
  ManualClock clock_;
  std::unique_ptr<engine::Session> session_;
  std::unique_ptr<Executor> executor_;
  std::deque<Connection> connections_;
  uint64_t now_ms_ = 1;
};

}  // namespace
}  // namespace rowsocket::exec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rowsocket::exec;
  Bytes bytes(data, size);
  World world;
  while (!bytes.empty()) {
    world.turn(bytes);
  }
  return 0;
}
