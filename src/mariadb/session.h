// SPDX-License-Identifier: GPL-2.0-only
//
// A worker's session inside the server. It puts these objects together, each of which has its own file:
//
//   ServerThread ...... a THD, and both ends of a command: a turn
//   Galera ............ the duties on a node of a cluster
//   Shelf ............. tables that stay open over turns
//   OpenedSelections .. what clients have named
//   TurnTransaction ... what is known of the transaction under way, and its Statement
//   RequestUnderWay ... the cursor, and the limits of one request
//   Patience .......... how long is waited in place
//   Rights ............ the account that a request runs as, and whether it may
//   Trail ............. what the server's logs and audit plugins are told of requests
//
// Requests share a statement as long as each is one step of the storage engine or a read. A request or a
// group that may have to be undone as a whole is a statement of its own, and so is one in an engine that
// locks tables.
//
// Requests do not wait for metadata and table locks: the THD's lock_wait_timeout is 0 while they run, and a
// conflict is Begin::wait. What waits in place nevertheless stands in patience.h. A commit waits as in SQL,
// for a backup that blocks commits.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "engine/opened_selections.h"
#include "mariadb/activity.h"
#include "mariadb/commit_gtid.h"
#include "mariadb/fulltext_work.h"
#include "mariadb/galera.h"
#include "mariadb/patience.h"
#include "mariadb/request_under_way.h"
#include "mariadb/rights.h"
#include "mariadb/selection.h"
#include "mariadb/semi_sync.h"
#include "mariadb/server_headers.h"
#include "mariadb/server_thread.h"
#include "mariadb/shelf.h"
#include "mariadb/threshold.h"
#include "mariadb/trail.h"
#include "mariadb/turn_transaction.h"

namespace rowsocket::mariadb {

class Engine;

class Session final : public engine::Session {
 public:
  /// On the thread that will use it. The server has started.
  Session(Engine& engine, const engine::SessionOptions& options);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // What engine::Session says of them. Tables: session.cc.
  engine::Begin open_selection(const engine::SelectionDescription& description,
                               std::shared_ptr<engine::Selection>& selection, Error& error) override;
  [[nodiscard]] bool column_types(const engine::Selection& selection, engine::ColumnTypes& types,
                                  size_t bytes_max) override {
    return shelf_.side_of(selection, engine::Intent::read).binding.column_types(types, bytes_max);
  }
  [[nodiscard]] bool find_place(const engine::Selection& selection, engine::TablePlace& place) override;
  void release_read_tables() override;
  void yield_tables() override;
  void release_tables() override;
  [[nodiscard]] bool holds_tables() const override { return !shelf_.is_empty(); }
  [[nodiscard]] size_t kept_bytes() const override { return shelf_.kept_bytes(); }
  void forget_selections() override;

  // Requests: session_requests.cc.
  engine::Begin begin_request(engine::Selection& selection, const engine::Use& use, engine::Cursor*& cursor,
                              Error& error) override;
  void begin_inserts(std::vector<engine::GeneratedId>&& earlier) override {
    request_.cursor().ids().begin(std::move(earlier));
  }
  [[nodiscard]] std::vector<engine::GeneratedId> generated_ids() const override {
    return request_.cursor().ids().all();
  }
  Error end_request() override;
  void abandon_request() override;
  [[nodiscard]] bool took_lenience() override { return thread_.take_lenience(); }
  void set_patient(bool patient) override {
    patience_.set_patient(patient);
    thread_.row_waits().may_give_way(patient);
  }
  void note_waited(uint64_t waited_ms) override { patience_.note_waited(waited_ms); }

  // Groups and the transaction: session_transaction.cc.
  engine::Begin begin_group(std::span<const engine::GroupMember> members, size_t& failed_member,
                            Error& error) override;
  Error end_group() override;
  void abandon_group() override;
  [[nodiscard]] bool transaction_lost() const override {
    return thd_->transaction_rollback_request || transaction_.is_lost() ||
           request_.cursor().needs_new_transaction() || galera_.has_lost();
  }
  [[nodiscard]] Error loss() const override;
  void lose_transaction() override { transaction_.lose(); }
  [[nodiscard]] bool did_lasting_work() const override {
    return goes_on_ || transaction_.does_lasting_work();
  }
  [[nodiscard]] bool commits_each_row() const override {
    return transaction_.rows_outlive_it() || transaction_.is_of_one_request();
  }
  [[nodiscard]] bool is_lost_by_failure() const override { return transaction_.is_lost_by_failure(); }
  [[nodiscard]] bool wants_commit() const override;
  [[nodiscard]] uint64_t work_in_commits_us() const override { return fulltext_work_.total_us(); }
  void expire_snapshot() override {
    transaction_.expire_snapshot();
    rights_.forget_answers();
  }
  Error commit() override;
  Error commit_and_go_on() override;
  [[nodiscard]] std::string_view last_commit_gtid() const override { return gtid_.text(); }
  void rollback() override;

