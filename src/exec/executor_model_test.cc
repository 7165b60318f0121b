// SPDX-License-Identifier: GPL-2.0-only
//
// Random turns of random requests, alone and in groups, with and without faults, against the model: every
// reply and every committed state must be the model's.
#include "exec/executor_model_commands.h"
#include "exec/trail_fixture.h"

namespace rowsocket::exec::model {
namespace {

enum class Fault : uint8_t { none, deadlock_at_read, deadlock_at_write, deadlock_at_commit, failed_commit };

struct Turn {
  std::vector<Command> commands;
  Fault fault = Fault::none;
  int nth = 1;
};

std::ostream& operator<<(std::ostream& out, const Turn& turn) {
  out << "turn with fault " << static_cast<int>(turn.fault) << " at " << turn.nth << ":\n";
  for (const Command& command : turn.commands) {
    out << "  " << command << '\n';
  }
  return out;
}

rc::Gen<Turn> gen_turn() {
  return rc::gen::build<Turn>(rc::gen::set(&Turn::commands, gen_few(12, gen_command())),
                              rc::gen::set(&Turn::fault, gen_enum(Fault::failed_commit)),
                              rc::gen::set(&Turn::nth, rc::gen::inRange(1, 12)));
}

class ModelFixture : public ExecutorFixture {
 public:
  ModelFixture() {
    using engine::memory::integer;
    engine.create_table(
        "m.t", {.columns = {integer("id"), integer("shelf"), engine::memory::nullable(integer("stock"))},
                .indexes = {{"PRIMARY", {"id"}, true},
                            {"by_shelf", {"shelf"}},
                            {"by_stock", {"stock"}},
                            {"by_place", {"shelf", "stock"}, true}}});
    for (uint32_t id = 0; id < id_of_inserts; ++id) {
      RC_ASSERT(ask(connection, Ask::open(id, "m.t", std::to_string(id), "stock,shelf,id", "stock,shelf")) ==
                "ok");
    }
    for (int id = 0; id < 6; ++id) {
      model.items.push_back({id == 4 ? Number() : Number(id), id % 3, id});
    }
    for (const Row& row : rows_of_model()) {
      RC_ASSERT(engine.insert("m.t", row));
    }
    RC_ASSERT(ask(connection, Ask::open(id_of_inserts, "m.t", "", "id,shelf,stock")) == "ok");
    engine.tell(&trail);
  }

  void arm(const Turn& turn) {
    const auto nth = static_cast<uint32_t>(turn.nth);
    engine.lose_transaction_at_read(nth, turn.fault == Fault::deadlock_at_read ? 1 : 0);
    engine.lose_transaction_at_write(nth, turn.fault == Fault::deadlock_at_write ? 1 : 0);
    const bool commit_fails = turn.fault == Fault::deadlock_at_commit || turn.fault == Fault::failed_commit;
    engine.fail_commit(Error(ErrorCode::engine, turn.fault == Fault::failed_commit ? 135 : 149),
                       commit_fails ? 1 : 0);
  }

  /// What the model says of a turn whose commit fails for good: writes fail, reads after the first write see
  /// none of them.
  Lines replies_of_failed_commit(const std::vector<Command>& commands) {
    Lines expected;
    int changes = 0;
    for (const Command& command : commands) {
      if (!command.writes() || command.is_refused()) {
        append(expected, model.execute(command, changes));
      } else {
        append(expected, Lines(command.kind == RequestKind::group ? 1 : 0, "ok"));
        append(expected, Lines(command.kind == RequestKind::group ? command.members.size() + 1 : 1,
                               "error engine 135"));
      }
    }
    return expected;
  }
  static void append(Lines& lines, const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); }

  void run(const Turn& turn) {
    arm(turn);
    const Model before = model;
    int changes = 0;
    Lines expected;
    std::vector<Ask> asks;
    for (const Command& command : turn.commands) {
      append(expected, model.execute(command, changes));
      asks.push_back(ask_of(command));
    }
    if (turn.fault == Fault::failed_commit && changes > 0) {
      model = before;
      expected = replies_of_failed_commit(turn.commands);
    }
    trail.take();
    RC_ASSERT(ExecutorFixture::turn(connection, asks) == expected);
    RC_ASSERT(trail.open_entries == 0);
    RC_ASSERT(trail.count("received") == asks.size());
    RC_ASSERT(trail.count("ended") == asks.size());
    RC_ASSERT(engine.rows("m.t") == rows_of_model());
  }

  [[nodiscard]] std::vector<Row> rows_of_model() const {
    std::vector<Item> items = model.items;
    std::sort(items.begin(), items.end(),
              [](const Item& left, const Item& right) { return left.id < right.id; });
    std::vector<Row> rows;
    for (const Item& item : items) {
      rows.push_back({cell(item.id), cell(item.shelf), cell(item.stock)});
    }
    return rows;
  }

  Connection& connection = connect();
  Model model;
  RecordingTrail trail;
};

RC_GTEST_PROP(ExecutorModelTest, every_reply_and_every_committed_row_is_the_models, ()) {
  const auto turns = *gen_few(8, gen_turn());
  ModelFixture fixture;
  for (const Turn& turn : turns) {
    fixture.run(turn);
  }
}

}  // namespace
}  // namespace rowsocket::exec::model
