// SPDX-License-Identifier: GPL-2.0-only
//
// Requests that name their selection in full, without an id.
#include <functional>
#include <memory>
#include <vector>

#include "engine/opened_selections.h"
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;

class SelectionTest : public ExecutorTest {
 protected:
  static Ask find(const std::string& id) {
    return Ask::find(0, {id}).of("shop.item", "", "stock,name", "stock");
  }
  std::string asked(const Ask& request) { return ask(shop, request); }

  Connection& shop = connect();
};

TEST_F(SelectionTest, nothing_need_be_opened) {
  EXPECT_EQ(asked(find("1")), "rows/2 5 pen");
  EXPECT_EQ(asked(find("1").add({"1"})), "= 1");
  EXPECT_EQ(asked(Ask::insert(0, {"6", "30", "lid", "1"}).of("shop.item", "", "id,shelf,name,stock")), "ok");
  EXPECT_EQ(stock("1") + stock("6"), "61");
}

TEST_F(SelectionTest, an_id_that_is_opened_is_another_matter) {
  EXPECT_EQ(asked(Ask::open(0, "shop.item", "", "id")), "ok");
  EXPECT_EQ(asked(find("1")), "rows/2 5 pen");
  EXPECT_EQ(asked(Ask::find(0, {"1"})), "rows/1 1");
}

TEST_F(SelectionTest, an_id_that_is_opened_anew_holds_nothing_of_what_it_was) {
  const Ask open = Ask::open(0, "shop.item", "", "id");
  EXPECT_EQ(asked(open), "ok");
  const size_t held_bytes = shop.client.held_bytes();
  EXPECT_EQ(asked(Ask::find(0, {"1"}).columns("name,stock")), "rows/2 pen 5");
  EXPECT_GT(shop.client.held_bytes(), held_bytes);
  EXPECT_EQ(asked(open), "ok");
  EXPECT_EQ(shop.client.held_bytes(), held_bytes);
}

TEST_F(SelectionTest, filters_are_on_its_own_columns) {
  EXPECT_EQ(asked(find("1").skip_unless(0, Comparison::equal, "4")), "rows/2");
  EXPECT_EQ(asked(find("1").skip_unless(1, Comparison::equal, "4")), "error bad_filter_column");
}

TEST_F(SelectionTest, columns_of_the_request_take_the_place_of_its_own) {
  EXPECT_EQ(asked(find("1").columns("id")), "rows/1 1");
  EXPECT_EQ(asked(find("1")), "rows/2 5 pen");
}

TEST_F(SelectionTest, a_count_needs_none_of_its_columns) {
  EXPECT_EQ(asked(Ask::find(0, {"1"}).of("shop.item", "", "color").count()), "= 1");
  EXPECT_EQ(asked(find("1").columns("color").count()), "error no_such_column");
}

TEST_F(SelectionTest, each_part_of_the_names_tells_them_apart) {
  EXPECT_EQ(asked(Ask::find(0, {"10"}).of("shop.item", "by_shelf", "name").limit(9)), "rows/1 pen ink");
  EXPECT_EQ(asked(Ask::find(0, {"10"}).of("shop.item", "", "name").limit(9)), "rows/1");
  EXPECT_EQ(asked(Ask::find(0, {"10"}).of("shop.item", "by_shelf", "id").limit(9)), "rows/1 1 2");
}

TEST_F(SelectionTest, what_is_not_there_is_the_answer) {
  EXPECT_EQ(asked(Ask::find(0, {"1"}).of("shop.nothing", "", "id")), "error cannot_open_table");
  EXPECT_EQ(asked(Ask::find(0, {"1"}).of("shop.item", "by_color", "id")), "error no_such_index");
  EXPECT_EQ(asked(Ask::find(0, {"1"}).of("shop.item", "", "color")), "error no_such_column");
}

TEST_F(SelectionTest, names_that_nothing_can_have_are_not_looked_for) {
  const std::string long_name(limits::name_bytes_max + 1, 'x');
  EXPECT_EQ(asked(Ask::find(0, {"1"}).of("shop." + long_name, "", "id")), "error cannot_open_table");
  EXPECT_EQ(asked(Ask::find(0, {"1"}).of("shop.item", long_name, "id")), "error no_such_index");
  EXPECT_EQ(asked(find("1").columns(long_name)), "error no_such_column");
}

TEST_F(SelectionTest, who_may_not_write_or_read_may_not_do_it_so) {
  Connection& reader = connect(Access::read);
  EXPECT_EQ(ask(reader, find("1").remove()), "error read_only");
  settings.secret_read = "r";
  use_settings();
  EXPECT_EQ(ask(connect(), find("1")), "error not_authenticated");
}

