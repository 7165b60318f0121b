// SPDX-License-Identifier: GPL-2.0-only
//
// Clients of a simulated world, and what they may believe of the rows: every reply is held against it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/simulation.h"

namespace rowsocket::server {

/// What all clients together know. A counter's only changes are additions of one, each of which is told the
/// value before.
struct Ledger {
  struct Counter {
    uint64_t asked = 0;         ///< additions that the worker may have received
    uint64_t acknowledged = 0;  ///< their reply was received
    uint64_t unknown = 0;       ///< the connection ended before
    std::set<uint64_t> values_before;
  };
  enum class Insert : uint8_t { unknown, done, refused };

  static constexpr size_t counter_count = 3;
  std::vector<Counter> counters = std::vector<Counter>(counter_count);
  std::map<uint64_t, Insert> inserts;  ///< by id
  size_t replies = 0;
  size_t refusals = 0;
  std::vector<std::string> broken;  ///< promises

  void expect(bool holds, std::string_view promise, const std::string& line) {
    if (!holds) {
      broken.push_back(std::string(promise) + ": " + line);
    }
  }
};

class SimulatedClient {
 public:
  SimulatedClient(std::shared_ptr<Wire> wire, Ledger& ledger, Chance& chance, const Clock& clock)
      : wire_(std::move(wire)),
        ledger_(ledger),
        chance_(chance),
        clock_(clock),
        requests_left_(chance.from_to(1, 60)),
        will_vanish_(chance.one_in(4)),
        progress_ms_(clock.now_ms()) {
    say("P\t0\td\tcounter\t\tid,n\n", {.kind = Kind::other});
    say("P\t1\td\tcounter\t\tn\n", {.kind = Kind::other});
    say("P\t2\td\tentry\t\tid\n", {.kind = Kind::other});
  }

  /// Asked everything, and heard everything; or its connection has ended.
  [[nodiscard]] bool is_done() const {
    return is_gone_ || (requests_left_ == 0 && unsent_.empty() && expected_.empty());
  }
  [[nodiscard]] const std::string& heard() const { return heard_; }

  void act() {
    if (will_vanish_ && chance_.one_in(200)) {
      wire_->is_reset = true;
      leave();
      return;
    }
    if (wire_->worker_ended || clock_.now_ms() - progress_ms_ > patience_ms) {
      ledger_.expect(!wire_->worker_ended, "the worker closes no connection", heard_);
      ledger_.expect(wire_->worker_ended, "every request is answered", heard_);
      leave();
      return;
    }
    switch (chance_.below(8)) {
      case 0:
      case 1:
        if (requests_left_ > 0 && expected_.size() < 12) {
          --requests_left_;
          ask();
        }
        break;
      case 2:
      case 3:
      case 4:
        send_some();
        break;
      default:
        read_some();
    }
  }

 private:
  static constexpr uint64_t patience_ms = 10'000;

  enum class Kind : uint8_t { other, read, addition, insert, group_begin, group_end };
  struct Expected {
    Kind kind;
    uint64_t subject = 0;  ///< a counter, or the id of an insert
    bool in_group = false;
    uint64_t sent_up_to = 0;  ///< bytes, with the end of its line
    bool is_sent = false;
    uint64_t at_least = 0;  ///< the counter's value
  };

  void say(std::string_view line, Expected expected) {
    unsent_ += line;
    expected.sent_up_to = sent_bytes_ + unsent_.size();
    expected.in_group = in_group_;
    expected_.push_back(expected);
  }
  void ask() {
    if (!chance_.one_in(6)) {
      ask_one();
      return;
    }
    say("G\n", {.kind = Kind::group_begin});
    in_group_ = true;
    for (size_t count = chance_.from_to(1, 3); count > 0; --count) {
      ask_one();
    }
    say("E\n", {.kind = Kind::group_end});
    in_group_ = false;
  }
  void ask_one() {
    const uint64_t counter = chance_.below(Ledger::counter_count);
    const std::string key = std::to_string(counter);
    switch (chance_.below(3)) {
      case 0:
        say("0\t=\t1\t" + key + "\n", {.kind = Kind::read, .subject = counter});
        break;
      case 1:
        say("1\t=\t1\t" + key + "\t1\t0\t+?\t1\n", {.kind = Kind::addition, .subject = counter});
        break;
      default: {
        const uint64_t id = ledger_.inserts.size() + 1;
        ledger_.inserts[id] = Ledger::Insert::unknown;
        say("2\t+\t1\t" + std::to_string(id) + "\n", {.kind = Kind::insert, .subject = id});
      }
    }
  }

