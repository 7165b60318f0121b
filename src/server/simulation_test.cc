// SPDX-License-Identifier: GPL-2.0-only
//
// A whole worker from one seed: a TurnLoop with its turns, and another turn that takes the loop over now and
// then, on the memory engine with its faults, before clients that send and read in pieces, and vanish.
//
//   ROWSOCKET_SIMULATION_SEED=17 rowsocket_server_test --gtest_filter='Simulation.*'     one seed alone
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/invariant.h"
#include "server/simulated_client.h"
#include "server/test_support.h"
#include "server/turn_loop.h"
#include "wire/handlersocket/handlersocket.h"

namespace rowsocket::server {
namespace {

using engine::memory::integer;
using testing::Gt;
using testing::IsEmpty;

class World {
 public:
  explicit World(uint64_t seed) : chance_(seed), client_count_max_(chance_.from_to(1, 8)) {
    engine_.create_table("d.counter",
                         {.columns = {integer("id"), integer("n")}, .indexes = {{"PRIMARY", {"id"}, true}}});
    engine_.create_table("d.entry", {.columns = {integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
    for (size_t counter = 0; counter < Ledger::counter_count; ++counter) {
      EXPECT_TRUE(engine_.insert("d.counter", {std::to_string(counter), "0"}));
    }
    limit_account();
    TurnLoop::Surroundings surroundings{*selections_, inbox_,       poller_,        counters_, board_,
                                        clock_,       limited_log_, account_loads_, "write"};
    surroundings.commits = &commits_;
    loop_ = std::make_unique<TurnLoop>(surroundings);
    for (Hand& hand : hands_) {
      hand.session = engine_.create_session(
          {.intent = engine::Intent::write, .selections = selections_, .counters = &counters_});
      hand.turn = std::make_unique<Turn>(
          Turn::Surroundings{.session = *hand.session,
                             .counters = counters_,
                             .clock = clock_,
                             .token = &loop_->token(),
                             .numbers = numbers_,
                             .settled_adrift = [this, &hand] { loop_->give_back_settled(*hand.turn); },
                             .commits = {.begins = [this] { commits_.begin(clock_.now_ms()); },
                                         .ended = [this](uint64_t us) { commits_.end(us); }}},
          board_.current());
    }
  }

  void run() {
    while (!is_done()) {
      Hand& hand = hands_[in_charge_];
      if (loop_->run(*hand.turn) == TurnLoop::Ended::adrift) {
        end_adrift(hand);
      }
    }
    check_rows();
  }

  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] uint64_t count(Counter counter) const { return counters_.read(counter); }
  /// All that clients heard.
  [[nodiscard]] std::string heard() const {
    std::string heard;
    for (const auto& client : clients_) {
      heard += client->heard() + "--\n";
    }
    return heard;
  }

 private:
  struct Hand {
    std::unique_ptr<engine::Session> session;
    std::unique_ptr<Turn> turn;
  };

  [[nodiscard]] bool is_done() const {
    return clients_.size() == client_count_max_ &&
           std::all_of(clients_.begin(), clients_.end(),
                       [](const auto& client) { return client->is_done(); });
  }

  /// One thing happens. Returns false if nothing will happen any more.
  bool step() {
    if (is_done()) {
      return false;
    }
    const size_t what = chance_.below(100);
    if (what == 0) {
      fault();
    } else if (what < 4) {
      clock_.advance_us(chance_.from_to(1, 3000));
    } else if (what < 6) {
      is_busy_ = !is_busy_;
      engine_.set_busy("d.counter", is_busy_);
    } else if (what == 6 && !is_handing_over_) {
      engine_.on_next_request([this] { hand_over(); });
    } else if (what == 7 && !is_handing_over_) {
      engine_.on_next_commit([this] { hand_over(); });
    } else if (what == 8) {
      limit_account();
    } else if (clients_.size() < client_count_max_ && (clients_.empty() || what < 20)) {
      connect();
    } else {
      SimulatedClient& client = *clients_[chance_.below(clients_.size())];
      if (!client.is_done()) {
        client.act();
      }
    }
    return true;
  }

  /// To any number of requests, or to a few.
  void limit_account() {
    board_.publish({.account_requests_max = static_cast<uint32_t>(chance_.below(4))});
    inbox_.wake();
  }

  void connect() {
    auto wire = std::make_shared<Wire>();
    const int fd = 1'000'000 + static_cast<int>(clients_.size());
    poller_.add(fd, wire);
    Arrival arrival{std::make_unique<SimulatedTransport>(wire, fd, chance_),
                    {"simulated"},
                    clients_.size() + 1,
                    exec::Access::write,
                    &wire::handlersocket::handlersocket_protocol()};
    EXPECT_TRUE(inbox_.offer(arrival));
    clients_.push_back(std::make_unique<SimulatedClient>(std::move(wire), ledger_, chance_, clock_));
  }

  void fault() {
    const auto nth = static_cast<uint32_t>(chance_.from_to(1, 4));
    const auto times = static_cast<uint32_t>(chance_.from_to(1, 3));
    switch (chance_.below(6)) {
      case 0:
        engine_.fail_commit(Error(ErrorCode::engine, 1, "simulated"), times);
        break;
      case 1:
        engine_.fail_write(nth, Error(ErrorCode::engine, 2, "simulated"));
        break;
      case 2:
        engine_.lose_transaction_at_write(nth, times);
        break;
      case 3:
        engine_.lose_transaction_at_read(nth, times);
        break;
      case 4:
        engine_.fail_group_end(Error(ErrorCode::engine, 3, "simulated"));
        break;
      default:
        engine_.ask_to_commit_first(nth);
    }
  }

  /// The request under way waits, and the other hand goes on with the loop.
  void hand_over() {
    const LoopToken::Ticket ticket = loop_->token().seen();
    if (is_handing_over_ || !loop_->token().take(ticket)) {
      return;  // there are two hands
    }
    is_handing_over_ = true;
    in_charge_ = 1 - in_charge_;
    Turn& turn = *hands_[in_charge_].turn;
    turn.reserve(loop_->connections().size());
    static_cast<void>(loop_->take_over(turn));
    for (size_t turns = chance_.below(5); turns > 0; --turns) {
      EXPECT_EQ(loop_->run(turn), TurnLoop::Ended::well);
    }
    is_handing_over_ = false;
  }
  void end_adrift(Hand& hand) {
    hand.turn->keep_unsettled();
    hand.turn->commit();
    hand.session->release_tables();
    loop_->give_back(hand.turn->members());
  }

  void check_rows() {
    for (const auto& row : engine_.rows("d.counter")) {
      const Ledger::Counter& counter = ledger_.counters[std::stoull(*row[0])];
      const uint64_t n = std::stoull(*row[1]);
      ledger_.expect(n >= counter.acknowledged && n <= counter.acknowledged + counter.unknown,
                     "a counter has what was acknowledged", std::to_string(n));
    }
    std::set<uint64_t> ids;
    for (const auto& row : engine_.rows("d.entry")) {
      ids.insert(std::stoull(*row[0]));
    }
    for (const auto& [id, outcome] : ledger_.inserts) {
      const bool fits =
          outcome == Ledger::Insert::unknown || (outcome == Ledger::Insert::done) == ids.contains(id);
      ledger_.expect(fits, "a row is there if its insert was acknowledged", std::to_string(id));
      ids.erase(id);
    }
    ledger_.expect(ids.empty(), "no row is there that nobody inserted", std::to_string(ids.size()));
  }

  Chance chance_;
  size_t client_count_max_;
  ManualClock clock_;
  engine::memory::MemoryEngine engine_;
  Counters counters_;
  Inbox inbox_;
  SimulatedPoller poller_{chance_, clock_, [this] { return step(); }};
  SettingsBoard board_;
  TestLog log_;
  AccountLoads account_loads_;
  LimitedLog limited_log_{log_, clock_, "rowsocket-w0"};
  std::shared_ptr<engine::OpenedSelections> selections_ = std::make_shared<engine::OpenedSelections>();
  UniqueNumbers numbers_{0};
  CommitsUnderWay commits_;
  Ledger ledger_;
  std::vector<std::unique_ptr<SimulatedClient>> clients_;
  bool is_busy_ = false;
  bool is_handing_over_ = false;
  size_t in_charge_ = 0;
  std::array<Hand, 2> hands_;
  std::unique_ptr<TurnLoop> loop_;
};

uint64_t seed_or(uint64_t otherwise) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables
  const char* const seed = std::getenv("ROWSOCKET_SIMULATION_SEED");
  return seed == nullptr ? otherwise : std::stoull(seed);
}

TEST(Simulation, keeps_the_promise_with_every_seed) {
  const uint64_t broken_before = broken_invariants();
  const uint64_t first = seed_or(1);
  const uint64_t last = seed_or(200);
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("ROWSOCKET_SIMULATION_SEED=" + std::to_string(seed));
    World world(seed);
    world.run();
    ASSERT_THAT(world.ledger().broken, IsEmpty());
    ASSERT_EQ(broken_invariants(), broken_before);
  }
}

TEST(Simulation, gives_the_same_bytes_for_the_same_seed) {
  World first(seed_or(17));
  first.run();
  World second(seed_or(17));
  second.run();
  EXPECT_EQ(first.heard(), second.heard());
  EXPECT_FALSE(first.heard().empty());
}

TEST(Simulation, meets_what_it_is_for) {
  size_t replies = 0;
  size_t refusals = 0;
  uint64_t hand_overs = 0;
  uint64_t held_back = 0;
  uint64_t replays = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    World world(seed);
    world.run();
    replies += world.ledger().replies;
    refusals += world.ledger().refusals;
    hand_overs += world.count(Counter::hand_overs);
    held_back += world.count(Counter::requests_held_back);
    replays += world.count(Counter::replays);
  }
  EXPECT_THAT(replies, Gt(1000u));
  EXPECT_THAT(refusals, Gt(10u));
  EXPECT_THAT(hand_overs, Gt(10u));
  EXPECT_THAT(held_back, Gt(10u));
  EXPECT_THAT(replays, Gt(10u));
}

}  // namespace
}  // namespace rowsocket::server
