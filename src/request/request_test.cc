// SPDX-License-Identifier: GPL-2.0-only
//
// What can be asked of a request without knowing its kind.
#include "request/request.h"

#include <gtest/gtest.h>

namespace rowsocket {
namespace {

TEST(Request, AFindWritesWhereItChangesRows) {
  Find find;
  EXPECT_FALSE(writes(find));
  find.tell = Tell::count;
  EXPECT_FALSE(writes(find)) << "to count changes nothing";
  find.change.kind = Change::Kind::remove;
  EXPECT_TRUE(writes(find));
  find.change.kind = Change::Kind::assign;
  EXPECT_TRUE(writes(find)) << "be it to no value";
}

TEST(Request, AnInsertWritesAndTheOthersDoNot) {
  EXPECT_TRUE(writes(Insert()));
  EXPECT_FALSE(writes(Open()));
  EXPECT_FALSE(writes(Authenticate()));
  EXPECT_FALSE(writes(Request()));
  EXPECT_FALSE(writes(Request(RequestKind::nothing)));
}

TEST(Request, AGroupWritesWhereOneOfItsMembersDoes) {
  Find find;
  Insert insert;
  Request* const reads[] = {&find, &find};
  Request* const reads_and_writes[] = {&find, &insert};
  Group group;
  EXPECT_FALSE(writes(group));
  group.members = reads;
  EXPECT_FALSE(writes(group));
  group.members = reads_and_writes;
  EXPECT_TRUE(writes(group));
}

TEST(Request, AFindOfOneKeyAndOneRowChangesOneRow) {
  Find find;
  find.change.kind = Change::Kind::remove;
  EXPECT_TRUE(changes_one_row(find));
  find.limit = 2;
  EXPECT_FALSE(changes_one_row(find));
  find.limit = 1;
  find.list.is_given = true;
  EXPECT_FALSE(changes_one_row(find)) << "it may stand on many rows before it finds one";
}

TEST(Request, AnInsertOfOneRowChangesOneRowUnlessItReplaces) {
  Insert insert;
  EXPECT_TRUE(changes_one_row(insert));
  insert.on_duplicate = OnDuplicate::change;
  EXPECT_TRUE(changes_one_row(insert));
  insert.on_duplicate = OnDuplicate::replace;
  EXPECT_FALSE(changes_one_row(insert)) << "what is there is deleted first";
}

TEST(Request, AnInsertOfManyRowsChangesOneAtATimeWhereTheyStandAlone) {
  Insert insert;
  insert.row_count = 2;
  EXPECT_FALSE(changes_one_row(insert));
  insert.rows_alone = true;
  EXPECT_TRUE(changes_one_row(insert));
}

TEST(Request, AFindAndAnInsertNameTheirSelection) {
  Find find;
  find.selection.id = 3;
  Insert insert;
  insert.selection.id = 4;
  EXPECT_EQ(selection_of(find).id, 3U);
  EXPECT_EQ(selection_of(insert).id, 4U);
}

TEST(Request, ADirectionIsThatOfTheOperator) {
  EXPECT_TRUE(goes_up(KeyOperator::after) && goes_up(KeyOperator::at_or_after));
  EXPECT_TRUE(goes_down(KeyOperator::before) && goes_down(KeyOperator::at_or_before));
  for (const KeyOperator neither : {KeyOperator::equal, KeyOperator::starts_with}) {
    EXPECT_FALSE(goes_up(neither) || goes_down(neither));
  }
}

TEST(Request, TheEndsOfARangeFaceWhereOneGoesUpAndTheOtherDown) {
  using enum KeyOperator;
  const auto face = [](KeyOperator from, KeyOperator to) {
    return ends_face({.key_operator = from, .has_end = true, .end_operator = to});
  };
  for (const KeyOperator up : {after, at_or_after}) {
    for (const KeyOperator down : {before, at_or_before}) {
      EXPECT_TRUE(face(up, down) && face(down, up));
      EXPECT_FALSE(face(up, up) || face(down, down));
    }
  }
  for (const KeyOperator other : {equal, after, at_or_after, before, at_or_before, starts_with}) {
    EXPECT_FALSE(face(equal, other) || face(other, equal) || face(starts_with, other) ||
                 face(other, starts_with));
    EXPECT_TRUE(ends_face({.key_operator = other})) << "there is no other end";
  }
}

}  // namespace
}  // namespace rowsocket