  /// A cluster's transactions give way to those of other nodes: they are not kept waiting.
  [[nodiscard]] bool can_be_patient() const override { return !galera_.is_on(); }
  void work_for(const engine::Presence* client) override { thread_.work_for(client); }
  void work_for_request() override { thread_.work_for_request(); }
  [[nodiscard]] engine::Work work() const override { return thread_.work(); }
  void stop(const engine::Work& work) override { thread_.stop(work); }
  [[nodiscard]] bool was_stopped() const override { return thread_.was_stopped(); }
  void forget_stop() override { thread_.forget_stop(); }
  void give_way() override { thread_.row_waits().give_way(); }

  // The operator's wishes: session.cc.
  [[nodiscard]] uint64_t lock_wait_timeout_ms() const override;
  [[nodiscard]] uint64_t row_lock_wait_timeout_ms() const override;
  [[nodiscard]] engine::Interruption interruption() const override;
  void clear_interruption() override;
  [[nodiscard]] uint64_t host_thread() const override { return thd_->thread_id; }
  void set_activity(std::string_view activity) override { activity_.set(activity); }
  [[nodiscard]] engine::Trail* trail() override { return trail_.if_wanted(); }
  [[nodiscard]] engine::Admittance admittance_of(const engine::Entrance& entrance) override {
    return threshold_.admittance_of(entrance);
  }
  [[nodiscard]] bool has_account(uint64_t number) override {
    const std::shared_ptr<const Account> account = Accounts::all().find(number);
    return account != nullptr && is_there(*account);
  }
  void note_wrong_secret(const std::string& address) override { trail_.note_wrong_secret(address); }

  /// Called by the server, from any thread, when the THD was killed.
  void wake() const { options_.wake(); }
  /// Called by the server on the session's thread, under latches.
  void announce_wait(engine::Wait what) const {
    if (options_.on_wait) {
      options_.on_wait(what);
    }
  }
  /// End what it is doing, at once if it waits for a lock, and stop. From any thread, while the session
  /// lives.
  void kill() { thread_.kill(); }

 private:
  using Group = TurnTransaction::Group;

  [[nodiscard]] engine::Begin make_ready(const engine::Selection& selection, const engine::Use& use,
                                         BoundSelection::Side*& side, Error& error);
  [[nodiscard]] engine::Begin begin_any_request(engine::Selection& selection, const engine::Use& use,
                                                engine::Cursor*& cursor, Error& error);
  [[nodiscard]] engine::Begin begin_as_account(engine::Selection& selection, const engine::Use& use,
                                               engine::Cursor*& cursor, Error& error);
  [[nodiscard]] engine::Begin begin_any_group(std::span<const engine::GroupMember> members,
                                              size_t& failed_member, Error& error);
  [[nodiscard]] engine::Begin begin_group_as_account(std::span<const engine::GroupMember> members,
                                                     size_t& failed_member, Error& error);
  [[nodiscard]] engine::Begin open(const std::shared_ptr<OpenTable>& table, Error& error);
  [[nodiscard]] Opening open_with_new_history(OpenTable& table, Error& error);

  [[nodiscard]] Error refuse(engine::Intent intent) const;
  [[nodiscard]] bool is_interrupted_by_cluster() const;
  [[nodiscard]] engine::Begin join_statement(const engine::Selection& selection, const engine::Use& use,
                                             BoundSelection::Side*& side, Error& error);
  [[nodiscard]] bool needs_own_statement(const OpenTable& table, engine::Intent intent) const;
  [[nodiscard]] engine::Begin lock(const std::shared_ptr<OpenTable>& table, const engine::Use& use,
                                   Error& error);
  [[nodiscard]] engine::Begin prepare_write(const OpenTable& table, Error& error);
  [[nodiscard]] bool ends_own_statement();
  void leave_account();
  bool settle_log_refusal();

  [[nodiscard]] engine::Begin prepare_group(std::span<const engine::GroupMember> members, bool writes,
                                            size_t& number, bool& several, Error& error);
  void begin_transaction();
  void end_transaction();
  [[nodiscard]] Error begin_in_cluster(engine::Intent intent);
  [[nodiscard]] Error end_in_cluster(Error error);

  Engine& engine_;
  engine::SessionOptions options_;
  ServerThread thread_;
  THD* const thd_;  ///< of `thread_`
  Galera galera_;
  const std::shared_ptr<engine::OpenedSelections> opened_;
  Shelf shelf_;
  TurnTransaction transaction_;
  FulltextWork fulltext_work_;
  bool goes_on_ = false;  ///< see `commit_and_go_on`
  RequestUnderWay request_;
  Rights rights_;
  Threshold threshold_{thd_};
  Patience patience_;
  CommitGtid gtid_;
  SemiSyncWait semi_sync_;
  Activity activity_;
  Trail trail_;
};

class Engine final : public engine::Engine {
 public:
  [[nodiscard]] std::unique_ptr<engine::Session> create_session(
      const engine::SessionOptions& options) override;
  [[nodiscard]] std::unique_ptr<engine::Authenticator> create_authenticator() override;

  void interrupt_sessions() override;

 private:
  [[nodiscard]] bool wait_for_server() const;

  friend class Session;  // which enters itself in the list while it lives

  std::atomic<bool> stopped_{false};
  ForeignChildren children_;
  Mutex mutex_;
  ConditionVariable session_ended_;
  std::vector<Session*> sessions_ ROWSOCKET_GUARDED_BY(mutex_);
};

}  // namespace rowsocket::mariadb
