// SPDX-License-Identifier: GPL-2.0-only
//
// What a request must pass before the engine runs it, and which selection it is about. The order of the
// checks is part of the protocol's contract: a client that may not know a thing is not told whether it
// exists.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/engine.h"
#include "exec/client.h"
#include "request/request.h"
#include "request/settings.h"

namespace rowsocket::exec {

// ---- pure checks

/// Whether the client may do what a find or an insert asks, and whether the request makes sense as far as
/// that can be told without its selection.
[[nodiscard]] ErrorCode check_request(const Client& client, const Request& request, const Settings& settings);
/// Check a find or an insert against the selection that it is to run on.
[[nodiscard]] ErrorCode check_against(const engine::Selection& selection, const Request& request);
/// Check an open.
[[nodiscard]] ErrorCode check_open(const Client& client, const Open& open, const Settings& settings);

// ---- requests

class Admission {
 public:
  explicit Admission(engine::Session& session) : session_(session) {}

  /// Decide what depends on no transaction. `selection` is set where the engine has rows to find or change;
  /// it lives until `forget_retired`. Groups are admitted member by member.
  [[nodiscard]] engine::Begin admit(Client& client, const Request& request, const Settings& settings,
                                    engine::Selection*& selection, Error& error);
  /// Of the open that was admitted last, what its reply tells; nullptr where it is not to tell any.
  [[nodiscard]] std::unique_ptr<engine::ColumnTypes> take_column_types() { return std::move(column_types_); }
  /// A selection that its client has replaced is not used any more.
  void forget_retired() { retired_.clear(); }
  /// What is admitted from now on came after what was admitted before.
  void forget_accounts() { account_there_.reset(); }

 private:
  [[nodiscard]] engine::Begin open(Client& client, const Open& open, const Settings& settings, Error& error);
  [[nodiscard]] engine::Begin select(Client& client, const Request& request, const Settings& settings,
                                     engine::Selection*& selection, Error& error);
  [[nodiscard]] bool is_there(uint64_t account);
  [[nodiscard]] ErrorCode check_answer(const Client& client, const Request& request,
                                       const Settings& settings);
  [[nodiscard]] Error authenticate(Client& client, const Authenticate& request, const Settings& settings);
  [[nodiscard]] engine::Begin select_columns(Client& client, uint32_t id, std::string_view columns,
                                             engine::Selection*& selection, Error& error);
  [[nodiscard]] engine::Begin select_named(Client& client, const SelectionNames& names,
                                           std::string_view columns, engine::Selection*& selection,
                                           Error& error);

  engine::Session& session_;
  std::optional<uint64_t> account_there_;  ///< it was, when it was last asked for
  std::unique_ptr<engine::ColumnTypes> column_types_;
  RetiredSelections retired_;  ///< what clients replaced in this turn; staged requests may point to them
};

}  // namespace rowsocket::exec
