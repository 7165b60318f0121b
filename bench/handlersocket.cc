// SPDX-License-Identifier: GPL-2.0-only
//
// The HandlerSocket protocol, as RowSocket and the original both speak it. Requests are the workload's lines, answers are
//
//   rows                0 ⇥ columns ⇥ value ⇥ value ...
//   inserted            0 ⇥ 1
//   changed, number     0 ⇥ 1 ⇥ 1
#include "bench/connection.h"
#include "bench/protocol.h"

namespace rowsocket::bench {

namespace {

class HandlerSocket final : public ComparingProtocol {
 public:
  HandlerSocket(const Workload& workload, const Access& access, std::string_view requests)
      : workload_(workload), access_(access), requests_(parse_requests(workload, requests)) {}

  [[nodiscard]] std::unique_ptr<Link> connect(const Endpoint& endpoint) override {
    auto link = connect_socket(endpoint);
    if (!access_.secret.empty()) {
      exchange(link->descriptor(), "A\t1\t" + access_.secret + "\n", "0\t1\n");
    }
    for (const std::string& line : workload_.handlersocket_opening) {
      exchange(link->descriptor(), line + "\n", "0\t1\n");
    }
    return link;
  }

  void write_request(const Link&, const Operation& operation, Buffer& out) override {
    const Request& request = workload_.requests[operation.request];
    requests_[operation.request].write(operation, PlainSink(workload_.table, request.columns, out));
    out.append('\n');
  }

  void write_right_reply(const Operation& operation, Buffer& out) override {
    const Request& request = workload_.requests[operation.request];
    switch (request.answer.kind) {
      case AnswerKind::rows:
        out.append("0\t");
        append_number(out, static_cast<int64_t>(request.columns.size()));
        for_each_row(request.answer, operation, [&](int64_t row) {
          for (const size_t column : request.columns) {
            out.append('\t');
            workload_.table.columns[column].formula.append(out, row);
          }
        });
        out.append('\n');
        break;
      case AnswerKind::inserted:
        out.append("0\t1\n");
        break;
      case AnswerKind::changed:
      case AnswerKind::number:
        out.append("0\t1\t1\n");
        break;
    }
  }

 private:
  const Workload& workload_;
  Access access_;
  std::vector<RequestText> requests_;
};

}  // namespace

std::unique_ptr<Protocol> make_handlersocket(const Workload& workload, const Access& access) {
  return std::make_unique<HandlerSocket>(workload, access, "handlersocket");
}

std::unique_ptr<Protocol> make_rowsocket(const Workload& workload, const Access& access) {
  return std::make_unique<HandlerSocket>(workload, access, "rowsocket");
}

}  // namespace rowsocket::bench
