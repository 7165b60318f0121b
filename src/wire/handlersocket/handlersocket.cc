// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/handlersocket.h"

#include "wire/handlersocket/parser.h"
#include "wire/handlersocket/reply.h"

namespace rowsocket::wire::handlersocket {
namespace {

class HandlersocketProtocol final : public Protocol {
 public:
  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    return parse_request(input, parsing);
  }

  void refuse_stream(Buffer& out, const Error& error, const Settings& settings) const override {
    LineReply(out, settings.error_detail).failed(error);
  }
};

}  // namespace

const Protocol& handlersocket_protocol() {
  static const HandlersocketProtocol protocol;
  return protocol;
}

}  // namespace rowsocket::wire::handlersocket
