// SPDX-License-Identifier: GPL-2.0-only
//
// Any requests at all, as if a wire protocol checked nothing: bytes become requests with wild ids, counts, key parts and values,
// over a memory engine with faults. Every request must get exactly one reply, in its connection's order, and nothing may be left
// staged or locked.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/memory/memory_engine.h"
#include "exec/executor.h"
#include "exec/text_protocol.h"

namespace rowsocket::exec {
namespace {

/// Reads choices from the fuzzer's bytes; zeros when they are used up.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  uint8_t byte() {
    if (rest_.empty()) {
      return 0;
    }
    const auto first = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  /// Mostly small, sometimes the largest there is.
  uint64_t number() {
    const uint8_t choice = byte();
    return choice < 250 ? choice % 8 : UINT64_MAX - (choice - 250U);
  }
  template <typename Enum>
  Enum choice(Enum last) {
    return static_cast<Enum>(byte() % (static_cast<int>(last) + 1));
  }
  Value value() {
    static constexpr std::string_view texts[] = {"0",
                                                 "1",
                                                 "2",
                                                 "3",
                                                 "-1",
                                                 "7",
                                                 "x",
                                                 "",
                                                 "9223372036854775807",
                                                 "-9223372036854775808",
                                                 "99999999999999999999",
                                                 "+3",
                                                 "-",
                                                 "a longer text than the column takes"};
    const uint8_t choice = byte();
    return choice % 16 == 15 ? Value() : Value(texts[choice % std::size(texts)]);
  }

 private:
  std::string_view rest_;
};

struct OwnedRequest {
  Request request;
  std::vector<Value> values, in_values, new_values;
  std::vector<Filter> filters;

  explicit OwnedRequest(Bytes& bytes) {
    request.kind = bytes.choice(RequestKind::authenticate);
    request.parse_error = bytes.byte() == 255 ? ErrorCode::syntax : ErrorCode::none;
    request.index_id = static_cast<uint32_t>(bytes.number());
    if (request.kind == RequestKind::open_index) {
      choose_names(bytes);
    }
    fill(values, bytes);
    request.values = values;
    request.key_operator = bytes.choice(KeyOperator::at_or_before);
    request.modification = bytes.choice(Modification::decrement);
    request.reply = bytes.byte() % 2 == 0 ? FindReply::rows : FindReply::count;
    request.has_in_list = bytes.byte() % 2 == 0;
    request.in_key_part = static_cast<uint32_t>(bytes.number());
    request.limit = bytes.number();
    request.offset = bytes.number();
    fill(in_values, bytes);
    request.in_values = in_values;
    fill(new_values, bytes);
    request.new_values = new_values;
    for (int left = bytes.byte() % 4; left > 0; --left) {
      filters.push_back({bytes.byte() % 2 == 0, bytes.choice(Comparison::greater_or_equal), static_cast<uint32_t>(bytes.number()),
                         bytes.value()});
    }
    request.filters = filters;
    request.authentication_type = static_cast<uint32_t>(bytes.number());
    request.secret = bytes.value();
  }

 private:
  static void fill(std::vector<Value>& values, Bytes& bytes) {
    for (int left = bytes.byte() % 5; left > 0; --left) {
      values.push_back(bytes.value());
    }
  }
  void choose_names(Bytes& bytes) {
    static constexpr std::string_view tables[] = {"t", "t", "t", "u", "missing", ""};
    static constexpr std::string_view indexes[] = {"", "by_a", "by_b", "0", "1", "9", "missing", "PRIMARY"};
    static constexpr std::string_view columns[] = {"a,b,id", "id,a,b", "", "a", "b,b", ",", "missing", "a,"};
    request.open = {.database = "d",
                    .table = tables[bytes.byte() % std::size(tables)],
                    .index = indexes[bytes.byte() % std::size(indexes)],
                    .columns = columns[bytes.byte() % std::size(columns)],
                    .filter_columns = columns[bytes.byte() % std::size(columns)]};
  }
};

struct Connection {
  Connection(Access port_access, Access granted) : client(port_access, granted) {}
  Client client;
  Buffer out;
  size_t executed = 0;
};

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

class World {
 public:
  World() {
    using namespace engine::memory;
    engine_.create_table("d.t", {.columns = {auto_increment("id"), integer("a"), nullable(integer("b"))},
                                 .indexes = {{"PRIMARY", {"id"}, true}, {"by_a", {"a", "b"}}, {"by_b", {"b"}, true}}});
    engine_.create_table("d.u", {.columns = {text("a", 4), with_default(integer("b"), "7"), nullable(text("id"))},
                                 .indexes = {{"PRIMARY", {"a"}, true}, {"by_b", {"b"}}}});
    engine_.set_lock_wait_timeout_ms(3);
    engine::SessionOptions options;
    options.intent = engine::Intent::write;
    session_ = engine_.create_session(options);
    executor_ = std::make_unique<Executor>(*session_, counters_, Policy{"", "1", 256, 8});
    connections_.emplace_back(Access::write, Access::write);
    connections_.emplace_back(Access::write, Access::read);
    connections_.emplace_back(Access::read, Access::none);
  }

  void turn(Bytes& bytes) {
    std::deque<OwnedRequest> requests;
    arm(bytes);
    executor_->begin_turn(now_ms_++);
    for (int left = 1 + bytes.byte() % 8; left > 0 && !bytes.empty(); --left) {
      Connection& connection = connections_[bytes.byte() % connections_.size()];
      const Request& request = requests.emplace_back(bytes).request;
      const size_t size_before = connection.out.size();
      if (executor_->execute(connection.client, request, protocol_, connection.out) == Executed::done) {
        ++connection.executed;
      } else {
        require(connection.out.size() == size_before);
      }
    }
    executor_->end_turn();
    require(executor_->nothing_staged() && !session_->transaction_lost());
    for (Connection& connection : connections_) {
      const std::string_view text = connection.out.view();
      require(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) == connection.executed);
      connection.out.clear();
      connection.executed = 0;
    }
  }

 private:
  void arm(Bytes& bytes) {
    const uint8_t fault = bytes.byte();
    engine_.lose_transaction_at_write(1 + fault / 8 % 8, fault % 8 == 1 ? 1 + fault / 64 * 2 : 0);
    engine_.lose_transaction_at_read(1 + fault / 8 % 8, fault % 8 == 2 ? 1 + fault / 64 * 2 : 0);
    engine_.fail_commit(Error(ErrorCode::engine, fault % 2 == 0 ? 149 : 135), fault % 8 == 3 ? 1 + fault / 64 : 0);
    engine_.set_busy("d.t", fault % 8 == 4);
    if (fault % 8 == 5) {
      engine_.fail_write(1 + fault / 8 % 8, Error(ErrorCode::engine, 151));
    }
  }

  engine::memory::MemoryEngine engine_;
  Counters counters_;
  TextProtocol protocol_;
  std::unique_ptr<engine::Session> session_;
  std::unique_ptr<Executor> executor_;
  std::deque<Connection> connections_;
  uint64_t now_ms_ = 1;
};

}  // namespace
}  // namespace rowsocket::exec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rowsocket::exec;
  Bytes bytes(data, size);
  World world;
  while (!bytes.empty()) {
    world.turn(bytes);
  }
  return 0;
}
