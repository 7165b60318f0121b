// SPDX-License-Identifier: GPL-2.0-only
//
// A storage engine over maps, for unit tests and fuzzing: everything above `engine.h` runs on it without a
// MariaDB.
//
//   MemoryEngine engine;
//   engine.create_table("shop.item", {.columns = {integer("id"), text("name"), nullable(integer("stock"))},
//                                     .indexes = {{"PRIMARY", {"id"}, true}, {"by_name", {"name"}}}});
//   engine.insert("shop.item", {"1", "pen", "7"});
//   ... a worker or an executor on engine.create_session({.intent = Intent::write}) ...
//   EXPECT_THAT(engine.rows("shop.item"), ElementsAre(Row{"1", "pen", "8"}));
//
// What it does like a transactional engine: changes belong to a session's transaction until commit; a request
// that fails is undone alone (an undo log); a transaction can be lost as a whole (deadlock), and says so.
// Values are converted strictly, with the server's own error numbers. Keys are ordered, NULL first; text
// compares by bytes.
//
// Locking: one big lock. A session of Intent::write holds it exclusively from its first begin_request to
// commit or rollback, a session of Intent::read holds it shared, so no session ever sees uncommitted rows and
// nothing but the fault hooks can deadlock. A session that finds the lock taken by another thread blocks, for
// a second at most, or up to the lock wait timeout if it is patient. Where the holder is of the same thread
// (a test with two sessions) blocking could never end, and the answer is Begin::wait. `rows` never waits and
// shows committed rows only.
//
// Thread-safe: every entry takes the engine's one mutex. Sessions must be gone before the engine is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace rowsocket::engine::memory {

using Cell = std::optional<std::string>;  ///< nullopt = NULL
using Row = std::vector<Cell>;

enum class ColumnType : uint8_t { integer, text };

struct Column {
  std::string name;
  ColumnType type = ColumnType::text;
  bool nullable = false;
  std::optional<Cell> default_value = {};  ///< none: NULL where nullable, else an insert must give a value
  bool auto_increment = false;
  size_t bytes_max = 255;  ///< text only; a longer value is error 1406
};

[[nodiscard]] Column integer(std::string name);  ///< a signed 64-bit number
[[nodiscard]] Column text(std::string name, size_t bytes_max = 255);
[[nodiscard]] Column auto_increment(std::string name);
[[nodiscard]] Column nullable(Column column);
[[nodiscard]] Column with_default(Column column, Cell value);

struct IndexDefinition {
  std::string name;
  std::vector<std::string> columns;
  bool unique = false;
};

struct TableDefinition {
  std::vector<Column> columns;
  std::vector<IndexDefinition> indexes;  ///< an ordinal counts these from 0
  bool has_transactions = true;          ///< else what is changed stays changed, and groups refuse it
  /// "database.table": a trigger behind each insert puts the row's first value into that table, too.
  std::string copies_to = {};
};

struct State;

class MemoryEngine : public Engine {
 public:
  MemoryEngine();
  ~MemoryEngine() override;

  [[nodiscard]] std::unique_ptr<Session> create_session(const SessionOptions& options) override;
  /// When the sessions have ended the engine is as before: another server may start on it.
  void interrupt_sessions() override;

  /// Who may log in; asked on login threads, without a lock of the engine. Without this there are no
  /// accounts. Every account may do everything.
  void accept_logins(std::function<bool(const Credentials&)> accepts) { accepts_ = std::move(accepts); }
  [[nodiscard]] std::unique_ptr<Authenticator> create_authenticator() override;

  /// The account is gone.
  void drop_account(uint64_t number);

  /// What sessions tell of requests, from their next turns on; nullptr = nothing. It knows no threads.
  void tell(Trail* trail);

  // Tables, named "database.table". These are for the test's own thread and do not wait for transactions.
  /// Replaces a table of the same name, rows included: what ALTER or DROP and CREATE would do under an opened
  /// index.
  void create_table(std::string_view name, TableDefinition definition);
  void drop_table(std::string_view name);
  /// Insert a whole row; false if a value does not fit, or a unique index has its key already.
  bool insert(std::string_view name, const Row& row);
  /// The committed rows, in the order of the first index.
  [[nodiscard]] std::vector<Row> rows(std::string_view name) const;

