// SPDX-License-Identifier: GPL-2.0-only
//
// Upserts: what an insert does about a row that is there, and which row it leaves.
#include "engine/memory/memory_engine_fixture.h"

namespace rowsocket::engine::memory {
namespace {

using testing::ElementsAre;

class MemoryUpsertTest : public MemoryEngineTest {
 protected:
  static DuplicateChange sets(uint32_t position) { return {position, Operation::set}; }
  static DuplicateChange adds(uint32_t position) { return {position, Operation::add}; }
};

TEST_F(MemoryUpsertTest, an_upsert_that_finds_nothing_inserts) {
  EXPECT_EQ(upsert({"1", "a", "1"}, OnDuplicate::keep), "1");
  EXPECT_EQ(upsert({"2", "b", "2"}, OnDuplicate::replace), "1");
  EXPECT_EQ(upsert({"3", "c", "3"}, OnDuplicate::change, {sets(1), adds(2)}), "1");
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "a", "1"}, Row{"2", "b", "2"}, Row{"3", "c", "3"}));
}

TEST_F(MemoryUpsertTest, keep_leaves_the_row_that_is_there) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  EXPECT_EQ(upsert({"1", "cup", "9"}, OnDuplicate::keep), "0");
  EXPECT_EQ(upsert({"2", "pen", "9"}, OnDuplicate::keep), "0");
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "pen", "5"}));
}

TEST_F(MemoryUpsertTest, replace_removes_every_row_that_is_in_the_way) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  EXPECT_TRUE(insert({"2", "ink", "6"}).ok());
  EXPECT_EQ(upsert({"1", "ink", "9"}, OnDuplicate::replace), "2");
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "ink", "9"}));
}

TEST_F(MemoryUpsertTest, change_sets_and_adds_to_the_row_that_is_there) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  EXPECT_EQ(upsert({"1", "cup", "9"}, OnDuplicate::change, {sets(1), adds(2)}), "2");
  EXPECT_EQ(upsert({"8", "cup", "1"}, OnDuplicate::change, {adds(2)}), "2");
  EXPECT_EQ(upsert({"1", "cup", "9"}, OnDuplicate::change, {sets(1)}), "0");
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "cup", "15"}));
}

TEST_F(MemoryUpsertTest, an_upsert_that_fails_is_undone) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  EXPECT_TRUE(insert({"2", "ink", "6"}).ok());
  EXPECT_EQ(upsert({"1", "ink", "7"}, OnDuplicate::change, {sets(1)}), "error 121");
  EXPECT_EQ(upsert({"1", "cup", "9223372036854775807"}, OnDuplicate::change, {sets(1), adds(2)}),
            "error 1264");
  engine.fail_write(3, Error(ErrorCode::engine, 135));
  EXPECT_EQ(upsert({"1", "ink", "9"}, OnDuplicate::replace), "error 135");
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "pen", "5"}, Row{"2", "ink", "6"}));
}

TEST_F(MemoryUpsertTest, an_upsert_says_the_id_of_the_row) {
  engine.create_table("d.t", {.columns = {auto_increment("id"), text("name"), integer("stock")},
                              .indexes = {{"PRIMARY", {"id"}, true}, {"by_name", {"name"}, true}}});
  EXPECT_EQ(upsert({nullptr, "pen", "5"}, OnDuplicate::keep), "1#1");
  EXPECT_EQ(upsert({nullptr, "pen", "5"}, OnDuplicate::keep), "0#1");
  EXPECT_EQ(upsert({nullptr, "pen", "5"}, OnDuplicate::change, {adds(2)}), "2#1");
  EXPECT_EQ(upsert({nullptr, "pen", "5"}, OnDuplicate::replace), "2#4");
  EXPECT_EQ(upsert({"4", "ink", "5"}, OnDuplicate::replace), "2#0");
}

TEST_F(MemoryUpsertTest, every_operation_can_be_done_to_the_row_that_is_there) {
  EXPECT_TRUE(insert({"1", "ab", "5"}).ok());
  EXPECT_EQ(upsert({"1", "c", "9"}, OnDuplicate::change,
                   {{1, Operation::append}, {2, Operation::subtract_to_zero}}),
            "2");
  EXPECT_EQ(told, " 1 abc 0");
  EXPECT_EQ(
      upsert({"1", "z", "8"}, OnDuplicate::change, {{1, Operation::prepend}, {2, Operation::add_wrapping}}),
      "2");
  EXPECT_EQ(told, " 1 zabc 8");
  EXPECT_EQ(upsert({"1", "z", "9"}, OnDuplicate::change, {{2, Operation::subtract}}), "2");
  EXPECT_EQ(told, " 1 zabc -1");
}

TEST_F(MemoryUpsertTest, an_upsert_leaves_the_cursor_on_the_row_that_is_there_now) {
  EXPECT_EQ(upsert({"1", "pen", "5"}, OnDuplicate::fail), "1");
  EXPECT_EQ(told, " 1 pen 5");
  EXPECT_EQ(upsert({"7", "pen"}, OnDuplicate::keep), "0");
  EXPECT_EQ(told, " 1 pen 5");
  EXPECT_EQ(upsert({"1", "ink"}, OnDuplicate::change, {sets(1)}), "2");
  EXPECT_EQ(told, " 1 ink 5");
  EXPECT_EQ(upsert({"2", "ink"}, OnDuplicate::replace), "2");
  EXPECT_EQ(told, " 2 ink NULL");
}

TEST_F(MemoryUpsertTest, a_row_that_is_there_is_changed_where_the_filters_match_it) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  const Filter is_five = filter(1, Comparison::equal, "5");
  EXPECT_EQ(upsert({"1", "ink", "6"}, OnDuplicate::change, {sets(1), sets(2)}, {is_five}), "2");
  EXPECT_EQ(told, " 1 ink 6");
  EXPECT_EQ(upsert({"1", "cup", "7"}, OnDuplicate::change, {sets(1), sets(2)}, {is_five}), "0");
  EXPECT_EQ(told, " 1 ink 6");
  EXPECT_EQ(upsert({"2", "cup", "7"}, OnDuplicate::change, {sets(1), sets(2)}, {is_five}), "1");
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "ink", "6"}, Row{"2", "cup", "7"}));
}

TEST_F(MemoryUpsertTest, every_mismatch_keeps_the_row_that_is_there) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  for (const Mismatch mismatch : {Mismatch::skip, Mismatch::stop, Mismatch::refuse}) {
    const Filter is_six = filter(1, Comparison::equal, "6", mismatch);
    EXPECT_EQ(upsert({"1", "ink"}, OnDuplicate::change, {sets(1)}, {is_six}), "0");
  }
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "pen", "5"}));
}

TEST_F(MemoryUpsertTest, a_row_that_is_kept_says_its_id) {
  engine.create_table("d.t", {.columns = {auto_increment("id"), text("name"), integer("stock")},
                              .indexes = {{"PRIMARY", {"id"}, true}, {"by_name", {"name"}, true}}});
  EXPECT_EQ(upsert({nullptr, "pen", "5"}, OnDuplicate::fail), "1#1");
  const Filter is_six = filter(1, Comparison::equal, "6");
  EXPECT_EQ(upsert({nullptr, "pen", "7"}, OnDuplicate::change, {sets(2)}, {is_six}), "0#1");
}

TEST_F(MemoryUpsertTest, a_duplicate_that_fails_says_its_reason) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  EXPECT_EQ(insert({"1", "ink", "6"}).reason, Reason::duplicate);
}

}  // namespace
}  // namespace rowsocket::engine::memory
