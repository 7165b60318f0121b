// SPDX-License-Identifier: GPL-2.0-only
//
// A running server as the host of the conformance suite: its tables are made in SQL, and "somebody else" are
// two SQL connections. Only one test runs at a time, in a server that does nothing else.
#pragma once

#include <memory>
#include <vector>

#include "engine/conformance/engine_under_test.h"

namespace rowsocket::mariadb {

/// The server's engines that are served, each a kind of tables.
class ServerEngineUnderTest final : public engine::conformance::EngineUnderTest {
 public:
  [[nodiscard]] std::vector<engine::conformance::TableKind> kinds() const override;
  [[nodiscard]] std::unique_ptr<engine::conformance::Host> create_host() override;
};

}  // namespace rowsocket::mariadb
