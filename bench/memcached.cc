// SPDX-License-Identifier: GPL-2.0-only
//
// memcached's text protocol. A row is one value: the request's columns with a TAB between each two.
//
//   get KEY...      ->  VALUE KEY 0 BYTES\r\n value \r\n ... END\r\n
//   set KEY value   ->  STORED\r\n           (flags, expiry and size are put in)
//   incr KEY N      ->  the new number\r\n
#include "bench/connection.h"
#include "bench/key_value.h"

namespace rowsocket::bench {

namespace {

class Memcached final : public ComparingProtocol {
 public:
  explicit Memcached(const Workload& workload) : workload_(workload), requests_(parse_words(workload, "memcached")) {
    for (const Words& request : requests_) {
      if (request.command == "set" && request.words.size() != 2) {
        throw std::runtime_error("memcached: set KEY VALUE");
      }
    }
  }

  [[nodiscard]] std::unique_ptr<Link> connect(const Endpoint& endpoint) override { return connect_socket(endpoint); }

  void write_request(const Link&, const Operation& operation, Buffer& out) override {
    const Words& request = requests_[operation.request];
    PlainSink sink(workload_.table, workload_.requests[operation.request].columns, out);
    out.append(request.command);
    if (request.command == "set") {
      write_set(request, operation, sink, out);
      return;
    }
    for (const RequestText& word : request.words) {
      for (size_t i = 0; i < (word.names_key() ? operation.keys.size() : 1); ++i) {
        out.append(' ');
        word.write_for_key(operation, operation.keys[i], sink);
      }
    }
    out.append("\r\n");
  }

  [[nodiscard]] size_t check_reply(const Operation& operation, std::string_view received) override {
    return workload_.requests[operation.request].answer.kind == AnswerKind::number
               ? check_number_reply("", received)
               : ComparingProtocol::check_reply(operation, received);
  }

  void write_right_reply(const Operation& operation, Buffer& out) override {
    const Request& request = workload_.requests[operation.request];
    if (request.writes()) {
      out.append("STORED\r\n");
      return;
    }
    const RequestText& key_word = requests_[operation.request].key_word();
    PlainSink sink(workload_.table, request.columns, out);
    for (const uint32_t key : operation.keys) {
      value_.clear();
      PlainSink(workload_.table, request.columns, value_).value(static_cast<uint32_t>(request.answer.first_row.at(key)));
      out.append("VALUE ");
      key_word.write_for_key(operation, key, sink);
      out.append(" 0 ");
      append_number(out, static_cast<int64_t>(value_.size()));
      out.append("\r\n");
      out.append(value_.view());
      out.append("\r\n");
    }
    out.append("END\r\n");
  }

 private:
  void write_set(const Words& request, const Operation& operation, PlainSink& sink, Buffer& out) {
    value_.clear();
    request.words[1].write_for_key(operation, operation.keys.front(),
                                   PlainSink(workload_.table, workload_.requests[operation.request].columns, value_));
    out.append(' ');
    request.words[0].write_for_key(operation, operation.keys.front(), sink);
    out.append(" 0 0 ");
    append_number(out, static_cast<int64_t>(value_.size()));
    out.append("\r\n");
    out.append(value_.view());
    out.append("\r\n");
  }

  const Workload& workload_;
  std::vector<Words> requests_;
  Buffer value_;
};

}  // namespace

std::unique_ptr<Protocol> make_memcached(const Workload& workload, const Access&) {
  return std::make_unique<Memcached>(workload);
}

}  // namespace rowsocket::bench