  // Faults. Each is armed until it happened `times` times. A "write" is one row inserted, updated or deleted
  // through a session, counted over all sessions from the moment of arming; `nth` begins with 1.
  /// The next commits that have changes to commit fail, and everything is undone.
  void fail_commit(Error error, uint32_t times = 1);
  /// The next group that comes to its end is undone there.
  void fail_group_end(Error error);
  /// The nth write fails, and its request with it.
  void fail_write(uint32_t nth, Error error);
  /// The nth write, and the `times` - 1 after it, find a deadlock: the whole transaction is rolled back.
  void lose_transaction_at_write(uint32_t nth, uint32_t times = 1);
  /// The same for rows read.
  void lose_transaction_at_read(uint32_t nth, uint32_t times = 1);
  /// The nth row read from now on fails.
  void fail_read(uint32_t nth, Error error);
  /// While busy, requests on the table (and opening it) get Begin::wait. Those that are patient wait in place
  /// first, unless they are of the caller's thread, where that could never end.
  void set_busy(std::string_view name, bool busy);
  void set_lock_wait_timeout_ms(uint64_t milliseconds);
  /// How long a session that is not patient waits in place for the big lock.
  void set_row_patience_ms(uint64_t milliseconds);
  /// Return when a session that is patient waits in place.
  void await_patient_wait();
  /// What the next write does besides (something that happens while the turn executes). It must not call
  /// back.
  void on_next_write(std::function<void()> action);
  /// The same for the next commit that has changes to commit.
  void on_next_commit(std::function<void()> action);
  /// What happens right behind the next look at a session's interruption. It may call back.
  void on_next_interruption_look(std::function<void()> action);
  /// The next request that begins does this first, without a lock of the engine: it waits for something.
  /// `is_announced`: its session says so before (SessionOptions::on_wait).
  void on_next_request(std::function<void()> action, bool is_announced = true);
  /// Who may come in that names no account: asked for each, without a lock of the engine. nullptr: all.
  void admit_by(std::function<Admittance(const Entrance&)> admit);
  /// What Session::find_place says of a place that has the client's names. nullptr: that these are right.
  void find_places_by(std::function<bool(TablePlace&)> find);
  /// Every request says that it is about to wait for the disk.
  void lie_on_disk(bool is_on_disk);
  /// What a session keeps of each selection that it meets from now on, beside its description.
  void keep_of_selections(size_t bytes_each);
  /// Transactions say that they are long, from their first change on.
  void make_transactions_long();
  /// Commits that have changes keep the processor busy for so long, with what the requests left to them.
  void leave_to_commits(uint64_t us);
  /// A request, or group, that fails behind a change of its own can not be undone alone.
  void lose_transaction_by_failures();
  /// The nth request for writing from now on must be the first of a transaction, even if it is that already.
  void ask_to_commit_first(uint32_t nth_write);
  /// What Session::generated_ids says of a request that was given none by an earlier run.
  void set_generated_ids(std::vector<GeneratedId> ids);
  /// What Value::now() is.
  void set_now(std::string text);
  /// KILL or shutdown, for every session there is; calls their `wake` (which must not call back).
  void interrupt(Interruption interruption);
  /// The same for those sessions alone that have a request under way, or wait for one to begin.
  void interrupt_those_under_way(Interruption interruption);
  /// create_session gives nullptr from now on.
  void refuse_sessions();

  // What happened, for assertions.
  [[nodiscard]] uint64_t commits_with_changes() const;
  /// How often a session was told that its snapshot is too old for reads to come.
  [[nodiscard]] uint64_t snapshots_expired() const;
  /// How often a session was told that it may forget that its request was to stop.
  [[nodiscard]] uint64_t stops_forgotten() const;
  [[nodiscard]] size_t session_count() const;
  [[nodiscard]] size_t sessions_holding_tables() const;
  [[nodiscard]] size_t patient_sessions() const;
  [[nodiscard]] bool is_held(std::string_view name) const;    ///< the table, by any session
  [[nodiscard]] std::vector<std::string> activities() const;  ///< of every session there is, by age

 private:
  std::function<bool(const Credentials&)> accepts_;
  std::unique_ptr<State> state_;
};

}  // namespace rowsocket::engine::memory
