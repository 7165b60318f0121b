// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/handlersocket.h"

#include "wire/handlersocket/parser.h"
#include "wire/handlersocket/reply.h"

namespace rowsocket::wire::handlersocket {
namespace {

class HandlersocketProtocol final : public Protocol {
 public:
  [[nodiscard]] std::string_view name() const override { return "handlersocket"; }

  [[nodiscard]] Parsed parse(std::string_view input, const ParseLimits& limits, Arena& arena, size_t& scanned_bytes,
                             Request& request) const override {
    return parse_request(input, limits, arena, scanned_bytes, request);
  }

  void reply_ok(Buffer& out) const override { append_ok(out); }
  void reply_number(Buffer& out, uint64_t number) const override { append_number(out, number); }
  void reply_text(Buffer& out, std::string_view text) const override { append_text(out, text); }
  void append_outcome(Buffer& out, const RowOutcome& outcome) const override { append_row_outcome(out, outcome); }
  void begin_rows(Buffer& out, size_t column_count) const override { append_rows_begin(out, column_count); }
  void end_rows(Buffer& out) const override { append_rows_end(out); }
  void reply_error(Buffer& out, const Error& error, bool with_detail) const override { append_error(out, error, with_detail); }
  [[nodiscard]] const ValueFormat& value_format() const override { return reply_value_format; }
};

}  // namespace

const Protocol& handlersocket_protocol() {
  static const HandlersocketProtocol protocol;
  return protocol;
}

}  // namespace rowsocket::wire::handlersocket
