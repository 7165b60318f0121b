// SPDX-License-Identifier: GPL-2.0-only
//
// What is counted by table: of the requests that an executor runs, and by the ledger alone, with more indexes
// than it holds.
#include "exec/table_ledger.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/opened_selections.h"
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

using Part = TableStatistics::Part;
using engine::TablePlace;

/// As a reader comes to all of it.
TableStatistics::Records read_all(const TableStatistics& statistics, Part part) {
  TableStatistics::Records all;
  std::optional<TablePlace> last;
  while (true) {
    const std::vector<TablePlace> places = statistics.places_behind(last);
    EXPECT_LE(places.size(), limits::statistics_places_per_look);
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
    if (places.empty()) {
      return all;
    }
    EXPECT_TRUE(!last.has_value() || *last < places.front());
    last = places.back();
    for (auto& [place, record] : statistics.read(part, places)) {
      EXPECT_TRUE(all.try_emplace(place, std::move(record)).second);
    }
  }
}

uint64_t total(const TableStatistics& statistics) {
  uint64_t sum = 0;
  for (const auto& [place, record] : read_all(statistics, Part::figures)) {
    sum += record.figures.request_count();
  }
  return sum;
}

uint64_t timed(const TableRecord& record) {
  uint64_t sum = 0;
  for (const auto& latencies : record.latencies) {
    sum += latencies == nullptr ? 0 : latencies->count();
  }
  return sum;
}

// ---- what requests do

class CountedRequestsTest : public ExecutorTest {
 protected:
  CountedRequestsTest() { open_for_insert(one); }

  void SetUp() override {
    settings.request_times = true;
    executor.reset();
    ledger.emplace(statistics, *session);
    executor = std::make_unique<Executor>(*session, counters, shared_settings(), clock, Executor::Notices(),
                                          &*ledger);
  }
  void TearDown() override { executor.reset(); }

  [[nodiscard]] TableFiguresOf<uint64_t> figures(const std::string& index) const {
    TableStatistics::Records records = read_all(statistics, Part::figures);
    return records[{"shop", "item", index}].figures;
  }
  [[nodiscard]] uint64_t requests(const std::string& index, Work work) const {
    return figures(index).requests[static_cast<size_t>(work)];
  }
  [[nodiscard]] uint64_t errors(const std::string& index, ErrorCode code) const {
    return figures(index).errors[static_cast<size_t>(code)];
  }

  Connection& one = shopper();
  TableStatistics statistics;
  std::optional<TableLedger> ledger;
};

TEST_F(CountedRequestsTest, rows_are_those_that_a_find_stood_on_and_told) {
  turn(one, {Ask::find(1, {"10"}).limit(9, 1), Ask::find(1, {"10"}).limit(9).count()});
  const auto of_shelves = figures("1");
  EXPECT_EQ(of_shelves.requests[static_cast<size_t>(Work::find)], 2U);
  EXPECT_EQ(of_shelves.rows_examined, 4U);
  EXPECT_EQ(of_shelves.rows_sent, 1U);
  EXPECT_EQ(of_shelves.rows_changed, 0U);
  EXPECT_EQ(of_shelves.error_count(), 0U);
}

TEST_F(CountedRequestsTest, rows_that_an_insert_tells_are_sent) {
  turn(one, {Ask::insert_rows(9, 2, {"6", "30", "mug", "1", "7", "30", "cup", "2"}).telling_rows()});
  EXPECT_EQ(figures("PRIMARY").rows_sent, 2U);
  EXPECT_EQ(figures("PRIMARY").rows_changed, 2U);
}

TEST_F(CountedRequestsTest, what_an_upsert_does_to_a_row_that_is_there_is_an_update) {
  turn(one, {Ask::insert(9, {"1", "10", "pen", "6"}).on_duplicate(OnDuplicate::change, {3}),
             Ask::insert(9, {"8", "10", "nib", "6"}).on_duplicate(OnDuplicate::change, {3})});
  EXPECT_EQ(count(Counter::rows_updated), 1U);
  EXPECT_EQ(count(Counter::rows_inserted), 1U);
}

