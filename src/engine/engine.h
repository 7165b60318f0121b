// SPDX-License-Identifier: GPL-2.0-only
//
// The storage that RowSocket needs, in its own words. `src/mariadb` implements it over the server's handler
// API, `engine/memory` over maps for unit tests and fuzzing. `src/exec` owns what requests mean (limits,
// offsets, IN lists, counting, staging, replay); an engine owns tables, keys, conversions, locks and
// transactions.
//
// What each sentence below means is stated by a test in `engine/conformance`, which runs on both.
//
// Everything here belongs to one thread, but for selections, which belong to no thread, and
// `SessionOptions::wake`, which is called from others.
//
//   Session ..... one per thread: its transaction, its open tables
//   Selection ... what a client named: an index of a table, and columns. A description only: each session
//                 resolves the names for itself, and again after each reopening of the table. Clients of
//                 one worker that named the same share one.
//   Cursor ...... one request's way through an index, from begin_request to end_request or
//                 abandon_request
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/authenticator.h"
#include "engine/selection.h"
#include "engine/work.h"
#include "request/counters.h"
#include "request/error.h"
#include "request/request.h"
#include "request/value.h"
#include "request/value_writer.h"

namespace rowsocket::engine {

class Trail;

/// Whether a request can start. Where it can not, nothing was done or is held for it.
enum class Begin : uint8_t {
  ready,
  wait,          ///< another session holds a conflicting metadata or table lock: try in a later turn
  commit_first,  ///< it must be the first of its transaction: commit, and begin it again
  failed
};

/// One request of a group, as far as the engine has to know it before it runs.
struct GroupMember {
  Selection* selection;
  Use use;
  bool rows_alone;  ///< each of its rows is undone alone
};

/// Where a cursor's movement ended. `passing`: limits::rows_passed_per_step rows that are none of the range
/// lay in the way, and it goes on from there with `next`. So the caller's bounds count them.
enum class Step : uint8_t { row, passing, end, failed };

/// What the filters say of the current row: it matches all of them, or what becomes of it (see Mismatch).
enum class Verdict : uint8_t { match, skip, stop, refuse };
[[nodiscard]] Verdict verdict_of(Mismatch mismatch);

/// A row: its first columns are `values`, and the others take their defaults.
struct RowToInsert {
  std::span<const Value> values;
  OnDuplicate on_duplicate = OnDuplicate::fail;
  std::span<const DuplicateChange> duplicate_changes = {};  ///< done in this order
  /// OnDuplicate::change: a row that is there is changed so only where the cursor's filters match it. Else it
  /// gets `mismatch_changes`; without any it is kept.
  bool filters_duplicates = false;
  std::span<const DuplicateChange> mismatch_changes = {};
  bool names_row = false;  ///< see Insert
  /// `write_row` follows: the row that is there afterwards becomes the current one. Else nothing reads a row
  /// that is kept.
  bool tells_row = false;
};

/// An AUTO_INCREMENT value that an engine gave to a row of a table. Only the engine knows which table the
/// number means.
struct GeneratedId {
  uint64_t table;
  uint64_t id;
};

class Cursor {
 public:
  virtual ~Cursor() = default;

  /// Convert the filters' values, once per request and before the first `verdict`.
  virtual Error set_filters(std::span<const Filter> filters) = 0;

  /// Go to the first row of the range. Key values are for the first parts of the index; a key that no row can
  /// have (longer than the column, out of its range) finds what SQL's comparison would find. An other end
  /// faces the range's operator and has a value: the caller has seen to it.
  virtual Step seek(const KeyRange& range) = 0;
  /// Go to the next such row, in the range's direction.
  virtual Step next() = 0;
  [[nodiscard]] virtual Verdict verdict() = 0;
  /// Begin a row of the writer and append the current row's columns; after a change or an insert, as it left
  /// them. Of a selection with all columns each value follows its column's name (ValueWriter::name). A
  /// failure shows in the buffer (`Buffer::failed`).
  virtual void write_row(ValueWriter& writer) = 0;

  /// Which columns the index has, their types and collations, in one number. As long as it stays the same, a
  /// key that was told of an earlier walk stands where it stood, though the table may have been altered. May
  /// throw std::bad_alloc.
  [[nodiscard]] virtual uint64_t key_shape() const = 0;