  void send_some() {
    if (unsent_.empty()) {
      return;
    }
    const size_t count = chance_.from_to(1, unsent_.size());
    wire_->to_worker.append(unsent_, 0, count);
    unsent_.erase(0, count);
    sent_bytes_ += count;
    progress_ms_ = clock_.now_ms();
    for (Expected& expected : expected_) {
      if (expected.is_sent || expected.sent_up_to > sent_bytes_) {
        continue;
      }
      expected.is_sent = true;
      if (expected.kind == Kind::read || expected.kind == Kind::addition) {
        Ledger::Counter& counter = ledger_.counters[expected.subject];
        expected.at_least = counter.acknowledged;
        counter.asked += expected.kind == Kind::addition ? 1 : 0;
      }
    }
  }

  void read_some() {
    if (wire_->to_client.empty()) {
      return;
    }
    const size_t count = chance_.from_to(1, wire_->to_client.size());
    heard_.append(wire_->to_client, 0, count);
    wire_->to_client.erase(0, count);
    progress_ms_ = clock_.now_ms();
    for (size_t end = 0; (end = heard_.find('\n', told_up_to_)) != std::string::npos; told_up_to_ = end + 1) {
      hear(heard_.substr(told_up_to_, end - told_up_to_));
    }
  }

  void hear(const std::string& line) {
    if (expected_.empty()) {
      ledger_.expect(false, "no reply without a request", line);
      return;
    }
    const Expected expected = expected_.front();
    expected_.pop_front();
    ++ledger_.replies;
    const bool is_well = line.starts_with("0\t");
    ledger_.refusals += is_well ? 0 : 1;
    ledger_.expect(expected.is_sent, "no reply before its request", line);
    switch (expected.kind) {
      case Kind::other:
        ledger_.expect(line == "0\t1", "an index can be opened", line);
        break;
      case Kind::group_begin:
        ledger_.expect(line == "0\t1", "a group begins", line);
        group_.clear();
        break;
      case Kind::group_end:
        for (const Expected& member : group_) {
          settle(member, is_well);
        }
        group_.clear();
        break;
      default:
        if (is_well) {
          check_value(expected, line);
        }
        if (expected.in_group) {
          group_.push_back(expected);
        } else {
          settle(expected, is_well);
        }
    }
  }

  void check_value(const Expected& expected, const std::string& line) {
    if (expected.kind == Kind::insert) {
      ledger_.expect(line == "0\t1", "an insert has no value", line);
      return;
    }
    const Ledger::Counter& counter = ledger_.counters[expected.subject];
    const std::string front =
        expected.kind == Kind::read ? "0\t2\t" + std::to_string(expected.subject) + "\t" : "0\t1\t";
    if (!line.starts_with(front) || line.size() == front.size()) {
      ledger_.expect(false, "the reply is that of its request", line);
      return;
    }
    const uint64_t value = std::stoull(line.substr(front.size()));
    ledger_.expect(value >= expected.at_least, "what was acknowledged before is seen", line);
    ledger_.expect(value <= counter.asked, "what nobody asked for is not seen", line);
    if (expected.kind == Kind::addition) {
      value_before_[expected.sent_up_to] = value;
    }
  }

  /// The outcome is known.
  void settle(const Expected& expected, bool is_done) {
    if (expected.kind == Kind::insert) {
      ledger_.inserts[expected.subject] = is_done ? Ledger::Insert::done : Ledger::Insert::refused;
    } else if (expected.kind == Kind::addition && is_done) {
      Ledger::Counter& counter = ledger_.counters[expected.subject];
      ++counter.acknowledged;
      const uint64_t before = value_before_[expected.sent_up_to];
      ledger_.expect(counter.values_before.insert(before).second,
                     "no two additions begin with the same value", std::to_string(before));
    }
  }

  void leave() {
    for (const auto* list : {&group_, &expected_}) {
      for (const Expected& expected : *list) {
        if (expected.kind == Kind::addition && expected.is_sent) {
          ++ledger_.counters[expected.subject].unknown;
        }
      }
    }
    group_.clear();
    expected_.clear();
    is_gone_ = true;
  }

  std::shared_ptr<Wire> wire_;
  Ledger& ledger_;
  Chance& chance_;
  const Clock& clock_;
  size_t requests_left_;
  bool will_vanish_;      ///< as a client that crashes
  uint64_t progress_ms_;  ///< when bytes last came or went
  bool in_group_ = false;
  bool is_gone_ = false;
  std::string unsent_;
  uint64_t sent_bytes_ = 0;
  std::deque<Expected> expected_;  ///< one per line of reply
  std::deque<Expected> group_;     ///< members that were answered, until the group's end is
  std::map<uint64_t, uint64_t> value_before_;
  std::string heard_;
  size_t told_up_to_ = 0;
};

}  // namespace rowsocket::server
