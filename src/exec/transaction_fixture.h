// SPDX-License-Identifier: GPL-2.0-only
//
// Two clients that change the stock of items, for tests of transactions.
#pragma once

#include <string>

#include "exec/executor_fixture.h"

namespace rowsocket::exec {

class TransactionTest : public ExecutorTest {
 protected:
  static Ask set_stock(const std::string& id, const std::string& stock) {
    return Ask::find(0, {id}).update({stock});
  }
  static Ask add_stock(const std::string& id) { return Ask::find(0, {id}).add({"1"}); }
  static Ask read(const std::string& id) { return Ask::find(0, {id}); }

  const Error disk_full{ErrorCode::engine, 135};
  const Error deadlock{ErrorCode::engine, 149};
  Connection& one = shopper();
  Connection& two = shopper();
};

}  // namespace rowsocket::exec
