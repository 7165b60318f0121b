// SPDX-License-Identifier: GPL-2.0-only
//
// Any requests at all, as if a wire protocol checked next to nothing: bytes become requests, alone and in
// groups, with wild ids, counts, key parts, ends, clauses and values, over a memory engine with faults. Every
// request must get exactly one reply (a group one for each of its lines), in its connection's order, and
// nothing may be left staged or locked.
//
// What every parser promises is kept, since exec relies on it: rows of an insert have as many values each, a
// list of whole keys holds whole keys, positions are in a row, rows stand alone only where outcomes are
// replied, and a group holds no other group.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <list>
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
  bool coin() { return byte() % 2 == 1; }
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
    if (choice % 16 == 14) {
      return Value::now();
    }
    return choice % 16 == 15 ? Value() : Value(texts[choice % std::size(texts)]);
  }

 private:
  std::string_view rest_;
};

/// A request as a parser could make it, apart from what exec checks itself, and what it views.
struct OwnedRequest {
  Request request;
  std::vector<Value> values, end_values, in_values, new_values;
  std::vector<Filter> filters;
  std::vector<uint32_t> set_on_duplicate, add_on_duplicate;
  std::list<OwnedRequest> of_members;
  std::vector<Request> members;

  explicit OwnedRequest(Bytes& bytes) { choose(bytes.choice(RequestKind::group), bytes); }

 private:
  OwnedRequest(RequestKind kind, Bytes& bytes) { choose(kind, bytes); }

  void choose(RequestKind kind, Bytes& bytes) {
    request.kind = kind;
    request.parse_error = bytes.byte() == 255 ? ErrorCode::syntax : ErrorCode::none;
    request.index_id = static_cast<uint32_t>(bytes.number());
    switch (kind) {
      case RequestKind::unknown:
        break;
      case RequestKind::open_index:
        choose_names(bytes);
        break;
      case RequestKind::find:
        choose_range(bytes);
        choose_in_list(bytes);
        choose_filters(bytes);
        choose_modification(bytes);
        break;
      case RequestKind::insert:
        choose_rows(bytes);
        break;
      case RequestKind::authenticate:
        request.authentication_type = static_cast<uint32_t>(bytes.number());
        request.secret = bytes.value();
        break;
      case RequestKind::group:
        choose_members(bytes);
        break;
    }
  }

  static constexpr std::string_view columns[] = {"a,b,id", "id,a,b", "", "a", "b,b", ",", "missing", "a,"};