TEST_F(SelectionTest, more_selections_than_are_remembered_work_as_well) {
  std::vector<Ask> asks = {find("1").add({"1"})};
  std::vector<std::string> expected = {"= 1"};
  std::string names = "id";
  for (uint32_t number = 0; number < limits::selections_per_client + 1; ++number) {
    asks.push_back(Ask::find(0, {"77"}).of("shop.item", "", names));
    names += ",id";
    expected.push_back("rows/" + std::to_string(number + 1));
  }
  engine.fail_commit(Error(ErrorCode::engine, 149));  // all of them run again
  EXPECT_EQ(turn(shop, asks), expected);
  EXPECT_EQ(stock("1"), "6");
}

class RememberedTest : public testing::Test {
 protected:
  Settings settings_;
  std::shared_ptr<engine::OpenedSelections> opened_ = std::make_shared<engine::OpenedSelections>();
  RetiredSelections retired_;
  Client client_{Account(Access::write, settings_)};
};

TEST_F(RememberedTest, names_that_differ_in_anything_are_of_other_selections) {
  const SelectionNames names{.database = "d", .table = "t", .index = "i", .columns = "a"};
  const SharedSelection selection =
      opened_->find_or_add({.database = "d", .table = "t", .index = "i", .columns = "a"});
  client_.remember_names(selection, retired_);
  EXPECT_EQ(client_.selection_named(names, "a"), selection.get());
  EXPECT_EQ(client_.selection_named(names, "b"), nullptr);
  const std::vector<std::function<void(SelectionNames&)>> changes = {
      [](SelectionNames& other) { other.database = "e"; },
      [](SelectionNames& other) { other.table = "u"; },
      [](SelectionNames& other) { other.index = "j"; },
      [](SelectionNames& other) { other.filter_columns = "f"; },
      [](SelectionNames& other) { other.raw = true; },
      [](SelectionNames& other) { other.unique_columns = "k"; },
      [](SelectionNames& other) { other.unique_key_parts = 1; },
      [](SelectionNames& other) { other.key_columns_first = true; },
      [](SelectionNames& other) { other.integer_filters = true; },
      [](SelectionNames& other) { other.walked_in_steps = true; },
      [](SelectionNames& other) { other.all_columns = true; }};
  for (size_t number = 0; number < changes.size(); ++number) {
    SelectionNames other = names;
    changes[number](other);
    EXPECT_EQ(client_.selection_named(other, "a"), nullptr) << "change " << number;
  }
}

TEST_F(RememberedTest, a_client_that_moves_has_the_same_ids_there) {
  client_.set_selection(2, opened_->find_or_add({.database = "d", .table = "t", .index = "i"}), retired_);
  const auto there = std::make_shared<engine::OpenedSelections>();
  client_.move_selections(*there);
  EXPECT_EQ(client_.selection(0), nullptr);
  EXPECT_EQ(client_.selection(2), there->find_or_add({.database = "d", .table = "t", .index = "i"}).get());
}

TEST_F(RememberedTest, what_a_client_that_moves_named_in_full_is_of_the_list_there_too) {
  const SelectionNames names{.database = "d", .table = "t"};
  client_.remember_names(opened_->find_or_add({.database = "d", .table = "t"}), retired_);
  const auto there = std::make_shared<engine::OpenedSelections>();
  client_.move_selections(*there);
  EXPECT_EQ(client_.selection_named(names, ""), there->find_or_add({.database = "d", .table = "t"}).get());
}

TEST_F(RememberedTest, as_many_are_remembered_as_may_be_and_the_oldest_makes_room) {
  size_t held_bytes = 0;
  for (size_t number = 0; number < limits::selections_per_client; ++number) {
    client_.remember_names(opened_->find_or_add({.columns = std::to_string(100 + number)}), retired_);
    held_bytes = client_.held_bytes();
  }
  EXPECT_TRUE(retired_.empty());
  client_.remember_names(opened_->find_or_add({.columns = "new"}), retired_);
  ASSERT_EQ(retired_.size(), 1U);
  EXPECT_EQ(retired_.front()->description().columns, "100");
  EXPECT_EQ(client_.held_bytes(), held_bytes);
  EXPECT_NE(client_.selection_named({}, "new"), nullptr);
  EXPECT_EQ(client_.selection_named({}, "100"), nullptr);
}

TEST_F(RememberedTest, what_an_id_no_longer_means_is_kept_until_the_requests_that_use_it_have_ended) {
  const auto set = [&](const char* columns) {
    client_.set_selection(0, opened_->find_or_add({.columns = columns}), retired_);
  };
  set("a");
  client_.remember_columns(0, opened_->find_or_add({.columns = "b"}), retired_);
  set("c");
  std::string kept;
  for (const SharedSelection& selection : retired_) {
    kept += selection->description().columns;
  }
  EXPECT_EQ(kept, "ba");
}

TEST_F(SelectionTest, a_group_may_hold_them) {
  EXPECT_THAT(turn(shop, {Ask::group({find("1").add({"1"}), find("1")})}),
              ElementsAre("ok", "= 1", "rows/2 6 pen", "ok"));
}

}  // namespace
}  // namespace rowsocket::exec
