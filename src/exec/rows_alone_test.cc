// SPDX-License-Identifier: GPL-2.0-only
//
// An insert in which each row is for itself, where the engine can not undo a row alone.
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;

/// shop.entry has a trigger that copies each id to shop.seen.
class RowsAloneTest : public ExecutorTest {
 protected:
  void create_tables(bool entries_have_transactions) {
    const std::vector<engine::memory::Column> id = {engine::memory::integer("id")};
    engine.create_table("shop.seen", {.columns = id, .indexes = {{"PRIMARY", {"id"}, true}}});
    engine.create_table("shop.entry", {.columns = id,
                                       .indexes = {{"PRIMARY", {"id"}, true}},
                                       .has_transactions = entries_have_transactions,
                                       .copies_to = "shop.seen"});
    EXPECT_EQ(ask(one, Ask::open(10, "shop.entry", "", "id")), "ok");
  }
  static Ask insert_three() { return Ask::insert_rows(10, 3, {"1", "2", "3"}).rows_alone(); }
  static Ask add_stock() { return Ask::find(0, {"1"}).add({"1"}); }
  [[nodiscard]] std::string ids(const std::string& table) const {
    std::string text;
    for (const Row& row : engine.rows(table)) {
      text += row[0].value_or("NULL");
    }
    return text;
  }

  Connection& one = shopper();
};

TEST_F(RowsAloneTest, a_row_that_outlives_its_transaction_takes_along_no_trigger_of_another) {
  create_tables(false);
  engine.lose_transaction_at_write(4);  // the trigger of the second row
  EXPECT_EQ(ask(one, insert_three()), "rows/2 1# !149 1#");
  EXPECT_EQ(ids("shop.entry"), "123") << "nothing takes back the second row";
  EXPECT_EQ(ids("shop.seen"), "13");
}

TEST_F(RowsAloneTest, a_row_that_can_not_be_undone_alone_takes_no_other_along) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  EXPECT_TRUE(engine.insert("shop.seen", {"2"}));  // in the way of the second row's trigger
  EXPECT_THAT(turn(one, {add_stock(), insert_three(), add_stock()}),
              ElementsAre("= 1", "rows/2 1# !121 1#", "= 1"));
  EXPECT_EQ(ids("shop.entry"), "13");
  EXPECT_EQ(ids("shop.seen"), "123");
  EXPECT_EQ(stock("1"), "7");
}

TEST_F(RowsAloneTest, one_that_loses_its_own_transaction_to_others_fails_alone_there) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  EXPECT_TRUE(engine.insert("shop.seen", {"2"}));
  // Rows and triggers: three writes of the first try; then two of the first row, one of the second row.
  engine.lose_transaction_at_write(7);
  EXPECT_EQ(ask(one, insert_three()), "rows/2 1# !121 !149");
  EXPECT_EQ(ids("shop.entry"), "1");
}

TEST_F(RowsAloneTest, in_a_group_such_a_row_fails_the_group) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  EXPECT_TRUE(engine.insert("shop.seen", {"2"}));
  EXPECT_THAT(turn(one, {add_stock(), Ask::group({add_stock(), insert_three()}), add_stock()}),
              ElementsAre("= 1", "ok", "error undone_with_group", "error engine 121",
                          "error undone_with_group", "= 1"));
  EXPECT_EQ(ids("shop.entry"), "");
  EXPECT_EQ(ids("shop.seen"), "2");
  EXPECT_EQ(stock("1"), "7");
}

}  // namespace
}  // namespace rowsocket::exec
