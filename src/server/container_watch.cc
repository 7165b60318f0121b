// SPDX-License-Identifier: GPL-2.0-only
#include "server/container_watch.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/buffer.h"
#include "base/limits.h"
#include "request/value_writer.h"
#include "server/thread.h"

namespace rowsocket::server {
namespace {

using engine::Begin;
using engine::Step;

constexpr ValueFormat plain_format = {.framing = ValueFormat::Framing::bare};

engine::SelectionDescription description_of(const std::string& table) {
  const size_t dot = std::min(table.find('.'), table.size());
  return {.database = table.substr(0, dot),
          .table = table.substr(std::min(dot + 1, table.size())),
          .index = "",
          .columns = std::string(container_table_columns),
          .filter_columns = ""};
}

std::string text_of(const Error& error) {
  std::string text(error_name(error.code));
  if (error.number != 0) {
    text += " " + std::to_string(error.number);
  }
  if (!error.detail().empty()) {
    text.append(": ").append(error.detail());
  }
  return text;
}

/// The row that the cursor stands on. False if it is larger than any that is taken.
bool read_row(engine::Cursor& cursor, Buffer& bytes, ContainerFields& fields) {
  std::array<ColumnEnd, container_field_count> ends{};
  bytes.clear();
  ValueWriter writer(bytes, plain_format, {.ends = ends.data()});
  cursor.write_row(writer);
  if (bytes.failed()) {
    return false;
  }
  size_t begin = 0;
  for (size_t field = 0; field < container_field_count; ++field) {
    const size_t end = ends[field].bytes;
    fields[field] =
        ends[field].is_null ? std::string() : std::string(bytes.view().substr(begin, end - begin));
    begin = end;
  }
  return true;
}

Error read_rows(engine::Cursor& cursor, ContainerReading& reading) {
  const Value before_all{std::string_view()};
  const KeyRange range{.key_operator = KeyOperator::at_or_after, .key = {&before_all, 1}};
  Buffer bytes(container_field_count * limits::container_field_bytes_max);
  for (Step step = cursor.seek(range); step != Step::end; step = cursor.next()) {
    if (step == Step::failed) {
      return cursor.error();
    }
    if (step == Step::passing) {
      continue;
    }
    ContainerFields fields;
    if (reading.rows.size() == limits::containers_max) {
      reading.has_surplus = true;
      break;
    }
    if (read_row(cursor, bytes, fields)) {
      reading.rows.push_back(std::move(fields));
    } else {
      reading.has_surplus = true;
    }
  }
  return {};
}

Begin read_once(engine::Session& session, const std::string& table, ContainerReading& reading, Error& error) {
  std::shared_ptr<engine::Selection> selection;
  if (const Begin begin = session.open_selection(description_of(table), selection, error);
      begin != Begin::ready) {
    return begin;
  }
  engine::Cursor* cursor = nullptr;
  if (const Begin begin = session.begin_request(*selection, engine::Intent::read, cursor, error);
      begin != Begin::ready) {
    return begin;
  }
  try {
    error = read_rows(*cursor, reading);
  } catch (...) {
    session.abandon_request();
    throw;
  }
  if (error.ok()) {
    error = session.end_request();
  } else {
    session.abandon_request();
  }
  return error.ok() ? Begin::ready : Begin::failed;
}

}  // namespace

bool read_containers(engine::Session& session, const std::string& table, ContainerReading& reading) {
  Error error;
  const Begin begin = read_once(session, table, reading, error);
  if (begin == Begin::ready) {
    error = session.commit();
  }
  session.rollback();  // what is not committed
  session.release_tables();
  if (begin == Begin::wait || begin == Begin::commit_first || error.reason == Reason::row_locked) {
    return false;
  }
  if (!error.ok()) {
    reading = {.rows = {}, .problem = "rowsocket_containers=" + table + ": " + text_of(error)};
  }
  return true;
}

ContainerWatch::ContainerWatch(Surroundings surroundings, std::string table)
    : engine_(surroundings.engine),
      settings_board_(surroundings.settings_board),
      published_(std::move(surroundings.published)),
      table_(std::move(table)),
      log_(surroundings.log, surroundings.clock, "rowsocket-c") {}

ContainerWatch::~ContainerWatch() {
  request_stop();
  join();
}

bool ContainerWatch::start(std::string& failure) {
  if (!wakeup_.valid() || !poller_.change(wakeup_.fd(), net::Interest::none, net::Interest::input, nullptr)) {
    failure = "can not watch rowsocket_containers: the process is out of file descriptors";
    return false;
  }
  return start_thread(thread_, "rowsocket-c", [this] { run(); }, failure);
}

void ContainerWatch::request_stop() {
  stop_requested_.store(true, std::memory_order_release);
  wakeup_.notify();
}

void ContainerWatch::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

/// Whatever goes wrong on this thread ends here.
void ContainerWatch::run() {
  try {
    const auto session = engine_.create_session(
        {.intent = engine::Intent::read, .worker_number = 0, .counters = &counters_, .wake = [this] {
           wakeup_.notify();
         }});
    if (session != nullptr) {
      session->set_activity("rowsocket: watches the table of containers");
      watch(*session);
    }
  } catch (const std::exception& error) {
    log_.always(LogLevel::error, error.what());
  } catch (...) {
    log_.always(LogLevel::error, "ends after an unknown exception");
  }
}

void ContainerWatch::watch(engine::Session& session) {
  while (goes_on(session)) {
    try {
      look(session);
    } catch (const std::bad_alloc&) {
      log_.limited(LogLevel::error, "keeps its old containers for now: no memory for the new ones");
    }
    if (!poller_.wait(limits::containers_interval_ms).empty()) {
      wakeup_.drain();
    }
  }
}

bool ContainerWatch::goes_on(engine::Session& session) {
  if (stop_requested_.load(std::memory_order_acquire)) {
    return false;
  }
  switch (session.interruption()) {
    case engine::Interruption::none:
      return true;
    case engine::Interruption::close_connections:
      session.clear_interruption();
      return true;
    case engine::Interruption::stop:
      return false;
  }
  return false;
}

void ContainerWatch::look(engine::Session& session) {
  ContainerReading reading;
  if (!read_containers(session, table_, reading)) {
    return;
  }
  if (has_looked_ && reading == last_) {
    return;
  }
  publish(reading);
  last_ = std::move(reading);
  has_looked_ = true;
}

void ContainerWatch::publish(const ContainerReading& reading) {
  std::vector<std::unique_ptr<const Container>> all;
  all.reserve(reading.rows.size());
  for (const ContainerFields& fields : reading.rows) {
    all.push_back(std::make_unique<const Container>(fields));
    if (!all.back()->problem.empty()) {
      log_.limited(LogLevel::warning,
                   "container '" + all.back()->name + "' is not served: " + all.back()->problem);
    }
  }
  const size_t count = all.size();
  settings_board_.publish_containers(reading.problem.empty()
                                         ? std::make_shared<const Containers>(std::move(all))
                                         : std::make_shared<const Containers>(reading.problem));
  published_();
  if (!reading.problem.empty()) {
    log_.limited(LogLevel::warning, "serves no containers: " + reading.problem);
    return;
  }
  log_.limited(LogLevel::note, "serves " + std::to_string(count) + " containers of " + table_);
  if (reading.has_surplus) {
    log_.limited(LogLevel::warning, table_ + " has more rows, or longer ones, than are taken");
  }
}

}  // namespace rowsocket::server
