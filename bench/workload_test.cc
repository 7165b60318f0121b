// SPDX-License-Identifier: GPL-2.0-only
//
// Table and workload files.
#include "bench/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "bench/test_workload.h"

namespace rowsocket::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string complaint(const std::string& text, const WorkloadSettings& settings = {}) {
  try {
    (void)test_workload(text, settings);
  } catch (const std::runtime_error& failure) {
    return failure.what();
  }
  return "";
}

std::vector<int64_t> rows_of(const Workload& workload, std::vector<uint32_t> keys) {
  std::vector<int64_t> rows;
  for_each_row(workload.requests[0].answer, {0, 0, std::move(keys)}, [&](int64_t row) { rows.push_back(row); });
  return rows;
}

TEST(Table, WritesTheSqlThatFillsIt) {
  Parameters parameters;
  const Table table = parse_table("table t\ncolumn id BIGINT = {n}\ncolumn text TEXT = no {n}\nkey PRIMARY KEY (id)", parameters);
  EXPECT_EQ(table.sql(3),
            "CREATE TABLE t (id BIGINT, text TEXT, PRIMARY KEY (id)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n"
            "INSERT INTO t SELECT seq, CONCAT('no ', seq) FROM seq_1_to_3;\n");
}

TEST(Table, IsFilledInPiecesSoThatNoTransactionIsHuge) {
  Parameters parameters;
  const Table table = parse_table("table t\ncolumn id INT = {n}", parameters);
  EXPECT_THAT(table.sql(1'000'001), HasSubstr("seq_500001_to_1000000;\nINSERT INTO t SELECT seq FROM seq_1000001_to_1000001;"));
}

TEST(Table, MayStandThereSeveralTimes) {
  Parameters parameters;
  const Table table = parse_table("table t\ncopies 2\ncolumn id INT = {n}", parameters);
  EXPECT_THAT(table.sql(3), HasSubstr("CREATE TABLE t1 (id INT)"));
  EXPECT_THAT(table.sql(3), HasSubstr("INSERT INTO t2 SELECT seq FROM seq_1_to_3;"));
}

TEST(Table, MayHaveManyColumnsByOneLine) {
  Parameters parameters;
  const Table table = parse_table("param wide 2\ntable t\ncolumn {list c $wide} TEXT = column # of {n}", parameters);
  EXPECT_THAT(table.sql(3), HasSubstr("(c1 TEXT, c2 TEXT)"));
  EXPECT_THAT(table.sql(3), HasSubstr("SELECT CONCAT('column 1 of ', seq), CONCAT('column 2 of ', seq) FROM"));
}

TEST(Workload, SaysWhichRowsAnswerAKey) {
  EXPECT_THAT(rows_of(test_workload("request\nanswer 1 rows from {k}"), {4, 9}), ElementsAre(4, 9));
  EXPECT_THAT(rows_of(test_workload("request\nanswer 2 rows from {k*10+9} step -1"), {1, 2}), ElementsAre(19, 18, 29, 28));
}

TEST(Workload, ItsKeysDependOnTheRows) {
  const Workload workload = test_workload("keys 5 of 1 to {rows/20-1}\nrequest\nanswer inserted", {.rows = 2000});
  EXPECT_EQ(workload.keys.count, 5u);
  EXPECT_EQ(workload.keys.most, 99u);
}

TEST(Workload, TheCommandLineSaysHowManyKeys) {
  const std::string text = "keys 5 of 1 to 99\nrequest\nanswer inserted";
  EXPECT_EQ(test_workload(text, {.keys_per_request = 7}).keys.count, 7u);
  EXPECT_THAT(complaint("keys 1 of 1 to 9\nrequest", {.keys_per_request = 7}), HasSubstr("have one key each"));
}

TEST(Workload, AParamCanBeSet) {
  const std::string text = "param take 3\nrequest\nanswer $take rows from {k}";
  EXPECT_EQ(test_workload(text).requests[0].answer.rows_per_key, 3u);
  Parameters parameters;
  parameters.set("take", "10");
  EXPECT_EQ(test_workload(text, {}, parameters).requests[0].answer.rows_per_key, 10u);
}

TEST(Workload, AParamThatIsSetForNothingIsAMistake) {
  Parameters parameters;
  parameters.set("tkae", "10");
  EXPECT_THAT([&] { (void)test_workload("request\nanswer inserted", {}, parameters); },
              testing::ThrowsMessage<std::runtime_error>(HasSubstr("--set tkae")));
}

TEST(Workload, AMistakeIsNamedWithItsLine) {
  EXPECT_THAT(complaint("request\ncolumns nmae"), HasSubstr("line 3: table user has no column \"nmae\""));
  EXPECT_THAT(complaint("answer inserted"), HasSubstr("belongs below a request line"));
  EXPECT_THAT(complaint("request\nanswer some rows from {k}"), HasSubstr("\"some\" is not a number"));
  EXPECT_THAT(complaint("keys 10 of 1 to 9\nrequest"), HasSubstr("no 10 different keys from 1 to 9"));
  EXPECT_THAT(complaint("keys 1 of 1 to {rows/20}\nrequest", {.rows = 10}), HasSubstr("are there enough rows?"));
  EXPECT_THAT(complaint("request\nanswer $take rows from {k}"), HasSubstr("$take is not defined"));
  EXPECT_THAT(complaint("request\ncolumns {list c many}"), HasSubstr("\"many\" is not a number"));
  EXPECT_THAT(complaint(""), HasSubstr("at least one request"));
}

TEST(RequestText, AnUnknownPlaceholderIsNamed) {
  EXPECT_THAT([] { Spoken("handlersocket", "request\nanswer inserted\nhandlersocket {nmae}"); },
              testing::ThrowsMessage<std::runtime_error>(HasSubstr("no column \"nmae\"")));
}

/// Every file of workloads/: a mistake in one is found here and not in the middle of an hour's benchmark.
TEST(WorkloadFiles, AreReadAndAskedInEveryProtocolTheyName) {
  for (const auto& file : std::filesystem::directory_iterator(ROWSOCKET_BENCH_FOLDER "/workloads")) {
    SCOPED_TRACE(file.path());
    const Workload workload = load_workload(file.path().stem(), {}, {});
    EXPECT_FALSE(workload.about.empty());
    const std::vector<std::string> protocols = protocols_of(workload);
    EXPECT_FALSE(protocols.empty());
    for (const std::string& name : protocols) {
      const auto protocol = make_protocol(name, workload, {});
      for (size_t request = 0; request < workload.requests.size() && !name.starts_with("sql"); ++request) {
        Buffer out;
        protocol->write_request(NoLink(), workload.typical_operation(request), out);
        EXPECT_FALSE(out.empty());
      }
    }
  }
}

}  // namespace
}  // namespace rowsocket::bench