TEST_F(CountedRequestsTest,
       a_request_that_runs_again_has_the_rows_of_its_last_run_and_the_thread_those_of_all) {
  engine.lose_transaction_at_write(2);
  turn(one, {Ask::find(0, {"1"}).add({"1"}), Ask::find(0, {"2"}).add({"1"})});
  EXPECT_EQ(count(Counter::replays), 1U);
  EXPECT_EQ(figures("0").rows_examined, 2U);
  EXPECT_EQ(count(Counter::rows_read), 4U);
}

TEST_F(CountedRequestsTest, requests_are_told_apart_by_what_they_do) {
  turn(one, {Ask::insert(9, {"7", "1", "x", "1"}), Ask::find(0, {"7"}).update({"3"}),
             Ask::find(0, {"7"}).add({"3"}), Ask::find(0, {"7"}).remove(), Ask::find(0, {"7"})});
  EXPECT_EQ(requests("PRIMARY", Work::insert), 1U);
  for (const Work work : {Work::find, Work::update, Work::increment, Work::remove}) {
    EXPECT_EQ(requests("0", work), 1U) << name_of(work);
  }
  EXPECT_EQ(figures("PRIMARY").rows_changed, 1U);
  EXPECT_EQ(figures("0").rows_changed, 3U);
}

TEST_F(CountedRequestsTest, what_failed_is_an_error_and_changed_nothing) {
  turn(one, {Ask::insert(9, {"1", "1", "x", "1"})});
  EXPECT_EQ(requests("PRIMARY", Work::insert), 1U);
  EXPECT_EQ(errors("PRIMARY", ErrorCode::engine), 1U);
  EXPECT_EQ(figures("PRIMARY").rows_changed, 0U);
}

TEST_F(CountedRequestsTest, a_commit_that_fails_makes_errors_of_its_writes) {
  engine.fail_commit(Error(ErrorCode::engine, 135));
  turn(one, {Ask::insert(9, {"7", "1", "x", "1"})});
  EXPECT_EQ(figures("PRIMARY").error_count(), 1U);
  EXPECT_EQ(figures("PRIMARY").rows_changed, 0U);
}

TEST_F(CountedRequestsTest, members_of_a_group_that_fails_count_as_they_are_answered) {
  const auto add_to = [](const std::string& id) { return Ask::find(0, {id}).add({"1"}); };
  turn(one, {Ask::group({add_to("1"), Ask::insert(9, {"1", "1", "x", "1"})})});
  EXPECT_EQ(errors("0", ErrorCode::undone_with_group), 1U);
  EXPECT_EQ(errors("PRIMARY", ErrorCode::engine), 1U);
  engine.fail_commit(Error(ErrorCode::engine, 135));
  turn(one, {Ask::group({add_to("1"), add_to("2")})});
  EXPECT_EQ(errors("0", ErrorCode::engine), 2U);
}

TEST_F(CountedRequestsTest, members_of_a_group_are_counted_each) {
  turn(one, {Ask::group({Ask::find(0, {"1"}).add({"1"}), Ask::find(1, {"10"}).limit(5)})});
  EXPECT_EQ(requests("0", Work::increment), 1U);
  EXPECT_EQ(figures("0").rows_changed, 1U);
  EXPECT_EQ(requests("1", Work::find), 1U);
  EXPECT_EQ(figures("1").rows_sent, 2U);
}

TEST_F(CountedRequestsTest, a_group_that_fails_changed_nothing) {
  turn(one, {Ask::group({Ask::find(0, {"1"}).add({"1"}), Ask::insert(9, {"2", "1", "x", "1"})})});
  EXPECT_EQ(errors("0", ErrorCode::undone_with_group), 1U);
  EXPECT_EQ(errors("PRIMARY", ErrorCode::engine), 1U);
  EXPECT_EQ(figures("0").rows_changed, 0U);
}