  /// True if changing rows so while walking the index could meet a row twice: collect positions first.
  [[nodiscard]] virtual bool change_moves_rows(std::span<const Assignment> assignments) const = 0;
  /// Remember the current row; returns false if memory is refused. Positions are numbered from 0 in the order
  /// of saving.
  [[nodiscard]] virtual bool save_position() = 0;
  /// Go to a remembered row, wherever its key is by now; `end` if a change since then has removed it.
  virtual Step fetch_position(size_t number) = 0;

  /// Change columns of the current row, one assignment after the other. A row that already has these values
  /// is a success. With `keeps_signs`, a sum (`add`, `subtract`) that has another sign than its column had
  /// refuses the whole row: `changed` is false and the row stays. So it is where a trigger wants the row
  /// kept. Where the operation asks for text or a number and the column has another type, that is
  /// bad_modification; where `add_wrapping` or `subtract_to_zero` finds no number, not_a_number. A sum that
  /// its column can not hold fails because of Reason::out_of_range, and one of what is no number because of
  /// Reason::no_number. `add_whole` fails in the same ways where there is, or comes, no whole number of 64
  /// bits with a sign. Of a selection with its key's columns first, no change may give the row another key.
  virtual Error change_row(std::span<const Assignment> assignments, bool keeps_signs, bool& changed) = 0;
  /// Delete the current row. Where a trigger wants it kept, `deleted` is false and the row stays.
  virtual Error delete_row(bool& deleted) = 0;
  /// The numbers of rows to insert, from 0, in the order in which their keys stand in the index; rows of one
  /// key stay in their order. The rows have `value_count` values, of which the first ones are the key. Where
  /// the order is not to be had, it is that of the rows; where one is a key that no row can have, any.
  void order_rows(std::span<const Value> values, size_t value_count, std::span<uint32_t> order);
  /// Insert one row. On success `outcome` says what was done (its `error` is not touched). A row that a
  /// trigger does not want affects none, and is an error where it is to be told.
  virtual Error insert_row(const RowToInsert& row, RowOutcome& outcome) = 0;

  /// Why the last Step was `failed`.
  [[nodiscard]] virtual const Error& error() const = 0;

 protected:
  /// `order` holds the numbers in the order of the rows. It stays so, or is sorted.
  virtual void order_by_key(std::span<const Value> /*values*/, size_t /*value_count*/,
                            std::span<uint32_t> /*order*/) {}
};

/// What KILL or a shutdown wants of a session.
enum class Interruption : uint8_t {
  none,
  close_connections,  ///< KILL: close this worker's connections and go on with new ones
  stop                ///< the server shuts down
};

class Session {
 public:
  virtual ~Session() = default;

  /// Resolve a description: the table, index and columns exist, and may be used by this session.
  virtual Begin open_selection(const SelectionDescription& description, std::shared_ptr<Selection>& selection,
                               Error& error) = 0;

  /// The SQL types of its columns, as information_schema words them (`int(10) unsigned`). To be asked right
  /// after it was opened. False if they take more than `bytes_max` together. May throw std::bad_alloc.
  [[nodiscard]] virtual bool column_types(const Selection& selection, ColumnTypes& types,
                                          size_t bytes_max) = 0;

  /// Where the rows of a selection are. False if the session has not resolved its names: then the place has
  /// the client's names. May throw std::bad_alloc.
  [[nodiscard]] virtual bool find_place(const Selection& selection, TablePlace& place);

  /// Start a request. The selection is of the session's list, whichever session opened it. Its table is open,
  /// locked in the engine's sense, and part of the turn's transaction. The cursor belongs to the session and
  /// is good until the request ends. One request at a time. If a request may change what no rollback takes
  /// back, it is `commit_first` after any change of the transaction. It runs as the selection's account, and
  /// fails where that account may not do what `use` demands.
  virtual Begin begin_request(Selection& selection, const Use& use, Cursor*& cursor, Error& error) = 0;
  /// Before a request that inserts, or a group. `earlier` is what `generated_ids` returned when it ran before
  /// and had to wait, else empty: its rows are given the same values of AUTO_INCREMENT again. An engine that
  /// takes such values back need not do this.
  virtual void begin_inserts(std::vector<GeneratedId>&& /*earlier*/) {}
  /// The values that the request, or group, was given since then. May throw std::bad_alloc.
  [[nodiscard]] virtual std::vector<GeneratedId> generated_ids() const { return {}; }