  static void fill(std::vector<Value>& values, Bytes& bytes, size_t count) {
    for (size_t left = count; left > 0; --left) {
      values.push_back(bytes.value());
    }
  }
  void choose_range(Bytes& bytes) {
    request.key_operator = bytes.choice(KeyOperator::starts_with);
    fill(values, bytes, bytes.byte() % 4);
    request.values = values;
    request.has_end = bytes.coin();
    request.end_operator = bytes.choice(KeyOperator::starts_with);
    fill(end_values, bytes, bytes.byte() % 4);
    request.end_values = end_values;
    request.reverse = bytes.coin();
    request.limit = bytes.number();
    request.offset = bytes.number();
  }
  void choose_in_list(Bytes& bytes) {
    request.has_in_list = bytes.coin();
    request.lists_whole_keys = bytes.coin();
    request.in_key_part = static_cast<uint32_t>(bytes.number());
    request.limit_per_value = bytes.number();
    const size_t stride = request.lists_whole_keys ? values.size() : 1;
    fill(in_values, bytes, bytes.byte() % 5 * stride);
    request.in_values = in_values;
  }
  void choose_filters(Bytes& bytes) {
    for (int left = bytes.byte() % 4; left > 0; --left) {
      filters.push_back({bytes.coin(), bytes.choice(Comparison::greater_or_equal),
                         static_cast<uint32_t>(bytes.number()), bytes.value()});
    }
    request.filters = filters;
  }
  void choose_modification(Bytes& bytes) {
    choose_columns(bytes);
    request.modification = bytes.choice(Modification::decrement);
    request.reply = bytes.choice(FindReply::count);
    if (request.modification == Modification::none || request.modification == Modification::remove) {
      request.reply = request.reply == FindReply::rows_after ? FindReply::rows : request.reply;
      return;
    }
    fill(new_values, bytes, bytes.byte() % 5);
    request.new_values = new_values;
  }
  void choose_rows(Bytes& bytes) {
    const size_t value_count = bytes.byte() % 5;
    request.reply_outcomes = bytes.coin();
    request.row_count = request.reply_outcomes ? 1 + bytes.byte() % 4 : 1;
    request.rows_alone = request.reply_outcomes && bytes.coin();
    fill(values, bytes, value_count * request.row_count);
    request.values = values;
    if (!request.reply_outcomes) {
      return;
    }
    choose_columns(bytes);
    request.on_duplicate = bytes.choice(OnDuplicate::update);
    for (uint32_t position = 0; request.on_duplicate == OnDuplicate::update && position < value_count;
         ++position) {
      (bytes.coin() ? set_on_duplicate : add_on_duplicate).push_back(position);
    }
    request.set_on_duplicate = set_on_duplicate;
    request.add_on_duplicate = add_on_duplicate;
  }
  void choose_members(Bytes& bytes) {
    static constexpr RequestKind kinds[] = {RequestKind::find, RequestKind::insert, RequestKind::find,
                                            RequestKind::unknown};
    request.must_change = bytes.coin();
    request.wants_gtid = bytes.coin();
    for (int left = bytes.byte() % 5; left > 0; --left) {
      members.push_back(of_members.emplace_back(OwnedRequest(kinds[bytes.byte() % 4], bytes)).request);
    }
    request.members = members;
  }
  void choose_columns(Bytes& bytes) {
    request.has_columns = bytes.byte() % 4 == 3;
    request.columns = request.has_columns ? columns[bytes.byte() % std::size(columns)] : "";
  }
  void choose_names(Bytes& bytes) {
    static constexpr std::string_view tables[] = {"t", "t", "t", "u", "missing", ""};
    static constexpr std::string_view indexes[] = {"", "by_a", "by_b", "0", "1", "9", "missing", "PRIMARY"};
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
  size_t lines = 0;  ///< of replies, that this turn's requests are to have
};

size_t reply_lines(const Request& request) {
  return request.kind == RequestKind::group ? request.members.size() + 2 : 1;
}

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

class World {
 public:
  World() {
    using namespace engine::memory;
    engine_.create_table(
        "d.t", {.columns = {auto_increment("id"), integer("a"), nullable(integer("b"))},
                .indexes = {{"PRIMARY", {"id"}, true}, {"by_a", {"a", "b"}}, {"by_b", {"b"}, true}}});
    engine_.create_table("d.u",
                         {.columns = {text("a", 4), with_default(integer("b"), "7"), nullable(text("id"))},
                          .indexes = {{"PRIMARY", {"a"}, true}, {"by_b", {"b"}}},
                          .has_transactions = false});
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
        connection.lines += reply_lines(request);
      } else {
        require(connection.out.size() == size_before);
      }
    }
    executor_->end_turn();
    require(executor_->nothing_staged() && !session_->transaction_lost());
    for (Connection& connection : connections_) {
      const std::string_view text = connection.out.view();
      require(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) == connection.lines);
      connection.out.clear();
      connection.lines = 0;
    }
  }

 private:
  void arm(Bytes& bytes) {
    const uint8_t fault = bytes.byte();
    engine_.lose_transaction_at_write(1 + fault / 8 % 8, fault % 8 == 1 ? 1 + fault / 64 * 2 : 0);
    engine_.lose_transaction_at_read(1 + fault / 8 % 8, fault % 8 == 2 ? 1 + fault / 64 * 2 : 0);
    engine_.fail_commit(Error(ErrorCode::engine, fault % 2 == 0 ? 149 : 135),
                        fault % 8 == 3 ? 1 + fault / 64 : 0);
    engine_.set_busy("d.t", fault % 8 == 4);
    if (fault % 8 == 5) {
      engine_.fail_write(1 + fault / 8 % 8, Error(ErrorCode::engine, fault < 128 ? 151 : 146));
    }
    if (fault == 255) {
      engine_.make_transactions_long();
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
