// SPDX-License-Identifier: GPL-2.0-only
#include "engine/conformance/contract.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "base/buffer.h"
#include "request/value_writer.h"

namespace rowsocket::engine::conformance {
namespace {

constexpr ValueFormat words = {.separator = ' ', .null_token = "NULL"};
constexpr const char* database = "d";

EngineUnderTest* under_test = nullptr;

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::vector<TableKind> kinds_where(const std::function<bool(const TableKind&)>& condition) {
  std::vector<TableKind> kinds;
  for (const TableKind& kind : under_test->kinds()) {
    if (condition(kind)) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

}  // namespace

void PrintTo(const TableKind& kind, std::ostream* out) { *out << kind.name; }

void set_engine_under_test(EngineUnderTest& engine) { under_test = &engine; }

std::vector<TableKind> every_kind() { return under_test->kinds(); }
std::vector<TableKind> kinds_with_transactions() {
  return kinds_where([](const TableKind& kind) { return kind.has_transactions; });
}
std::vector<TableKind> kinds_without_transactions() {
  return kinds_where([](const TableKind& kind) { return !kind.has_transactions; });
}
std::vector<TableKind> lenient_kinds() {
  return kinds_where([](const TableKind& kind) { return kind.is_lenient; });
}
std::string name_of_kind(const testing::TestParamInfo<TableKind>& kind) { return kind.param.name; }

Texts::Texts(std::initializer_list<const char*> texts) {
  for (const char* const text : texts) {
    values_.push_back(text == nullptr ? Value() : Value(std::string_view(text)));
  }
}

SelectionDescription item(std::string index, std::string filter_columns) {
  return {database, "item", std::move(index), "id,name,stock", std::move(filter_columns)};
}

std::string row_of(Cursor& cursor) {
  Buffer out;
  ValueWriter writer(out, words);
  cursor.write_row(writer);
  return std::string(out.view().substr(std::min<size_t>(1, out.size())));
}

bool repeat_until(const std::function<bool()>& condition, const std::function<void()>& thing) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    thing();
  }
  return true;
}

// ---- a client

Client::Client(Engine& engine, Intent intent) {
  SessionOptions options;
  options.intent = intent;
  options.counters = &counters_;
  options.wake = [this] { ++wakes_; };
  session_ = engine.create_session(options);
}

Client::~Client() = default;

Selection& Client::open(const SelectionDescription& description) {
  std::shared_ptr<Selection> index;
  Error error;
  const Begin begin = session_->open_selection(description, index, error);
  if (begin != Begin::ready) {
    throw std::runtime_error("open_index: " + std::string(error.detail()));
  }
  opened_.push_back(index);
  return *index;
}

ErrorCode Client::failure_to_open(const SelectionDescription& description) {
  std::shared_ptr<Selection> index;
  Error error;
  EXPECT_EQ(session_->open_selection(description, index, error), Begin::failed);
  return error.code;
}

Cursor& Client::begin(Selection& index, Intent intent) {
  Cursor* cursor = nullptr;
  Error error;
  const Begin begin = session_->begin_request(index, intent, cursor, error);
  if (begin != Begin::ready) {
    throw std::runtime_error("begin_request is not ready: " + std::string(error.detail()));
  }
  return *cursor;
}

Begin Client::tries(Selection& index, Intent intent, Error& error) {
  Cursor* cursor = nullptr;
  const Begin begin = session_->begin_request(index, intent, cursor, error);
  if (begin == Begin::ready) {
    session_->abandon_request();
  }
  return begin;
}

Begin Client::tries(Selection& index, Intent intent) {
  Error error;
  return tries(index, intent, error);
}

Error Client::request(Selection& index, Intent intent, const Action& action) {
  Cursor* cursor = nullptr;
  Error error;
  const Begin begin = session_->begin_request(index, intent, cursor, error);
  if (begin != Begin::ready) {
    return begin == Begin::failed ? error : Error(ErrorCode::cannot_lock_table, "it is to wait");
  }
  error = action(*cursor);
  if (error.ok()) {
    return session_->end_request();
  }
  session_->abandon_request();
  return error;
}

Error Client::insert(const Texts& values, Intent intent) {
  return request(open(), intent, [&values](Cursor& cursor) {
    RowOutcome outcome{};
    return insert_row(cursor, values, {}, outcome);
  });
}

std::string Client::insert_into(Selection& index, const Texts& values, const Duplicates& duplicates) {
  RowOutcome outcome{};
  const Error error = request(
      index, Intent::write, [&](Cursor& cursor) { return insert_row(cursor, values, duplicates, outcome); });
  if (!error.ok()) {
    return "error " + std::to_string(error.number);
  }
  const std::string id =
      outcome.id_is_negative ? std::to_string(static_cast<int64_t>(outcome.id)) : std::to_string(outcome.id);
  return std::to_string(outcome.rows_affected) + (outcome.has_id ? "#" + id : "");
}

Error Client::on_row(Selection& index, const char* id, Intent intent, const Action& action) {
  return request(index, intent, [&](Cursor& cursor) {
    const Texts key{id};
    switch (cursor.seek({.key_operator = KeyOperator::equal, .key = key})) {
      case Step::row:
        return action(cursor);
      case Step::failed:
        return cursor.error();
      case Step::end:
        break;
    }
    return Error(ErrorCode::nothing_changed, "there is no such row");
  });
}

Error Client::set_stock(const char* id, const char* stock, Intent intent) {
  Selection& index = open({database, "item", "", "stock", ""});
  return on_row(index, id, intent, [stock](Cursor& cursor) { return set_columns(cursor, Texts{stock}); });
}

Error Client::remove(const char* id) {
  return on_row(open(), id, Intent::write, [](Cursor& cursor) { return delete_row(cursor); });
}

std::string Client::rows(Selection& index, const Range& range) {
  std::vector<std::string> found;
  const Error error = request(index, Intent::read, [&](Cursor& cursor) {
    Step step = cursor.seek(range.range());
    for (; step == Step::row; step = cursor.next()) {
      found.push_back(row_of(cursor));
    }
    return step == Step::failed ? cursor.error() : Error();
  });
  return error.ok() ? joined(found)
                    : "error " + std::to_string(error.number) + " " + std::string(error.detail());
}

std::string Client::ids(Selection& index, const Range& range) {
  std::string ids;
  std::string text = rows(index, range);
  for (size_t begin = 0; begin < text.size(); begin = std::min(text.find(", ", begin), text.size() - 2) + 2) {
    ids += (ids.empty() ? "" : " ") + text.substr(begin, text.find(' ', begin) - begin);
  }
  return ids;
}

std::string Client::stock(const char* id) {
  std::string stock = "none";
  Selection& index = open({database, "item", "", "stock", ""});
  const Error error = on_row(index, id, Intent::read, [&stock](Cursor& cursor) {
    stock = row_of(cursor);
    return Error();
  });
  return error.code == ErrorCode::cannot_lock_table || error.reason == Reason::row_locked ? "later" : stock;
}

Begin Client::begin_group(std::initializer_list<GroupMember> members, size_t& failed_member, Error& error) {
  return session_->begin_group({members.begin(), members.size()}, failed_member, error);
}

void Client::begin_group(std::initializer_list<GroupMember> members) {
  size_t failed_member = 0;
  Error error;
  Begin begin = begin_group(members, failed_member, error);
  if (begin == Begin::commit_first) {
    commit();
    begin = begin_group(members, failed_member, error);
  }
  if (begin != Begin::ready) {
    throw std::runtime_error("begin_group is not ready: " + std::string(error.detail()));
  }
}

void Client::commit() {
  const Error error = session_->commit();
  EXPECT_TRUE(error.ok()) << error.detail();
}

void Client::sleep() {
  commit();
  session_->yield_tables();
  session_->release_tables();
}

// ---- somebody

Somebody::Somebody(Engine& engine, Intent intent)
    : thread_([this, &engine, intent] { live(engine, intent); }) {}

Somebody::~Somebody() {
  {
    const MutexLock lock(mutex_);
    leaves_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::future<void> Somebody::begins(Deed deed) {
  std::packaged_task<void(Client&)> task(std::move(deed));
  std::future<void> done = task.get_future();
  {
    const MutexLock lock(mutex_);
    deeds_.push_back(std::move(task));
  }
  changed_.notify_one();
  return done;
}

void Somebody::live(Engine& engine, Intent intent) {
  Client client(engine, intent);
  MutexLock lock(mutex_);
  while (true) {
    while (!leaves_ && deeds_.empty()) {
      changed_.wait(lock);
    }
    if (deeds_.empty()) {
      return;
    }
    std::packaged_task<void(Client&)> deed = std::move(deeds_.front());
    deeds_.erase(deeds_.begin());
    lock.unlock();
    deed(client);
    lock.lock();
  }
}

// ---- the fixture

Contract::Contract() : host_(under_test->create_host()) {
  create_table("d.item", {.columns = {memory::integer("id"), memory::text("name", 4),
                                      memory::nullable(memory::integer("stock"))},
                          .indexes = {{"PRIMARY", {"id"}, true},
                                      {"by_name", {"name"}, true},
                                      {"by_stock_name", {"stock", "name"}}}});
  host().insert("d.item", {"1", "cap", "20"});
  host().insert("d.item", {"2", "pen", "10"});
  host().insert("d.item", {"3", "cup", "20"});
  host().insert("d.item", {"4", "box", std::nullopt});
}

Contract::~Contract() = default;

Client& Contract::client() {
  if (client_ == nullptr) {
    client_ = std::make_unique<Client>(host().engine(), Intent::write);
  }
  return *client_;
}

Client& Contract::client_that_reads() {
  client_.reset();
  client_ = std::make_unique<Client>(host().engine(), Intent::read);
  return *client_;
}

SelectionDescription Contract::create_numbered() {
  create_table("d.numbered", {.columns = {memory::auto_increment("id"), memory::text("name", 40),
                                          memory::with_default(memory::integer("stock"), "7")},
                              .indexes = {{"PRIMARY", {"id"}, true}, {"by_name", {"name"}, true}}});
  return {database, "numbered", "", "id,name,stock", ""};
}

void Contract::create_copied(const std::string& to, const TableKind& kind_of_copies) {
  TableDefinition ids{.columns = {memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}};
  host().create_table(to, ids, kind_of_copies);
  ids.copies_to = to;
  create_table("d.copied", ids);
}

Error Contract::insert_copied(const char* id) {
  return client().request(client().open({database, "copied", "", "id", ""}), Intent::write,
                          [id](Cursor& cursor) {
                            RowOutcome outcome{};
                            return insert_row(cursor, Texts{id}, {}, outcome);
                          });
}

std::string Contract::rows(const std::string& table) {
  std::vector<std::string> texts;
  for (const Row& row : host().rows(table)) {
    std::string text;
    for (const memory::Cell& cell : row) {
      text += (text.empty() ? "" : " ") + cell.value_or("NULL");
    }
    texts.push_back(text);
  }
  return joined(texts);
}

}  // namespace rowsocket::engine::conformance
