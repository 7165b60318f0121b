// SPDX-License-Identifier: GPL-2.0-only
//
// One request to the storage engine as SQL: what the cursor does to rows can be tested before a protocol can
// ask for it. A plugin of its own, for tests; it serves no clients.
//
//   INSTALL SONAME 'rowsocket_cursor_probe';
//   CREATE FUNCTION rowsocket_cursor RETURNS STRING SONAME 'rowsocket_cursor_probe.so';
//   SELECT rowsocket_cursor('table=shop.item', 'columns=name,stock', 'key=7', 'append 0=s', 'add 1=-1');
//
// Each argument is a word, `=` and a value; the number behind a word is a column's position. A value `NULL`
// is NULL.
//
//   table, index, columns, filter_columns    what is opened; index and filter_columns may be missing
//   filter N MISMATCH COMPARISON             a condition on a filter column
//   key                                      a find: the value of the next key part; rows that are equal to
//   it OPERATION N                              of a find: an assignment keeps_signs of a find: see Change
//   insert ON_DUPLICATE                      an insert of the value, and of those of each further `insert`
//   on_duplicate OPERATION N                 of an insert: a change of the row that is there. The argument's
//   value is nothing tells_row                                of an insert
//
// The result is what came of it, and the row: "changed|pens|6", "refused|pen|7", "inserted 1|pen|7" (rows
// affected), the verdict of a filter ("skip"), "no row", or "error not_a_number 0". The request runs in a
// session and a thread of its own.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mariadb/engines.h"
#include "mariadb/session.h"
#include "mariadb/tool_plugin.h"

namespace rowsocket::mariadb {
namespace {

using engine::Begin;
using engine::Intent;
using engine::Step;
using engine::Verdict;

template <typename Choice>
struct Named {
  std::string_view name;
  Choice choice;
};

constexpr std::array operations = {Named{"set", Operation::set},
                                   Named{"add", Operation::add},
                                   Named{"subtract", Operation::subtract},
                                   Named{"add_wrapping", Operation::add_wrapping},
                                   Named{"subtract_to_zero", Operation::subtract_to_zero},
                                   Named{"append", Operation::append},
                                   Named{"prepend", Operation::prepend}};
constexpr std::array comparisons = {Named{"equal", Comparison::equal}, Named{"greater", Comparison::greater},
                                    Named{"greater_or_unset", Comparison::greater_or_unset}};
constexpr std::array mismatches = {Named{"skip", Mismatch::skip}, Named{"stop", Mismatch::stop},
                                   Named{"refuse", Mismatch::refuse}};
constexpr std::array duplicates = {Named{"fail", OnDuplicate::fail}, Named{"keep", OnDuplicate::keep},
                                   Named{"replace", OnDuplicate::replace},
                                   Named{"change", OnDuplicate::change}};

/// The next word of `text`.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

uint32_t take_number(std::string_view& text) {
  return static_cast<uint32_t>(std::stoul(std::string(take_word(text))));
}

template <typename Choices>
const auto* find(const Choices& choices, std::string_view name) {
  const auto found =
      std::find_if(choices.begin(), choices.end(), [name](const auto& named) { return named.name == name; });
  return found == choices.end() ? nullptr : &*found;
}

struct Command {
  engine::SelectionDescription description;
  std::vector<Filter> filters;
  std::vector<Value> key;
  std::vector<Assignment> assignments;
  bool keeps_signs = false;
  std::vector<Value> values;
  std::vector<DuplicateChange> duplicate_changes;
  engine::RowToInsert row = {};

