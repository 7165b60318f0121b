// SPDX-License-Identifier: GPL-2.0-only
//
// Requests in the server's own logs, and as events of its audit plugins, in the places and by the functions
// that SQL's statements have:
//
//   received ... the general log; MYSQL_AUDIT_GENERAL_LOG
//   tables ..... MYSQL_AUDIT_TABLE_LOCK, for each table that the request locks
//   ended ...... MYSQL_AUDIT_GENERAL_ERROR or _RESULT, and _STATUS; the slow log
//
// All of it is written by a Scribe (visitor.h), so that the session's own statement and transaction have no
// part in it. The session's THD itself tells audit plugins of nothing: it is no client's.
//
// What the performance schema measures while a request runs counts for its client.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/trail.h"
#include "mariadb/open_table.h"
#include "mariadb/performance_schema.h"
#include "mariadb/server_headers.h"
#include "mariadb/visitor.h"

namespace rowsocket::mariadb {

class Trail final : public engine::Trail {
 public:
  /// On the session's thread. `session` outlives it.
  explicit Trail(THD* session) : session_(session), own_measures_(measured_thread()) {}

  /// Whether the server wants to know of anything now. Asked once per turn.
  [[nodiscard]] engine::Trail* if_wanted();

  // What engine::Trail says of them.
  [[nodiscard]] std::shared_ptr<engine::Identity> introduce(const std::string& address) override;
  [[nodiscard]] std::unique_ptr<engine::TrailEntry> received(const engine::Asked& asked,
                                                             const engine::TextMaker& text) override;
  void follow(engine::TrailEntry* entry) override;
  void ended(engine::TrailEntry& entry, const engine::Asked& asked, const engine::Ended& end,
             const engine::TextMaker& text) override;
  void end_turn() override;
  void note_wrong_secret(const std::string& address);

  // For the session.

  /// What is done is done for a request that the server wants to know of.
  [[nodiscard]] bool follows() const { return followed_ != nullptr; }
  /// Between the two the request asks for its tables. Where it has to wait, it will ask again.
  void begin_locking();
  void end_locking(engine::Begin begin);
  /// The request has these tables locked.
  void note_tables(const OpenTable& table);

 private:
  struct Entry;

  [[nodiscard]] Scribe& scribe();
  static void audit_end(THD* thd, const engine::Ended& end);
  void log_slow(const Entry& entry, THD* thd, const engine::Ended& end, ulonglong now_us);

  THD* const session_;
  PSI_thread* const own_measures_;  ///< for what is done for no client; nullptr: nothing is measured
  std::unique_ptr<Scribe> scribe_;
  Entry* followed_ = nullptr;
};

}  // namespace rowsocket::mariadb
