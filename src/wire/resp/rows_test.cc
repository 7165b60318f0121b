// SPDX-License-Identifier: GPL-2.0-only
//
// Ranges of rows.
#include <gmock/gmock.h>

#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

class RowsTest : public RespTest {};

TEST_F(RowsTest, columns_are_no_more_than_a_table_has) {
  const std::string most = names(4096);
  const std::string more = names(4097);
  const std::string_view refusal = "-ERR no table has so many columns\r\n";
  EXPECT_EQ(find_of({"ROWS.FIND", "d.t", most, "=", "1", "7", "NAMES"}).selection.names->columns, most);
  EXPECT_EQ(answer_to({"ROWS.FIND", "d.t", more, "=", "1", "7", "NAMES"}), refusal);
  EXPECT_EQ(answer_to({"ROWS.CHANGE", "d.t", "=", "1", "7", "DELETE", "RETURN", "BEFORE", more}), refusal);
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
