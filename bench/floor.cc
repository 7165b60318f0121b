// SPDX-License-Identifier: GPL-2.0-only
//
// The floor: what receiving a request and sending its reply costs when nothing is looked up. The requests are HandlerSocket's,
// the server is echo_server.cc, the reply is always that to a typical request.
#include "bench/connection.h"
#include "bench/protocol.h"

namespace rowsocket::bench {

namespace {

class Floor final : public ComparingProtocol {
 public:
  explicit Floor(const Workload& workload) : requests_(make_handlersocket(workload, {})), reply_(floor_reply(workload)) {}
  [[nodiscard]] std::unique_ptr<Link> connect(const Endpoint& endpoint) override { return connect_socket(endpoint); }
  void write_request(const Operation& operation, Buffer& out) override { requests_->write_request(operation, out); }
  void write_right_reply(const Operation&, Buffer& out) override { out.append(reply_); }

 private:
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