  /// False if the argument is none. It is viewed, and outlives the command.
  bool add(std::string_view argument);
};

bool Command::add(std::string_view argument) {
  const size_t equals = argument.find('=');
  std::string_view words = argument.substr(0, equals);
  const std::string_view text = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
  const Value value = text == "NULL" ? Value() : Value(text);
  const std::string_view word = take_word(words);
  if (word == "table") {
    description.database = text.substr(0, text.find('.'));
    description.table = text.substr(text.find('.') + 1);
  } else if (word == "index") {
    description.index = text;
  } else if (word == "columns") {
    description.columns = text;
  } else if (word == "filter_columns") {
    description.filter_columns = text;
  } else if (word == "filter") {
    const uint32_t column = take_number(words);
    const auto* const mismatch = find(mismatches, take_word(words));
    const auto* const comparison = find(comparisons, take_word(words));
    if (mismatch == nullptr || comparison == nullptr) {
      return false;
    }
    filters.push_back({mismatch->choice, comparison->choice, column, value});
  } else if (word == "key") {
    key.push_back(value);
  } else if (word == "keeps_signs") {
    keeps_signs = true;
  } else if (word == "tells_row") {
    row.tells_row = true;
  } else if (word == "insert") {
    if (const auto* const on_duplicate = find(duplicates, take_word(words))) {
      row.on_duplicate = on_duplicate->choice;
    }
    values.push_back(value);
  } else {
    const bool is_of_duplicate = word == "on_duplicate";
    const auto* const operation = find(operations, is_of_duplicate ? take_word(words) : word);
    if (operation == nullptr) {
      return false;
    }
    const uint32_t column = take_number(words);
    if (is_of_duplicate) {
      duplicate_changes.push_back({column, operation->choice});
    } else {
      assignments.push_back({column, operation->choice, value});
    }
  }
  return true;
}

std::string text_of(const Error& error) {
  return "error " + std::string(error_name(error.code)) + " " + std::to_string(error.number);
}

std::string current_row(engine::Cursor& cursor) {
  static constexpr ValueFormat format = {.separator = '|', .null_token = "NULL"};
  Buffer out;
  ValueWriter writer(out, format);
  cursor.write_row(writer);
  return std::string(out.view());
}

Error insert(engine::Cursor& cursor, const Command& command, std::string& result) {
  engine::RowToInsert row = command.row;
  row.values = command.values;
  row.duplicate_changes = command.duplicate_changes;
  row.filters_duplicates = !command.filters.empty();
  RowOutcome outcome{};
  Error error = cursor.insert_row(row, outcome);
  result = "inserted " + std::to_string(outcome.rows_affected) +
           (error.ok() && row.tells_row ? current_row(cursor) : "");
  return error;
}

Error change(engine::Cursor& cursor, const Command& command, std::string& result) {
  result = "no row";
  for (Step step = cursor.seek({.key = command.key}); step != Step::end; step = cursor.next()) {
    if (step == Step::failed) {
      return cursor.error();
    }
    if (step == Step::passing) {
      continue;
    }
    const Verdict verdict = cursor.verdict();
    if (verdict != Verdict::match) {
      result = verdict == Verdict::skip ? "skip" : verdict == Verdict::stop ? "stop" : "refuse";
      continue;
    }
    bool changed = false;
    if (Error error = cursor.change_row(command.assignments, command.keeps_signs, changed); !error.ok()) {
      return error;
    }
    result = (changed ? "changed" : "refused") + current_row(cursor);
  }
  return {};
}

std::string run(engine::Session& session, const Command& command) {
  std::shared_ptr<engine::Selection> index;
  engine::Cursor* cursor = nullptr;
  Error error;
  session.set_patient(true);
  if (session.open_selection(command.description, index, error) != Begin::ready ||
      session.begin_request(*index, Intent::write, cursor, error) != Begin::ready) {
    return text_of(error);
  }
  std::string result;
  error = cursor->set_filters(command.filters);
  if (error.ok()) {
    error = command.values.empty() ? change(*cursor, command, result) : insert(*cursor, command, result);
  }
  if (error.ok()) {
    error = session.end_request();
  } else {
    session.abandon_request();
  }
  Error commit_error = session.commit();
  return !error.ok() ? text_of(error) : !commit_error.ok() ? text_of(commit_error) : result;
}

std::string run(const Command& command) {
  std::string result = "no session";
  std::thread([&] {
    Engine engine;
    Counters counters;
    engine::SessionOptions options;
    options.intent = Intent::write;
    options.counters = &counters;
    options.wake = [] {};
    if (const auto session = engine.create_session(options)) {
      result = run(*session, command);
    }
  }).join();
  return result;
}

int load(void*) {
  if (!fits_server("rowsocket_cursor_probe")) {
    return 1;
  }
  set_engines_served(default_engines);
  return 0;
}

st_mysql_daemon daemon_info = {MYSQL_DAEMON_INTERFACE_VERSION};

}  // namespace
}  // namespace rowsocket::mariadb

ROWSOCKET_TOOL_PLUGIN(rowsocket_cursor_probe, MYSQL_DAEMON_PLUGIN, daemon_info,
                      "One request to RowSocket's engine as SQL, for tests", load, nullptr)

// The server finds these by name.
#pragma GCC visibility push(default)

extern "C" {

my_bool rowsocket_cursor_init(UDF_INIT* call, UDF_ARGS* arguments, char*) {
  std::fill_n(arguments->arg_type, arguments->arg_count, STRING_RESULT);
  call->ptr = reinterpret_cast<char*>(new std::string);
  return 0;
}

void rowsocket_cursor_deinit(UDF_INIT* call) { delete reinterpret_cast<std::string*>(call->ptr); }

char* rowsocket_cursor(UDF_INIT* call, UDF_ARGS* arguments, char*, unsigned long* length, unsigned char*,
                       unsigned char*) {
  std::string& result = *reinterpret_cast<std::string*>(call->ptr);
  rowsocket::mariadb::Command command;
  bool is_understood = true;
  for (uint i = 0; i < arguments->arg_count; ++i) {
    is_understood = is_understood && command.add({arguments->args[i], arguments->lengths[i]});
  }
  result = is_understood ? run(command) : "error: an argument is not understood";
  *length = result.size();
  return result.data();
}
}
#pragma GCC visibility pop
