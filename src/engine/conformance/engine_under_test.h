// SPDX-License-Identifier: GPL-2.0-only
//
// What the conformance suite needs of an engine and of the host that it lives in: tables, the committed rows
// as somebody sees who has no session of the engine, and "somebody else" who is in a session's way. The
// memory engine has one in memory_conformance_test.cc, the real one in src/mariadb/conformance.
//
// Tables are described in the words of the memory engine. Everything here is called on the thread of the
// test, which is also the thread of the session under test.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/memory/memory_engine.h"

namespace rowsocket::engine::conformance {

using memory::Row;
using memory::TableDefinition;

/// A storage engine that the host keeps tables in. What differs between kinds by the contract is said here.
struct TableKind {
  std::string name;
  bool has_transactions = true;
  /// A value that is none of its column's is taken where SQL takes it with a warning, and the session says
  /// so.
  bool is_lenient = false;
};

/// For GoogleTest.
void PrintTo(const TableKind& kind, std::ostream* out);

/// A host as a test finds it: fresh, with no tables, and gone when the test ends.
class Host {
 public:
  virtual ~Host() = default;
  [[nodiscard]] virtual Engine& engine() = 0;

  // Tables, named "database.table". No session holds them when they are replaced or dropped.
  /// Create a table, or replace the one of this name with all of its rows.
  virtual void create_table(std::string_view name, const TableDefinition& definition,
                            const TableKind& kind) = 0;
  virtual void drop_table(std::string_view name) = 0;
  virtual void insert(std::string_view name, const Row& row) = 0;
  /// The committed rows, in the order of the first index.
  [[nodiscard]] virtual std::vector<Row> rows(std::string_view name) = 0;

  // Somebody else, one at a time.
  /// Somebody holds the whole table, in conflict with every use of it, until `let_go`. No session holds it
  /// now.
  virtual void hold_table(std::string_view name) = 0;
  virtual void let_go() = 0;
  /// Somebody waits for the table from now on (or will in a moment), and lets it go as soon as it was theirs.
  virtual void ask_for_table(std::string_view name) = 0;
  [[nodiscard]] virtual bool table_was_had() = 0;
  /// The session under test has changed the row `mine` of a table with transactions. Its next write to the
  /// row `theirs` closes the circle, and its transaction is the one that is rolled back. Rows are named by
  /// "id".
  virtual void arrange_deadlock(std::string_view table, std::string_view mine, std::string_view theirs) = 0;
  /// Commits that have changes to commit fail, until `let_commits_pass`.
  virtual void fail_commits() = 0;
  virtual void let_commits_pass() = 0;
  /// How long the host's settings let metadata locks and row locks be waited for.
  virtual void set_lock_timeouts_s(uint64_t seconds) = 0;
  /// Return as soon as some session waits in place for a lock, longer than one that is not patient would.
  virtual void await_patient_wait() = 0;
  /// Have it so, where the host can: a request that fails behind a change of its own can not be undone alone.
  /// Returns whether it is so.
  virtual bool lose_transactions_by_failures() = 0;
  /// Transactions are taken for long from now on, or soon are.
  virtual void make_transactions_long() = 0;
  /// KILL every session there is.
  virtual void kill_sessions() = 0;
  /// A limit of time of the host ends what the calling thread's session did last, and comes too late.
  virtual void time_out_late() {}
  /// What the host shows of each session's activity.
  [[nodiscard]] virtual std::vector<std::string> activities() = 0;
};

class EngineUnderTest {
 public:
  virtual ~EngineUnderTest() = default;
  [[nodiscard]] virtual std::vector<TableKind> kinds() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Host> create_host() = 0;
};

/// Say what to test, before GoogleTest is initialised. It outlives the tests.
void set_engine_under_test(EngineUnderTest& engine);

}  // namespace rowsocket::engine::conformance
