// SPDX-License-Identifier: GPL-2.0-only
//
// What exec allocates, and what it does when memory is refused. This file replaces operator new of the test
// program: it counts, and refuses on demand. The engine here is a stub of one row with one number, which
// allocates nothing itself, so that every refusal hits exec.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <sstream>

#include "base/refused_memory.h"
#include "engine/opened_selections.h"
#include "exec/executor_fixture.h"

namespace {

thread_local bool watched = false;
thread_local int allocations = 0;
thread_local int allowed = 0;  ///< refuse the one after so many; negative: never

void* allocate(size_t byte_count) {
  if (watched) {
    ++allocations;
    if (allowed >= 0 && allocations > allowed) {
      throw std::bad_alloc();
    }
  }
  void* const place = std::malloc(byte_count == 0 ? 1 : byte_count);
  if (place == nullptr) {
    throw std::bad_alloc();
  }
  return place;
}

void* allocate_quietly(size_t byte_count) {
  try {
    return allocate(byte_count);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// While it lives, allocations of this thread are counted, and those beyond `allowed_count` refused.
class Watch {
 public:
  explicit Watch(int allowed_count = -1) {
    allocations = 0;
    allowed = allowed_count;
    watched = true;
  }
  ~Watch() { watched = false; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  [[nodiscard]] static int count() { return allocations; }
};

}  // namespace

// The test program's own, in place of the library's.
void* operator new(size_t byte_count) { return allocate(byte_count); }
void* operator new[](size_t byte_count) { return allocate(byte_count); }
void* operator new(size_t byte_count, const std::nothrow_t&) noexcept { return allocate_quietly(byte_count); }
void* operator new[](size_t byte_count, const std::nothrow_t&) noexcept {
  return allocate_quietly(byte_count);
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete[](void* place) noexcept { std::free(place); }
void operator delete(void* place, size_t) noexcept { std::free(place); }
void operator delete[](void* place, size_t) noexcept { std::free(place); }

namespace rowsocket::exec {
namespace {

/// One row with one number, which is also its key. Nothing here allocates but open_index and begin_group.
class NumberSession final : public engine::Session, public engine::Cursor {
 public:
  int64_t committed = 0;
  int commits_to_failure = 0;  ///< of those with changes; 1: the next one fails
  Error failure = ErrorCode::commit_failed;

  engine::Begin open_selection(const engine::SelectionDescription& description,
                               std::shared_ptr<engine::Selection>& selection, Error&) override {
    selection = opened_->find_or_add(description);
    return engine::Begin::ready;
  }
  [[nodiscard]] bool column_types(const engine::Selection&, engine::ColumnTypes&, size_t) override {
    return true;
  }
  engine::Begin begin_request(engine::Selection&, const engine::Use&, engine::Cursor*& cursor,
                              Error&) override {
    before_request_ = number_;
    cursor = this;
    return engine::Begin::ready;
  }
  Error end_request() override { return {}; }
  void abandon_request() override { number_ = before_request_; }
  [[nodiscard]] bool transaction_lost() const override { return false; }
  [[nodiscard]] Error loss() const override { return ErrorCode::commit_failed; }
  void lose_transaction() override {}
  [[nodiscard]] bool did_lasting_work() const override { return false; }
  Error commit_and_go_on() override { return {}; }
  void expire_snapshot() override {}
  void set_patient(bool) override {}
  void note_waited(uint64_t) override {}
  engine::Begin begin_group(std::span<const engine::GroupMember> members, size_t&, Error&) override {
    made_ready_.assign(members.begin(), members.end());  // as the real engine, it allocates here
    before_group_ = number_;
    return engine::Begin::ready;
  }
  Error end_group() override { return {}; }
  void abandon_group() override { number_ = before_group_; }
  Error commit() override {
    if (number_ != committed && --commits_to_failure == 0) {
      number_ = committed;
      return std::move(failure);
    }
    committed = number_;
    return {};
  }
  void rollback() override { number_ = committed; }
  void release_read_tables() override {}
  void yield_tables() override {}
  void release_tables() override {}
  [[nodiscard]] bool holds_tables() const override { return false; }
  [[nodiscard]] uint64_t lock_wait_timeout_ms() const override { return 0; }
  [[nodiscard]] engine::Interruption interruption() const override { return engine::Interruption::none; }
  void clear_interruption() override {}
  void set_activity(std::string_view) override {}

  Error set_filters(std::span<const Filter>) override { return {}; }
  engine::Step seek(const KeyRange&) override { return engine::Step::row; }
  engine::Step next() override { return engine::Step::end; }
  [[nodiscard]] engine::Verdict verdict() override { return engine::Verdict::match; }
  [[nodiscard]] uint64_t key_shape() const override { return 0; }
  void write_row(ValueWriter& writer) override { writer.integer(number_); }
  [[nodiscard]] bool change_moves_rows(std::span<const Assignment>) const override { return false; }
  [[nodiscard]] bool save_position() override { return true; }
  engine::Step fetch_position(size_t) override { return engine::Step::row; }
  Error change_row(std::span<const Assignment>, bool, bool& changed) override {
    ++number_;
    changed = true;
    return {};
  }
  Error delete_row(bool& deleted) override {
    deleted = true;
    return {};
  }
  Error insert_row(const engine::RowToInsert&, RowOutcome& outcome) override {
    ++number_;
    outcome.rows_affected = 1;
    return {};
  }
  [[nodiscard]] const Error& error() const override { return error_; }

 private:
  std::shared_ptr<engine::OpenedSelections> opened_ = std::make_shared<engine::OpenedSelections>();
  int64_t number_ = 0;
  int64_t before_request_ = 0;
  int64_t before_group_ = 0;
  std::vector<engine::GroupMember> made_ready_;
  Error error_;
};

/// An executor that has executed nothing yet, and a connection with id 0 opened.
class ColdExecutor {
 public:
  ColdExecutor() {
    engine::SelectionDescription description;
    description.columns = "number";
    description.filter_columns = "number";
    RetiredSelections none;
    const auto opened = std::make_shared<engine::OpenedSelections>();
    connection_.client.set_selection(0, opened->find_or_add(description), none);
  }

  /// A turn. Gives the number of allocations; those beyond `allowed_count` were refused.
  int run(const std::vector<Ask>& asks, int allowed_count = -1) {
    const std::vector<const Request*> requests = bind(asks);
    const Watch watch(allowed_count);
    run_bound(requests);
    return Watch::count();
  }
  /// The same with buffers for which malloc has memory `allowed_count` times only.
  void run_with_refused_buffers(const std::vector<Ask>& asks, long allowed_count) {
    const std::vector<const Request*> requests = bind(asks);
    const test::RefusedMemory refused(allowed_count);
    run_bound(requests);
  }
  /// The replies of the turn, taken away.
  std::vector<std::string> replies() {
    std::vector<std::string> lines;
    std::istringstream text{std::string(connection_.out.view())};
    for (std::string line; std::getline(text, line);) {
      lines.push_back(line);
    }
    connection_.out.clear();
    return lines;
  }
  [[nodiscard]] int64_t committed() const { return session_.committed; }
  [[nodiscard]] bool out_failed() const { return connection_.out.failed(); }
  void fail_commit(int nth) { session_.commits_to_failure = nth; }
  void fail_next_commit(Error failure) {
    session_.failure = std::move(failure);
    fail_commit(1);
  }

 private:
  std::vector<const Request*> bind(const std::vector<Ask>& asks) {
    std::vector<const Request*> requests;
    for (const Ask& ask : asks) {
      requests.push_back(ask.bind(arena_, connection_.out));
    }
    return requests;
  }
  void run_bound(const std::vector<const Request*>& requests) {
    executor_.begin_turn(1);
    for (size_t position = 0; position < requests.size(); ++position) {
      static_cast<void>(executor_.execute(connection_.client, *requests[position], position));
    }
    executor_.end_turn();
  }

  Arena arena_;
  NumberSession session_;
  Counters counters_;
  ManualClock clock_;
  Executor executor_{
      session_, counters_,
      std::make_shared<const Settings>(Settings{.reply_bytes_max = limits::mebibyte, .id_max = 64}), clock_};
  Connection connection_{Account(Access::write, Access::write)};
};

class MemoryTest : public testing::Test {
 protected:
  /// How many rows the replies to the requests of the test below say are inserted.
  static int64_t acknowledged(const std::vector<std::string>& lines) {
    const auto group = [&lines](size_t begin) { return lines[begin + 3].starts_with("text") ? 2 : 0; };
    const auto rows = [&lines](size_t line) { return lines[line] == "rows/2 1# 1#" ? 2 : 0; };
    return group(0) + std::count(lines.begin() + 4, lines.begin() + 44, "ok") + group(44) + rows(48) +
           rows(49);
  }

  const Ask find_one = Ask::find(0, {"1"});
  const Ask find_filtered = Ask::find(0, {"1"}).skip_unless(0, Comparison::equal, "1").limit(9, 1);
  const Ask find_in_list = Ask::find(0, {"1"}).in(0, {"1", "2", "3"}).limit(9);
  const Ask add_one = Ask::find(0, {"1"}).add({"1"});
  const Ask insert_one = Ask::insert(0, {"1"});
};

TEST_F(MemoryTest, the_watch_sees_allocations) {
  const Watch watch;
  const std::vector<int> numbers(100);
  EXPECT_EQ(Watch::count(), 1);
}

TEST_F(MemoryTest, a_find_without_an_in_list_allocates_nothing_even_cold) {
  EXPECT_EQ(ColdExecutor().run({find_one, find_filtered}), 0);
}

TEST_F(MemoryTest, reads_allocate_nothing_once_warm) {
  ColdExecutor executor;
  executor.run({find_one, find_filtered, find_in_list});
  EXPECT_EQ(executor.run({find_one, find_filtered, find_in_list}), 0);
}

TEST_F(MemoryTest, writes_allocate_nothing_once_warm) {
  ColdExecutor executor;
  executor.run({add_one, insert_one, find_one});
  EXPECT_EQ(executor.run({add_one, insert_one, find_one}), 0);
}

TEST_F(MemoryTest,
       whichever_allocation_is_refused_each_request_is_answered_and_what_was_acknowledged_is_done) {
  const Ask group = Ask::group({insert_one, insert_one}).with_gtid();
  std::vector<Ask> asks = {group};
  asks.insert(asks.end(), 40, insert_one);  // enough for the list of staged requests to grow
  asks.push_back(group);
  asks.push_back(Ask::insert_rows(0, 2, {"1", "2"}));
  asks.push_back(Ask::insert_rows(0, 2, {"1", "2"}).rows_alone());
  asks.push_back(find_in_list);
  asks.push_back(Ask::find(0, {"1"}).columns("a_column_list_that_does_not_fit_into_the_string_itself"));
  asks.push_back(Ask::open(40, "t.t", "", "number,a_name_that_does_not_fit_into_the_string_itself"));
  for (int failing_commit = 0; failing_commit < 4; ++failing_commit) {
    int allowed_count = 0;
    for (bool refused = true; refused; ++allowed_count) {
      ColdExecutor executor;
      executor.fail_commit(failing_commit);
      refused = executor.run(asks, allowed_count) > allowed_count;
      const std::vector<std::string> lines = executor.replies();
      ASSERT_EQ(lines.size(), asks.size() + 6)
          << allowed_count << " allocations, failing commit " << failing_commit;
      EXPECT_EQ(executor.committed(), acknowledged(lines))
          << allowed_count << " allocations, failing commit " << failing_commit;
    }
    EXPECT_GT(allowed_count, 5);
  }
}

TEST_F(MemoryTest, where_a_commit_fails_and_its_words_have_no_room_nothing_is_said_of_what_it_had) {
  const Error failure(ErrorCode::sql, "a text that does not fit into the string itself");
  int allowed_count = 0;
  for (bool refused = true; refused; ++allowed_count) {
    ColdExecutor executor;
    executor.fail_next_commit(failure);
    refused = executor.run({insert_one, insert_one}, allowed_count) > allowed_count;
    EXPECT_EQ(executor.committed(), 0);
    const bool is_closed = executor.out_failed();
    EXPECT_TRUE(is_closed || executor.replies().size() == 2) << allowed_count << " allocations";
  }
  EXPECT_GT(allowed_count, 2);
}

TEST_F(MemoryTest, a_group_is_answered_wholly_or_its_connection_fails) {
  const std::vector<Ask> asks = {Ask::group({insert_one}).with_gtid(), find_one};
  for (long allowed_count = 0; allowed_count < 8; ++allowed_count) {
    ColdExecutor executor;
    executor.run_with_refused_buffers(asks, allowed_count);
    EXPECT_TRUE(executor.out_failed() || executor.replies().size() == 4) << allowed_count << " allocations";
  }
}

}  // namespace
}  // namespace rowsocket::exec
