// SPDX-License-Identifier: GPL-2.0-only
//
// Makes every call of the original's libhsclient once and checks what comes back; prints "done" at the end, or the line that was
// not as expected. Arguments: host, write port, database. test_cpp.py makes the table and looks at it afterwards.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "hstcpcli.hpp"

namespace {

using dena::hstcpcli_filter;
using dena::hstcpcli_i;
using dena::string_ref;

using Row = std::vector<std::optional<std::string>>;

void expect(bool is_so, int line, const std::string& what) {
  if (!is_so) {
    std::printf("line %d: %s\n", line, what.c_str());
    std::exit(1);
  }
}
#define EXPECT(condition) expect(condition, __LINE__, #condition)

string_ref ref(const char* text) { return string_ref(text, std::char_traits<char>::length(text)); }

/// Receive one reply; its rows. The error code stands in `code`.
std::vector<Row> receive(hstcpcli_i& client, int& code) {
  size_t column_count = 0;
  code = client.response_recv(column_count);
  std::vector<Row> rows;
  while (code == 0 && column_count > 0) {
    const string_ref* const row = client.get_next_row();
    if (row == nullptr) {
      break;
    }
    Row values;
    for (size_t i = 0; i < column_count; ++i) {
      values.push_back(row[i].begin() == nullptr ? std::nullopt : std::optional<std::string>(std::string(row[i].begin(), row[i].size())));
    }
    rows.push_back(std::move(values));
  }
  client.response_buf_remove();
  return rows;
}

void expect_rows(hstcpcli_i& client, int line, const std::vector<Row>& expected) {
  int code = -1;
  const std::vector<Row> rows = receive(client, code);
  expect(code == 0, line, "error " + std::to_string(code) + " " + client.get_error());
  expect(rows == expected, line, "other rows than expected, " + std::to_string(rows.size()) + " of them");
}

void expect_error(hstcpcli_i& client, int line, int expected_code, const std::string& expected_text) {
  int code = 0;
  receive(client, code);
  expect(code == expected_code && client.get_error_code() == expected_code, line, "code " + std::to_string(code));
  expect(client.get_error() == expected_text, line, "text " + client.get_error());
}

void send(hstcpcli_i& client, int line) { expect(client.request_send() == 0, line, client.get_error()); }

void open_indexes(hstcpcli_i& client, const char* database) {
  client.request_buf_auth("", "1");
  client.request_buf_open_index(1, database, "user", "PRIMARY", "k,v,n", "v,n");
  client.request_buf_open_index(2, database, "user", "by_v", "k");
  client.request_buf_open_index(3, database, "user", "", "n");
  client.request_buf_open_index(4, database, "nowhere", "", "n");
  send(client, __LINE__);
  for (int i = 0; i < 4; ++i) {
    int code = -1;
    receive(client, code);
    EXPECT(code == 0);
  }
  expect_error(client, __LINE__, 1, "open_table");
}

void read_rows(hstcpcli_i& client) {
  const string_ref one = ref("1");
  const string_ref two = ref("two");
  client.request_buf_exec_generic(1, ref(">="), &one, 1, 3, 0, string_ref(), nullptr, 0);
  client.request_buf_exec_generic(2, ref("="), &two, 1, 1, 0, string_ref(), nullptr, 0);
  hstcpcli_filter filter;
  filter.filter_type = ref("F");
  filter.op = ref(">");
  filter.ff_offset = 1;
  filter.val = ref("35");
  client.request_buf_exec_generic(1, ref(">="), &one, 1, 10, 1, string_ref(), nullptr, 0, &filter, 1);
  const string_ref in[] = {ref("5"), ref("77"), ref("1")};
  client.request_buf_exec_generic(3, ref("="), &one, 1, 10, 0, string_ref(), nullptr, 0, nullptr, 0, 0, in, 3);
  client.request_buf_exec_generic(9, ref("="), &one, 1, 1, 0, string_ref(), nullptr, 0);
  send(client, __LINE__);
  expect_rows(client, __LINE__, {{"1", "one", "10"}, {"2", "two", "20"}, {"3", std::nullopt, "30"}});
  expect_rows(client, __LINE__, {{"2"}});
  expect_rows(client, __LINE__, {{"5", "a\tb", "50"}});
  expect_rows(client, __LINE__, {{"50"}, {"10"}});
  expect_error(client, __LINE__, 2, "stmtnum");
  EXPECT(client.stable_point());
}

void change_rows(hstcpcli_i& client) {
  const string_ref keys[] = {ref("1"), ref("2"), ref("3")};
  const string_ref changed[] = {ref("2"), ref("zwei"), ref("20")};
  const string_ref added[] = {ref("9"), ref("nine\n"), ref("90")};
  const string_ref five = ref("5");
  client.request_buf_exec_generic(1, ref("="), &keys[1], 1, 1, 0, ref("U"), changed, 3);
  client.request_buf_exec_generic(1, ref("="), &keys[2], 1, 1, 0, ref("D"), nullptr, 0);
  client.request_buf_exec_generic(3, ref("="), &keys[0], 1, 1, 0, ref("+"), &five, 1);
  client.request_buf_exec_generic(3, ref("="), &keys[0], 1, 1, 0, ref("-?"), &five, 1);
  client.request_buf_exec_generic(3, ref("="), &keys[0], 1, 1, 0, ref("+"), &five, 1);
  client.request_buf_exec_generic(1, ref("+"), added, 3, 0, 0, string_ref(), nullptr, 0);
  client.request_buf_exec_generic(1, ref("+"), added, 3, 0, 0, string_ref(), nullptr, 0);
  send(client, __LINE__);
  expect_rows(client, __LINE__, {{"1"}});
  expect_rows(client, __LINE__, {{"1"}});
  expect_rows(client, __LINE__, {{"1"}});
  expect_rows(client, __LINE__, {{"15"}});
  expect_rows(client, __LINE__, {{"1"}});
  expect_rows(client, __LINE__, {});
  expect_error(client, __LINE__, 1, "121");
}

void reconnect(hstcpcli_i& client, const char* database) {
  client.close();
  EXPECT(!client.stable_point());
  EXPECT(client.reconnect() == 0);
  const string_ref nine = ref("9");
  client.request_buf_open_index(1, database, "user", "PRIMARY", "v");
  client.request_buf_exec_generic(1, ref("="), &nine, 1, 1, 0, string_ref(), nullptr, 0);
  send(client, __LINE__);
  expect_rows(client, __LINE__, {});
  expect_rows(client, __LINE__, {{"nine\n"}});
}

}  // namespace

int main(int, char** argv) {
  dena::config configuration;
  configuration["host"] = argv[1];
  configuration["port"] = argv[2];
  dena::socket_args address;
  address.set(configuration);
  const dena::hstcpcli_ptr client = hstcpcli_i::create(address);
  EXPECT(client->stable_point());
  open_indexes(*client, argv[3]);
  read_rows(*client);
  change_rows(*client);
  reconnect(*client, argv[3]);
  std::puts("done");
}
