// SPDX-License-Identifier: GPL-2.0-only
//
// The floor: what receiving a point request and sending its reply costs when nothing is looked up. The requests are
// HandlerSocket's, the server is echo_server.cc.
#include "bench/protocol.h"

namespace rowsocket::bench {

namespace {

class Floor final : public Protocol {
 public:
  [[nodiscard]] std::vector<Exchange> opening(const Target&) const override { return {}; }
  void write_request(const Operation& operation, Buffer& out) const override { requests_->write_request(operation, out); }
  void write_right_reply(const Operation&, Buffer& out) const override { out.append(reply_); }

 private:
  std::unique_ptr<Protocol> requests_ = make_handlersocket();
  std::string reply_ = floor_reply();
};

}  // namespace

std::unique_ptr<Protocol> make_floor() { return std::make_unique<Floor>(); }

std::string floor_reply() {
  constexpr uint32_t typical_key = 500'000;
  Buffer out;
  make_handlersocket()->write_right_reply({Workload::point, {typical_key}}, out);
  return std::string(out.view());
}

}  // namespace rowsocket::bench
