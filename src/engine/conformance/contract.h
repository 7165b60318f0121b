// SPDX-License-Identifier: GPL-2.0-only
//
// The vocabulary of the conformance suite. Each test has a fresh host with the table d.item of its kind:
//
//   id | name (4 bytes) | stock      PRIMARY (id), by_name (name) unique, by_stock_name (stock, name)
//   1  | cap            | 20
//   2  | pen            | 10
//   3  | cup            | 20
//   4  | box            | NULL
//
// A Client is a session with short words for requests; `client()` is the one of the test's own thread, which
// may write. Somebody is a client on a thread of its own. Rows are compared as text: "1 cap 20, 4 box NULL".
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/conformance/engine_under_test.h"
#include "engine/conformance/row_calls.h"
#include "request/counters.h"

namespace rowsocket::engine::conformance {

/// What a fresh table holds.
inline const std::string four_rows = "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL";

/// Values as a test writes them: nullptr is NULL. They live as long as the list does.
class Texts {
 public:
  Texts(std::initializer_list<const char*> texts);
  operator std::span<const Value>() const { return values_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  std::vector<Value> values_;
};

/// A range as a test writes it.
struct Range {
  KeyOperator key_operator = KeyOperator::equal;
  Texts key = {};
  bool has_end = false;
  KeyOperator end_operator = KeyOperator::at_or_before;
  Texts end_key = {};
  bool reverse = false;
  bool exact_values = false;

  [[nodiscard]] KeyRange range() const {
    return {.key_operator = key_operator,
            .key = key,
            .has_end = has_end,
            .end_operator = end_operator,
            .end_key = end_key,
            .reverse = reverse,
            .exact_values = exact_values};
  }
};

/// The index that most tests open: all columns of d.item by its primary key.
[[nodiscard]] SelectionDescription item(std::string index = "", std::string filter_columns = "");

class Client {
 public:
  Client(Engine& engine, Intent intent);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] bool has_session() const { return session_ != nullptr; }
  [[nodiscard]] int wakes() const { return wakes_.load(); }

  // Opening. The index is kept as long as the client lives, as a connection keeps it.
  Selection& open(const SelectionDescription& description = item());
  ErrorCode failure_to_open(const SelectionDescription& description);

  /// Begin a request that is to be ready.
  Cursor& begin(Selection& index, Intent intent);
  /// What begin_request answers; where it is ready the request is abandoned at once.
  Begin tries(Selection& index, Intent intent);
  /// The same, and why it failed.
  Begin tries(Selection& index, Intent intent, Error& error);

  // Whole requests: ended where they succeed, else abandoned. One that can not begin is an error, too: what
  // it failed with, or cannot_lock_table where it is to wait.
  using Action = std::function<Error(Cursor&)>;
  Error request(Selection& index, Intent intent, const Action& action);
  Error insert(const Texts& values, Intent intent = Intent::write);
  /// "1" = inserted, "2" = changed what was there, "0" = nothing changed; "#7" behind it is the id. Or "error
  /// 121".
  std::string insert_into(Selection& index, const Texts& values, const Duplicates& duplicates = {});
  /// On the row of this id; it is an error if there is none.
  Error on_row(Selection& index, const char* id, Intent intent, const Action& action);
  Error set_stock(const char* id, const char* stock, Intent intent = Intent::write);
  Error remove(const char* id);

  /// The rows of a range, as a request of its own.
  std::string rows(Selection& index, const Range& range = {KeyOperator::at_or_after, {"-1000"}});
  /// The ids of the same.
  std::string ids(Selection& index, const Range& range);
  /// The stock of a row, "none" if there is no row, or "later" where the request is to wait.
  std::string stock(const char* id);

  Begin begin_group(std::initializer_list<GroupMember> members, size_t& failed_member, Error& error);
  /// Begin a group that is to be ready, at once or after a commit.
  void begin_group(std::initializer_list<GroupMember> members);

  void commit();
  /// As at the end of a turn after which the worker sleeps.
  void sleep();

 private:
  Counters counters_;
  std::atomic<int> wakes_ = 0;
  std::vector<std::shared_ptr<Selection>> opened_;
  std::unique_ptr<Session> session_;
};

/// A client on a thread of its own.
class Somebody {
 public:
  Somebody(Engine& engine, Intent intent);
  ~Somebody();
  Somebody(const Somebody&) = delete;
  Somebody& operator=(const Somebody&) = delete;

  using Deed = std::function<void(Client&)>;
  void does(Deed deed) { begins(std::move(deed)).get(); }
  /// Begin, and do not wait for the end.
  std::future<void> begins(Deed deed);

 private:
  void live(Engine& engine, Intent intent);

  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<std::packaged_task<void(Client&)>> deeds_ ROWSOCKET_GUARDED_BY(mutex_);
  bool leaves_ ROWSOCKET_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

class Contract : public testing::TestWithParam<TableKind> {
 protected:
  Contract();
  ~Contract() override;

  [[nodiscard]] Host& host() { return *host_; }
  Client& client();
  /// The client of this thread from now on.
  Client& client_that_reads();

  void create_table(const std::string& name, const TableDefinition& definition) {
    host().create_table(name, definition, GetParam());
  }
  /// d.numbered: id AUTO_INCREMENT, name unique, stock with the default 7.
  SelectionDescription create_numbered();
  /// d.copied (id), of the test's kind: a trigger copies what is inserted to the table `to`, which is made
  /// anew.
  void create_copied(const std::string& to, const TableKind& kind_of_copies);
  Error insert_copied(const char* id);
  /// Committed rows.
  [[nodiscard]] std::string rows(const std::string& table = "d.item");

 private:
  std::unique_ptr<Host> host_;
  std::unique_ptr<Client> client_;
};

/// Do a thing again and again until the condition holds. False if that takes far longer than it can.
[[nodiscard]] bool repeat_until(const std::function<bool()>& condition, const std::function<void()>& thing);

/// The row that the cursor stands on.
[[nodiscard]] std::string row_of(Cursor& cursor);

// For INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] std::vector<TableKind> every_kind();
[[nodiscard]] std::vector<TableKind> kinds_with_transactions();
[[nodiscard]] std::vector<TableKind> kinds_without_transactions();
[[nodiscard]] std::vector<TableKind> lenient_kinds();
[[nodiscard]] std::string name_of_kind(const testing::TestParamInfo<TableKind>& kind);

inline constexpr int duplicate_key = 121;  ///< an engine's error
inline constexpr int row_locked = 146;     ///< an engine's error
inline constexpr int ids_used_up = 167;    ///< an engine's error
inline constexpr int column_is_not_null = 1048;
inline constexpr int out_of_range = 1264;
inline constexpr int incorrect_amount = 1292;
inline constexpr int no_default = 1364;
inline constexpr int incorrect_value = 1366;
inline constexpr int data_too_long = 1406;

}  // namespace rowsocket::engine::conformance