TEST_F(CountedRequestsTest, each_request_is_timed_once) {
  turn(one,
       {Ask::find(0, {"1"}), Ask::find(0, {"2"}), Ask::insert(9, {"7", "1", "x", "1"}), Ask::find(0, {"3"})});
  TableStatistics::Records records = read_all(statistics, Part::latencies);
  EXPECT_EQ(timed((records[{"shop", "item", "0"}])), 3U);
  EXPECT_EQ(timed((records[{"shop", "item", "PRIMARY"}])), 1U);
}

TEST_F(CountedRequestsTest, requests_are_counted_where_times_are_not_asked_for) {
  settings.request_times = false;
  use_settings();
  turn(one, {Ask::find(0, {"1"})});
  EXPECT_EQ(requests("0", Work::find), 1U);
  EXPECT_EQ(figures("0").total_ns, 0U);
  EXPECT_TRUE(read_all(statistics, Part::latencies).empty());
}

TEST_F(CountedRequestsTest, nothing_is_counted_while_statistics_are_off) {
  settings.statistics = false;
  use_settings();
  turn(one, {Ask::find(0, {"1"})});
  EXPECT_EQ(total(statistics), 0U);
  settings.statistics = true;
  use_settings();
  turn(one, {Ask::find(0, {"1"})});
  EXPECT_EQ(total(statistics), 1U);
}

TEST_F(CountedRequestsTest, the_time_that_a_request_was_parked_is_its_own) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(one, Ask::find(0, {"1"}).add({"1"})), "parked");
  EXPECT_EQ(total(statistics), 0U);
  engine.set_busy("shop.item", false);
  now_ms += 700;
  EXPECT_EQ(ask(one, Ask::find(0, {"1"}).add({"1"})), "= 1");
  EXPECT_GE(figures("0").total_ns, 700'000'000U);
  EXPECT_EQ(requests("0", Work::increment), 1U);
}

// ---- the ledger alone

class TableLedgerTest : public testing::Test {
 protected:
  TableLedgerTest() { ledger_.emplace(statistics_, *session_); }

  std::shared_ptr<engine::Selection> selection(const std::string& table, const std::string& columns = "a") {
    return opened_->find_or_add({.database = "d", .table = table, .index = "", .columns = columns});
  }
  void add(const engine::Selection& selection) {
    ledger_->add(selection, {.work = Work::find, .rows_sent = 1}, {.is_known = true, .ticks = 1000});
  }
  [[nodiscard]] uint64_t count_of(const std::string& table) const {
    const std::vector<TablePlace> asked{{table.empty() ? "" : "d", table, table.empty() ? "" : "PRIMARY"}};
    return statistics_.read(Part::figures, asked)[asked.front()].figures.request_count();
  }

  engine::memory::MemoryEngine engine_;
  Counters counters_;
  std::unique_ptr<engine::Session> session_ = engine_.create_session({.counters = &counters_});
  std::shared_ptr<engine::OpenedSelections> opened_ = std::make_shared<engine::OpenedSelections>();
  TableStatistics statistics_;
  std::optional<TableLedger> ledger_;
};

TEST_F(TableLedgerTest, selections_of_one_index_are_counted_together) {
  add(*selection("t", "a"));
  add(*selection("t", "b"));
  EXPECT_EQ(count_of("t"), 2U);
}

TEST_F(TableLedgerTest, an_index_whose_name_is_not_known_yet_is_asked_for_again) {
  const auto opened = selection("t");
  engine_.find_places_by([](TablePlace&) { return false; });
  add(*opened);
  engine_.find_places_by([](TablePlace& place) {
    place.index = "by_a";
    return true;
  });
  add(*opened);
  TableStatistics::Records records = read_all(statistics_, Part::figures);
  EXPECT_EQ((records[{"d", "t", "by_a"}]).figures.request_count(), 1U);
}

