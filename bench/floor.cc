// SPDX-License-Identifier: GPL-2.0-only
//
// The floor: what receiving a request and sending its reply costs when nothing is looked up. The requests are HandlerSocket's,
// the server is echo_server.cc. The reply is always the same, so the generator learns it from the first one.
#include "bench/connection.h"
#include "bench/protocol.h"

namespace rowsocket::bench {

namespace {

class Floor final : public ComparingProtocol {
 public:
  explicit Floor(const Workload& workload) : workload_(workload), requests_(make_handlersocket(workload, {})) {}

  [[nodiscard]] std::unique_ptr<Link> connect(const Endpoint& endpoint) override {
    auto link = connect_socket(endpoint);
    if (reply_.empty()) {
      Buffer bytes;
      write_request(*link, workload_.typical_operation(0), bytes);
      send_all(link->descriptor(), bytes.view());
      bytes.clear();
      while (!bytes.view().ends_with('\n')) {
        receive_some(link->descriptor(), bytes);
      }
      reply_ = bytes.view();
    }
    return link;
  }
  void write_request(const Link& link, const Operation& operation, Buffer& out) override {
    requests_->write_request(link, operation, out);
  }
  void write_right_reply(const Operation&, Buffer& out) override { out.append(reply_); }

 private:
  const Workload& workload_;
  std::unique_ptr<Protocol> requests_;
  std::string reply_;
};

}  // namespace

std::unique_ptr<Protocol> make_floor(const Workload& workload, const Access&) { return std::make_unique<Floor>(workload); }

std::string floor_reply(const Workload& workload) {
  const auto protocol = make_handlersocket(workload, {});
  Buffer out;
  dynamic_cast<ComparingProtocol&>(*protocol).write_right_reply(workload.typical_operation(0), out);
  return std::string(out.view());
}

}  // namespace rowsocket::bench
