// SPDX-License-Identifier: GPL-2.0-only
//
// Redis' protocol (RESP). A request is an array of its words; a row is one value: the request's columns with a TAB between each
// two. GET is answered with one value, MGET and whatever else returns rows with an array, SET with +OK, INCR with a number.
//
//   *2\r\n$3\r\nGET\r\n$6\r\nuser:7\r\n   ->   $BYTES\r\n value \r\n
#include "bench/connection.h"
#include "bench/key_value.h"

namespace rowsocket::bench {

namespace {

void append_header(Buffer& out, char type, size_t number) {
  out.append(type);
  append_number(out, static_cast<int64_t>(number));
  out.append("\r\n");
}

void append_bulk(Buffer& out, std::string_view bytes) {
  append_header(out, '$', bytes.size());
  out.append(bytes);
  out.append("\r\n");
}

class Redis final : public ComparingProtocol {
 public:
  explicit Redis(const Workload& workload) : workload_(workload), requests_(parse_words(workload, "redis")) {}

  [[nodiscard]] std::unique_ptr<Link> connect(const Endpoint& endpoint) override { return connect_socket(endpoint); }

  void write_request(const Link&, const Operation& operation, Buffer& out) override {
    const Words& request = requests_[operation.request];
    size_t word_count = 1;
    for (const RequestText& word : request.words) {
      word_count += times(word, operation);
    }
    append_header(out, '*', word_count);
    append_bulk(out, request.command);
    for (const RequestText& word : request.words) {
      for (size_t i = 0; i < times(word, operation); ++i) {
        scratch_.clear();
        word.write_for_key(operation, operation.keys[i],
                           PlainSink(workload_.table, workload_.requests[operation.request].columns, scratch_));
        append_bulk(out, scratch_.view());
      }
    }
  }

  [[nodiscard]] size_t check_reply(const Operation& operation, std::string_view received) override {
    return workload_.requests[operation.request].answer.kind == AnswerKind::number
               ? check_number_reply(":", received)
               : ComparingProtocol::check_reply(operation, received);
  }

  void write_right_reply(const Operation& operation, Buffer& out) override {
    const Request& request = workload_.requests[operation.request];
    if (request.writes()) {
      out.append("+OK\r\n");
      return;
    }
    if (requests_[operation.request].command != "GET") {
      append_header(out, '*', row_count(request.answer, operation));
    }
    for_each_row(request.answer, operation, [&](int64_t row) {
      scratch_.clear();
      PlainSink(workload_.table, request.columns, scratch_).value(static_cast<uint32_t>(row));
      append_bulk(out, scratch_.view());
    });
  }

 private:
  static size_t times(const RequestText& word, const Operation& operation) {
    return word.names_key() ? operation.keys.size() : 1;
  }

  const Workload& workload_;
  std::vector<Words> requests_;
  Buffer scratch_;
};

}  // namespace

std::unique_ptr<Protocol> make_redis(const Workload& workload, const Access&) { return std::make_unique<Redis>(workload); }

}  // namespace rowsocket::bench
