// SPDX-License-Identifier: GPL-2.0-only
//
// The HandlerSocket protocol, as RowSocket and the original both speak it.
//
//   point    1 = 1 KEY                                ->  0 3 name email created
//   in_list  1 = 1 (empty) COUNT 0 @ 0 COUNT KEY...   ->  0 3 name email created name email created ...
//   insert   1 + 4 KEY name email created             ->  0 1
#include "bench/protocol.h"
#include "bench/user_table.h"

namespace rowsocket::bench {

namespace {

void append_row(Buffer& out, uint32_t user_id) {
  out.append('\t');
  append_user_name(out, user_id);
  out.append('\t');
  append_user_email(out, user_id);
  out.append('\t');
  append_created(out, user_id);
}

class HandlerSocket final : public Protocol {
 public:
  [[nodiscard]] std::vector<Exchange> opening(const Target& target) const override {
    std::vector<Exchange> exchanges;
    if (!target.secret.empty()) {
      exchanges.push_back({"A\t1\t" + target.secret + "\n", "0\t1\n"});
    }
    const char* const columns =
        target.workload == Workload::insert ? "user_id,user_name,user_email,created" : "user_name,user_email,created";
    exchanges.push_back({"P\t1\t" + target.database + "\t" + target.table + "\tPRIMARY\t" + columns + "\n", "0\t1\n"});
    return exchanges;
  }

  void write_request(const Operation& operation, Buffer& out) const override {
    switch (operation.workload) {
      case Workload::point:
        out.append("1\t=\t1\t");
        append_number(out, operation.keys.front());
        break;
      case Workload::in_list:
        write_in_list(operation, out);
        break;
      case Workload::insert:
        out.append("1\t+\t4\t");
        append_number(out, operation.keys.front());
        append_row(out, operation.keys.front());
        break;
    }
    out.append('\n');
  }

  void write_right_reply(const Operation& operation, Buffer& out) const override {
    if (operation.workload == Workload::insert) {
      out.append("0\t1\n");
      return;
    }
    out.append("0\t3");
    for (const uint32_t key : operation.keys) {
      append_row(out, key);
    }
    out.append('\n');
  }

 private:
  static void write_in_list(const Operation& operation, Buffer& out) {
    const auto count = static_cast<uint32_t>(operation.keys.size());
    out.append("1\t=\t1\t\t");
    append_number(out, count);
    out.append("\t0\t@\t0\t");
    append_number(out, count);
    for (const uint32_t key : operation.keys) {
      out.append('\t');
      append_number(out, key);
    }
  }
};

}  // namespace

std::unique_ptr<Protocol> make_handlersocket() { return std::make_unique<HandlerSocket>(); }

}  // namespace rowsocket::bench
