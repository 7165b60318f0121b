// SPDX-License-Identifier: GPL-2.0-only
//
// What a row of the table of containers means.
#include "request/containers.h"

#include <gtest/gtest.h>

namespace rowsocket {
namespace {

Container container(const ContainerFields& fields) { return Container(fields); }

TEST(ContainerTest, a_row_names_a_table_and_its_columns) {
  const Container one = container({"c", "d", "t", "k", "v", "f", "c", "e", "PRIMARY"});
  EXPECT_EQ(one.problem, "");
  EXPECT_EQ(one.values.database, "d");
  EXPECT_EQ(one.values.table, "t");
  EXPECT_EQ(one.values.index, "PRIMARY");
  EXPECT_EQ(one.values.columns, "v,f");
  EXPECT_EQ(one.row.columns, "v,f,c,e");
  EXPECT_EQ(one.whole.columns, "k,v,f,c,e");
  EXPECT_EQ(one.keys.columns, "k");
  EXPECT_TRUE(one.keys.walked_in_steps);
  EXPECT_EQ(one.row.filter_columns, "e,c,f");
  EXPECT_EQ(one.contents.filter_columns, "e,c");
  EXPECT_EQ(one.row.unique_columns, "k");
  EXPECT_EQ(one.flags_at, 1U);
  EXPECT_EQ(one.cas_at, 2U);
  EXPECT_EQ(one.cas_in_whole, 3U);
  EXPECT_EQ(one.expiry_at, 3U);
  EXPECT_EQ(one.expiry_filter, 0U);
  EXPECT_EQ(one.cas_filter, 1U);
}

TEST(ContainerTest, a_column_that_is_empty_or_0_is_not_there) {
  for (const char* none : {"", "0", " 0 "}) {
    const Container one = container({"c", "d", "t", "k", "v", none, none, none, ""});
    EXPECT_EQ(one.problem, "");
    EXPECT_FALSE(one.has_flags || one.has_cas || one.has_expiry);
    EXPECT_EQ(one.row.columns, "v");
    EXPECT_EQ(one.row.filter_columns, "");
  }
}

TEST(ContainerTest, filters_are_of_the_columns_that_it_has) {
  EXPECT_EQ(container({"c", "d", "t", "k", "v", "0", "0", "e", "PRIMARY"}).row.filter_columns, "e");
}

TEST(ContainerTest, there_can_be_several_key_and_value_columns) {
  const Container one = container({"c", "d", "t", "a|b", "x; y,z|", "0", "0", "e", "PRIMARY"});
  EXPECT_EQ(one.problem, "");
  EXPECT_EQ(one.key_part_count, 2U);
  EXPECT_EQ(one.value_count, 3U);
  EXPECT_EQ(one.row.columns, "x,y,z,e");
  EXPECT_EQ(one.row.unique_columns, "a,b");
  EXPECT_EQ(one.expiry_at, 3U);
}

TEST(ContainerTest, a_cas_that_the_table_keeps_is_read_and_not_written) {
  const Container one = container({"c", "d", "t", "k", "v", "f", "=c", "e", "PRIMARY"});
  EXPECT_TRUE(one.table_keeps_cas);
  EXPECT_EQ(one.row.columns, "v,f,c,e");
  EXPECT_EQ(one.whole.columns, "k,v,f,e,c");
  EXPECT_EQ(one.cas_in_whole, 4U);
  EXPECT_EQ(one.expiry_in_whole, 3U);
  EXPECT_EQ(one.contents.columns, "v");
  EXPECT_EQ(one.expiry.columns, "e");
}

TEST(ContainerTest, a_row_that_makes_no_sense_says_why) {
  const std::string lacks = "it names no schema, no table, no key column or no value column";
  EXPECT_EQ(container({"c", "", "t", "k", "v", "", "", "", ""}).problem, lacks);
  EXPECT_EQ(container({"c", "d", "", "k", "v", "", "", "", ""}).problem, lacks);
  EXPECT_EQ(container({"c", "d", "t", "", "v", "", "", "", ""}).problem, lacks);
  EXPECT_EQ(container({"c", "d", "t", "k", "|", "f", "", "", ""}).problem, lacks);
  EXPECT_EQ(container({"c", "d", "t", "k", "v|k", "", "", "", ""}).problem, "it names column 'k' twice");
  EXPECT_EQ(container({"c", "d", "t", "k", std::string(300, 'v'), "", "", "", ""}).problem,
            "a name in it is longer than any can be");
  EXPECT_EQ(container({"c", "d", "t", "k", "v", "a", "a", "", ""}).problem, "it names column 'a' twice");
  EXPECT_EQ(container({"c", "d", "t", "k", "v", "", "a", "a", ""}).problem, "it names column 'a' twice");
  std::string many;
  for (int number = 0; number < 100; ++number) {
    many += "v" + std::to_string(number) + "|";
  }
  EXPECT_EQ(container({"c", "d", "t", "k", many, "", "", "", ""}).problem, "it names too many columns");
}

Containers containers(const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<const Container>> all;
  all.reserve(names.size());
  for (const std::string& name : names) {
    all.push_back(
        std::make_unique<const Container>(ContainerFields{name, "d", "t", "k", "v", "", "", "", ""}));
  }
  return Containers(std::move(all));
}

TEST(ContainersTest, one_is_found_by_its_name) {
  const Containers some = containers({"b", "a", "c"});
  EXPECT_EQ(some.find("a")->name, "a");
  EXPECT_EQ(some.find("d"), nullptr);
  EXPECT_EQ(some.find(""), nullptr);
}

TEST(ContainersTest, without_a_name_it_is_the_default_one_or_the_first) {
  EXPECT_EQ(containers({"b", "a", "c"}).of_no_name()->name, "b");
  EXPECT_EQ(containers({"b", "default", "c"}).of_no_name()->name, "default");
  EXPECT_EQ(containers({}).of_no_name(), nullptr);
  EXPECT_EQ(containers({}).why_none(), "the table of containers has no row");
}

TEST(ContainersTest, a_key_names_its_container_or_is_of_the_chosen_one) {
  const Containers some = containers({"a", "b"});
  EXPECT_EQ(find_container(&some, "x", "").container->name, "a");
  EXPECT_EQ(find_container(&some, "x", "b").container->name, "b");
  EXPECT_EQ(find_container(&some, "@@b.x.y", "").container->name, "b");
  EXPECT_EQ(find_container(&some, "@@b.x.y", "").rest, "x.y");
  EXPECT_EQ(find_container(&some, "@@b", "").rest, "");
  EXPECT_EQ(find_container(&some, "@@c.x", "").problem, "there is no such container");
  EXPECT_EQ(find_container(&some, "@@c.x", "").name, "c");
  EXPECT_EQ(find_container(nullptr, "x", "").problem,
            "rowsocket_containers names no table, or it was not read yet");
}

}  // namespace
}  // namespace rowsocket
