// SPDX-License-Identifier: GPL-2.0-only
//
// The conformance suite on the memory engine, with and without transactions.
#include <gtest/gtest.h>

#include "engine/conformance/engine_under_test.h"
#include "engine/memory/memory_engine.h"

namespace rowsocket::engine::conformance {
namespace {

class MemoryHost final : public Host {
 public:
  MemoryHost() { engine_.set_row_patience_ms(20); }

  [[nodiscard]] Engine& engine() override { return engine_; }
  void create_table(std::string_view name, const TableDefinition& definition,
                    const TableKind& kind) override {
    TableDefinition of_kind = definition;
    of_kind.has_transactions = kind.has_transactions;
    engine_.create_table(name, std::move(of_kind));
  }
  void drop_table(std::string_view name) override { engine_.drop_table(name); }
  void insert(std::string_view name, const Row& row) override { EXPECT_TRUE(engine_.insert(name, row)); }
  [[nodiscard]] std::vector<Row> rows(std::string_view name) override { return engine_.rows(name); }

  void hold_table(std::string_view name) override { set_busy(name); }
  void let_go() override { engine_.set_busy(busy_, false); }
  void ask_for_table(std::string_view name) override { set_busy(name); }
  [[nodiscard]] bool table_was_had() override {
    const bool is_free = !engine_.is_held(busy_);
    engine_.set_busy(busy_, !is_free);
    return is_free;
  }
  void arrange_deadlock(std::string_view /*table*/, std::string_view /*mine*/,
                        std::string_view /*theirs*/) override {
    engine_.lose_transaction_at_write(1);
  }
  void fail_commits() override { engine_.fail_commit(Error(ErrorCode::commit_failed)); }
  void let_commits_pass() override {}
  void set_lock_timeouts_s(uint64_t seconds) override { engine_.set_lock_wait_timeout_ms(seconds * 1000); }
  void await_patient_wait() override { engine_.await_patient_wait(); }
  bool lose_transactions_by_failures() override {
    engine_.lose_transaction_by_failures();
    return true;
  }
  void make_transactions_long() override { engine_.make_transactions_long(); }
  void kill_sessions() override { engine_.interrupt(Interruption::close_connections); }
  [[nodiscard]] std::vector<std::string> activities() override { return engine_.activities(); }

 private:
  void set_busy(std::string_view name) {
    busy_ = name;
    engine_.set_busy(name, true);
  }

  memory::MemoryEngine engine_;
  std::string busy_;
};

class MemoryEngineUnderTest final : public EngineUnderTest {
 public:
  [[nodiscard]] std::vector<TableKind> kinds() const override {
    return {{.name = "memory"}, {.name = "memory_without_transactions", .has_transactions = false}};
  }
  [[nodiscard]] std::unique_ptr<Host> create_host() override { return std::make_unique<MemoryHost>(); }
};

}  // namespace
}  // namespace rowsocket::engine::conformance

int main(int argument_count, char** arguments) {
  rowsocket::engine::conformance::MemoryEngineUnderTest engine;
  rowsocket::engine::conformance::set_engine_under_test(engine);
  testing::InitGoogleTest(&argument_count, arguments);
  return RUN_ALL_TESTS();
}