  /// The request succeeded: keep its changes in the transaction (statement commit). An error here means that
  /// they are undone.
  virtual Error end_request() = 0;
  /// The request failed: undo its changes, and only its (statement rollback).
  virtual void abandon_request() = 0;
  /// True if the engine rolled the whole transaction back (deadlock, certification failure) since the last
  /// `commit` or `rollback`, or can not undo a part of it alone; then `rollback` is what remains to be done.
  [[nodiscard]] virtual bool transaction_lost() const = 0;
  /// The answer to a request that lost its transaction and does not run again.
  [[nodiscard]] virtual Error loss() const = 0;
  /// The caller can not go on with the transaction: it is lost.
  virtual void lose_transaction() = 0;
  /// True if the transaction has changed what no rollback takes back. It is of one request, which must not be
  /// run again.
  [[nodiscard]] virtual bool did_lasting_work() const = 0;
  /// True if a row that is for itself is to be committed before the next one: the rows that the transaction
  /// has changed stay where it is lost, but not all of what their triggers did, or a row can not be undone
  /// but with the transaction.
  [[nodiscard]] virtual bool commits_each_row() const { return false; }
  /// True if the transaction is lost since a request failed that could not be undone alone. The others
  /// succeed where they run again without it.
  [[nodiscard]] virtual bool is_lost_by_failure() const { return false; }

  /// True if the transaction under way is to be committed before the next request: it lasts longer than
  /// limits::transaction_ms already and holds up others, it has grown to what the host allows, or it did
  /// lasting work.
  [[nodiscard]] virtual bool wants_commit() const { return false; }
  /// How long, in µs, the session's commits so far kept the processor busy with what requests had left to
  /// them: the words of full-text indexes, say. Where that is much for each request, it wants a commit behind
  /// the request, so that the request can be told from others.
  [[nodiscard]] virtual uint64_t work_in_commits_us() const { return 0; }

  /// True if, since the last call, the engine took a value that SQL takes only with a warning. A strict host
  /// would not take it.
  [[nodiscard]] virtual bool took_lenience() { return false; }

  /// Requests that begin from now on came after the earlier ones: they use no snapshot that was taken before
  /// this call, and no answer to what an account may do. A read behind a change also has a snapshot that is
  /// newer than the change. Only the reads of one group share a snapshot.
  virtual void expire_snapshot() = 0;
  /// Whether requests wait in place for locks, as long as the host's settings say, instead of answering
  /// `wait` at once. For requests that are alone in their transaction. Where a table was not to be had in a
  /// shorter time already, the answer is still `wait`: what the request holds meanwhile is given back.
  virtual void set_patient(bool patient) = 0;
  /// Of that time this much is over: the request has been tried for so long. No wait begins that could last
  /// beyond the rest, which some hosts count in whole seconds.
  virtual void note_waited(uint64_t waited_ms) = 0;

  // A group: requests that are undone together. Between two requests; one group at a time, which ends with
  // the transaction at the latest. Tables without transactions are refused for writing (no_transactions).
  // `failed_member` says which member an error is about.
  virtual Begin begin_group(std::span<const GroupMember> members, size_t& failed_member, Error& error) = 0;
  virtual Error end_group() = 0;  ///< keep what it did in the transaction; an error means that it was undone
  virtual void abandon_group() = 0;  ///< undo what it did, and end it

  /// Commit what the turn changed and end its snapshot. On an error everything since the last commit is
  /// undone.
  virtual Error commit() = 0;
  /// Commit, hold nothing that others wait for, and let the request that did lasting work go on: it still
  /// must not run again. What begins from here on waits in place, for a table limits::table_wait_ms at a
  /// time, until the next commit or rollback. `stop` is meant for the request also while it commits.
  virtual Error commit_and_go_on() = 0;
  /// The GTID of the last commit as SQL prints it; empty if that wrote nothing to the binlog. Good until the
  /// next commit.
  [[nodiscard]] virtual std::string_view last_commit_gtid() const { return {}; }
  virtual void rollback() = 0;

  /// Before a commit that may last: give back the tables from which was only read. What was read is not
  /// needed any more.
  virtual void release_read_tables() = 0;
  /// After the turn's commit: give back the tables that another session waits for.
  virtual void yield_tables() = 0;
  /// Give back all tables and metadata locks; called before the worker blocks.
  virtual void release_tables() = 0;
  [[nodiscard]] virtual bool holds_tables() const = 0;

  /// How much memory it keeps of selections beside their descriptions.
  [[nodiscard]] virtual size_t kept_bytes() const { return 0; }
  /// Between turns: give that back. What a request needs of it is made again.
  virtual void forget_selections() {}