TEST_F(TableLedgerTest, a_slot_that_another_selection_has_by_now_counts_for_that) {
  auto first = selection("t");
  add(*first);
  const uint32_t slot = first->slot();
  first.reset();
  const auto second = selection("u");
  ASSERT_EQ(second->slot(), slot);
  add(*second);
  EXPECT_EQ(count_of("t"), 1U);
  EXPECT_EQ(count_of("u"), 1U);
}

TEST_F(TableLedgerTest, what_falls_out_is_still_in_the_sums) {
  std::vector<std::shared_ptr<engine::Selection>> all;
  for (size_t number = 0; number < 3 * limits::ledger_places_max; ++number) {
    all.push_back(selection("t" + std::to_string(number)));
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& one : all) {
      add(*one);
    }
  }
  EXPECT_EQ(total(statistics_), 2 * all.size());
  for (const auto& one : all) {
    EXPECT_EQ(count_of(one->description().table), 2U);
  }
}

TEST_F(TableLedgerTest, one_that_is_used_all_the_time_stays) {
  const auto busy = selection("busy");
  add(*busy);
  for (size_t number = 0; number < 3 * limits::ledger_places_max; ++number) {
    add(*selection("t" + std::to_string(number)));
    add(*busy);
  }
  EXPECT_EQ(count_of("busy"), 3 * limits::ledger_places_max + 1);
}

TEST_F(TableLedgerTest, beyond_all_bounds_they_are_counted_without_names) {
  const size_t count = limits::statistics_places_max + limits::ledger_places_max + 100;
  for (size_t number = 0; number < count; ++number) {
    add(*selection("t" + std::to_string(number)));
  }
  EXPECT_EQ(total(statistics_), count);
  EXPECT_EQ(count_of(""), 100U);
  EXPECT_LE(read_all(statistics_, Part::figures).size(),
            limits::statistics_places_max + limits::ledger_places_max + 1);
}

TEST_F(TableLedgerTest, those_without_names_begin_at_0_too) {
  for (size_t number = 0; number <= limits::statistics_places_max + limits::ledger_places_max; ++number) {
    add(*selection("t" + std::to_string(number)));
  }
  ASSERT_EQ(count_of(""), 1U);
  statistics_.reset(Part::figures);
  EXPECT_EQ(count_of(""), 0U);
}

TEST_F(TableLedgerTest, a_thread_that_ends_leaves_its_counts) {
  add(*selection("t"));
  ledger_.reset();
  EXPECT_EQ(count_of("t"), 1U);
  ledger_.emplace(statistics_, *session_);
  add(*selection("t"));
  EXPECT_EQ(count_of("t"), 2U);
}

TEST(TableFigures, are_all_0_where_they_are_cleared) {
  TableFiguresOf<uint64_t> figures;
  for (const ErrorCode error : {ErrorCode::none, ErrorCode::syntax}) {
    figures.add(
        {.work = Work::update, .error = error, .rows_examined = 1, .rows_sent = 2, .rows_changed = 3});
  }
  figures.total_ns = 4;
  figures.clear();
  EXPECT_EQ(figures.request_count() + figures.error_count(), 0U);
  EXPECT_EQ(figures.rows_examined + figures.rows_sent + figures.rows_changed + figures.total_ns, 0U);
}

TEST_F(TableLedgerTest, a_reset_begins_at_0_wherever_the_counts_are) {
  add(*selection("t"));
  ledger_.reset();
  ledger_.emplace(statistics_, *session_);
  add(*selection("t"));
  statistics_.reset(Part::figures);
  EXPECT_EQ(total(statistics_), 0U);
  add(*selection("t"));
  EXPECT_EQ(count_of("t"), 1U);
}

