// SPDX-License-Identifier: GPL-2.0-only
//
// Counts requests by kind and by table, with their errors and how long they took, when they have their final
// answers. A request that is put back is not counted. Replies that count are told then that they may.
//
// Where times are asked for, the clock is read once between two requests: what ends one begins the next. So
// the time in which several are parsed is the first one's.
#pragma once

#include <cstdint>
#include <utility>

#include "base/ticks.h"
#include "engine/engine.h"
#include "exec/row_counts.h"
#include "exec/table_figures.h"
#include "request/counters.h"
#include "request/request.h"

namespace rowsocket::exec {

struct Job;
class TableLedger;

class RequestTally {
 public:
  /// `ledger` is nullptr where nothing is counted by table.
  explicit RequestTally(Counters& counters, TableLedger* ledger = nullptr)
      : counters_(counters), ledger_(ledger) {}

  /// Whether the ledger is kept from now on, and with times.
  void set_statistics(bool are_kept, bool have_times) {
    is_kept_ = are_kept && ledger_ != nullptr;
    is_timed_ = is_kept_ && have_times;
  }
  void begin_turn(uint64_t now_ms) { turn_began_ms_ = now_ms; }

  /// A request ends now, or the first one begins.
  void note_time() {
    if (is_timed_) {
      noted_ticks_ = ticks_now();
    }
  }
  /// When the request begins that is executed next.
  [[nodiscard]] uint64_t noted_ticks() const { return noted_ticks_; }

  /// A request, with the members of a group, and the one error that may be its answer. It had its answer when
  /// the time was last noted.
  void add(const Job& job);
  /// How many requests were added since this was last asked. Members of groups count.
  [[nodiscard]] uint64_t take_turn_requests() { return std::exchange(turn_requests_, 0); }

 private:
  void add_request(const Request& request, bool is_done);
  void enter(const Job& job);
  void enter_group(const Job& job, const TimeTaken& time);
  [[nodiscard]] TimeTaken time_of(const Job& job) const;

  Counters& counters_;
  TableLedger* ledger_;
  bool is_kept_ = false;
  bool is_timed_ = false;
  uint64_t noted_ticks_ = 0;
  uint64_t turn_began_ms_ = 0;
  uint64_t turn_requests_ = 0;
};

}  // namespace rowsocket::exec