  /// How long a request may wait for a metadata or table lock (see Begin::wait).
  [[nodiscard]] virtual uint64_t lock_wait_timeout_ms() const = 0;
  /// The same for a row that another transaction has locked: the engine gives up early (Reason::row_locked),
  /// so that one row does not hold up the whole worker, and the request is tried again in later turns until
  /// this time is over.
  [[nodiscard]] virtual uint64_t row_lock_wait_timeout_ms() const { return lock_wait_timeout_ms(); }

  /// Whether a session that was told to be patient waits in place. Else it must not be asked to.
  [[nodiscard]] virtual bool can_be_patient() const { return true; }
  /// What the session does from here on is this client's: a request that runs again, say. nullptr: it is not
  /// one client's alone. A stop of what it did before is over.
  virtual void work_for(const Presence* /*client*/) {}
  /// From here on it is that of the request under way, again.
  virtual void work_for_request() {}
  /// From any thread. The client lives as long as the session works for it, and no longer by itself.
  [[nodiscard]] virtual Work work() const { return {}; }
  /// If that is what the session still does, it is to fail soon, also where it waits for a lock. From any
  /// thread. Where no request is under way, nothing happens: who asks for a stop asks again as long as it
  /// matters.
  virtual void stop(const Work& /*work*/) {}
  /// The work under way was told to stop.
  [[nodiscard]] virtual bool was_stopped() const { return false; }
  /// No `stop` comes any more for the request that has ended: the commit is not to hear of an earlier one.
  virtual void forget_stop() {}
  /// The request under way is to fail soon with Reason::row_locked, if it waits for a row in place, and
  /// another session waits for a table, or for the whole host, that the request holds. From any thread.
  virtual void give_way() {}

  [[nodiscard]] virtual Interruption interruption() const = 0;
  /// The worker closed its connections: be usable again.
  virtual void clear_interruption() = 0;
  /// What the host calls the session's thread, where KILL takes it. From any thread.
  [[nodiscard]] virtual uint64_t host_thread() const { return 0; }
  /// What SHOW PROCESSLIST shows for this worker. The text is copied.
  virtual void set_activity(std::string_view activity) = 0;
  /// Where the host wants to know of the requests of the turn that begins; else nullptr.
  [[nodiscard]] virtual Trail* trail() { return nullptr; }
  /// A client that names no account sends its first request: may it come in, having come so? May wait for
  /// the host. May throw std::bad_alloc.
  [[nodiscard]] virtual Admittance admittance_of(const Entrance&) { return Admittance::granted; }
  /// Whether the account, by its number, is there (still): asked where nothing is done as that account.
  [[nodiscard]] virtual bool has_account(uint64_t) { return true; }
  /// A client has sent a wrong secret, from this numeric address (empty: through a unix socket).
  virtual void note_wrong_secret(const std::string&) {}
};

/// What a session is about to wait for, or that it has waited. `code`: as a table's own code says (SLEEP or
/// GET_LOCK in a trigger).
enum class Wait : uint8_t { lock, disk, code, over };

struct SessionOptions {
  Intent intent = Intent::read;  ///< `read`: every begin_request with Intent::write fails with read_only
  uint32_t worker_number = 0;
  /// Sessions with the same list can run each other's requests; nullptr = a list of its own.
  std::shared_ptr<OpenedSelections> selections = nullptr;
  Counters* counters = nullptr;     ///< the worker's own, needed by the real engine; outlives the session
  std::function<void()> wake = {};  ///< called from any thread when `interruption()` may have changed
  /// Requests that find a row locked are run again by sessions that are patient: so no request waits for a
  /// row in place, but where a session is patient.
  bool others_wait_for_rows = false;
  /// Called on the session's own thread when a request is about to wait, and behind each wait (`over`; such
  /// calls may come without a wait, too). The engine may hold latches then: it takes no lock.
  std::function<void(Wait what)> on_wait = {};
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Create the session of the calling thread. The same thread destroys it. Blocks until the host can serve;
  /// nullptr if it never will.
  [[nodiscard]] virtual std::unique_ptr<Session> create_session(const SessionOptions& options) = 0;
  /// Like create_session; nullptr where the host has no accounts, or never will serve.
  [[nodiscard]] virtual std::unique_ptr<Authenticator> create_authenticator() { return nullptr; }
  /// Every session's thread was told to stop; called from another thread. After a moment, sessions that still
  /// wait for something (the host's start, a row lock) are interrupted: create_session gives up, requests
  /// fail.
  virtual void interrupt_sessions() {}
};

}  // namespace rowsocket::engine