TEST_F(TableLedgerTest, the_two_parts_are_reset_apart) {
  add(*selection("t"));
  statistics_.reset(Part::figures);
  add(*selection("t"));
  EXPECT_EQ(count_of("t"), 1U);
  TableStatistics::Records records = read_all(statistics_, Part::latencies);
  EXPECT_EQ(timed((records[{"d", "t", "PRIMARY"}])), 2U);
  statistics_.reset(Part::latencies);
  EXPECT_TRUE(read_all(statistics_, Part::latencies).empty());
  EXPECT_EQ(count_of("t"), 1U);
}

TEST_F(TableLedgerTest, what_is_timed_after_a_reset_is_all_that_is_told) {
  add(*selection("t"));
  statistics_.reset(Part::latencies);
  add(*selection("t"));
  TableStatistics::Records records = read_all(statistics_, Part::latencies);
  EXPECT_EQ(timed((records[{"d", "t", "PRIMARY"}])), 1U);
}

TEST_F(TableLedgerTest, what_was_reset_does_not_come_back_with_a_thread_that_ends) {
  add(*selection("t"));
  statistics_.reset(Part::figures);
  statistics_.reset(Part::latencies);
  ledger_.reset();
  EXPECT_EQ(total(statistics_), 0U);
  EXPECT_TRUE(read_all(statistics_, Part::latencies).empty());
}

TEST_F(TableLedgerTest, only_what_is_asked_for_is_read) {
  add(*selection("a"));
  ledger_.reset();
  ledger_.emplace(statistics_, *session_);
  for (const char* const table : {"a", "b", "c"}) {
    add(*selection(table));
  }
  const std::vector<TablePlace> asked{{"d", "a", "PRIMARY"}, {"d", "c", "PRIMARY"}, {"d", "none", "PRIMARY"}};
  TableStatistics::Records records = statistics_.read(Part::figures, asked);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[asked[0]].figures.request_count(), 2U);
  EXPECT_EQ(records[asked[1]].figures.request_count(), 1U);
}

/// Some are of one ledger, some of several, and some have fallen out.
TEST_F(TableLedgerTest, all_of_2000_indexes_in_four_ledgers_are_read_in_their_order) {
  constexpr size_t count = 2000;
  std::vector<std::shared_ptr<engine::Selection>> all;
  for (size_t number = 0; number < count; ++number) {
    all.push_back(selection("t" + std::to_string(number)));
  }
  std::vector<std::unique_ptr<TableLedger>> ledgers;
  std::map<std::string, uint64_t> expected;
  for (size_t step = 1; step <= 4; ++step) {
    const auto& ledger = ledgers.emplace_back(std::make_unique<TableLedger>(statistics_, *session_));
    for (size_t number = 0; number < count; number += step) {
      ledger->add(*all[number], {.work = Work::find}, {.is_known = true, .ticks = 100});
      ++expected["t" + std::to_string(number)];
    }
  }
  std::map<std::string, uint64_t> counted;
  for (const auto& [place, record] : read_all(statistics_, Part::figures)) {
    counted[place.table] = record.figures.request_count();
  }
  EXPECT_EQ(counted, expected);
  counted.clear();
  for (const auto& [place, record] : read_all(statistics_, Part::latencies)) {
    counted[place.table] = timed(record);
  }
  EXPECT_EQ(counted, expected);
}

TEST_F(TableLedgerTest, readers_and_resets_disturb_nobody) {
  constexpr uint64_t each = 20'000;
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number) {
    threads.emplace_back([this] {
      const auto session = engine_.create_session({.counters = &counters_});
      TableLedger ledger(statistics_, *session);
      for (uint64_t i = 0; i < each; ++i) {
        ledger.add(*selection("t" + std::to_string(i % (2 * limits::ledger_places_max))),
                   {.work = Work::find}, {.is_known = true, .ticks = 100});
      }
    });
  }
  while (total(statistics_) < each) {
    static_cast<void>(read_all(statistics_, Part::latencies));
    statistics_.reset(Part::latencies);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(total(statistics_), 2 * each);
}

}  // namespace
}  // namespace rowsocket::exec
