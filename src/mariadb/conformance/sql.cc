// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <mysql.h>
#include <mysql/service_sql.h>
#include <service_versions.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "mariadb/conformance/sql.h"

// As in services.cc. The server replaces it by the service's address.
extern "C" {
__attribute__((visibility("default"))) sql_service_st* sql_service =
    reinterpret_cast<sql_service_st*>(VERSION_sql_service);
}

namespace rowsocket::mariadb {
namespace {

std::vector<SqlConnection::Row> run_one(MYSQL* connection, const std::string& statement) {
  if (mysql_real_query(connection, statement.data(), statement.size()) != 0) {
    throw std::runtime_error(statement + ": " + mysql_error(connection));
  }
  std::vector<SqlConnection::Row> rows;
  MYSQL_RES* const result = mysql_store_result(connection);
  if (result == nullptr) {
    return rows;
  }
  const unsigned columns = mysql_num_fields(result);
  while (const MYSQL_ROW values = mysql_fetch_row(result)) {
    const unsigned long* const sizes = mysql_fetch_lengths(result);
    SqlConnection::Row& row = rows.emplace_back();
    for (unsigned column = 0; column < columns; ++column) {
      row.push_back(values[column] == nullptr ? std::nullopt
                                              : std::optional<std::string>({values[column], sizes[column]}));
    }
  }
  mysql_free_result(result);
  return rows;
}

}  // namespace

SqlConnection::SqlConnection() : thread_([this] { live(); }) {}

SqlConnection::~SqlConnection() {
  {
    const MutexLock lock(mutex_);
    leaves_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::future<std::vector<SqlConnection::Row>> SqlConnection::begin(std::vector<std::string> statements) {
  Task task([statements = std::move(statements)](void* connection) {
    std::vector<Row> rows;
    for (const std::string& statement : statements) {
      rows = run_one(static_cast<MYSQL*>(connection), statement);
    }
    return rows;
  });
  auto rows = task.get_future();
  {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return rows;
}

void SqlConnection::live() {
  my_thread_init();
  MYSQL* const connection = mysql_init(nullptr);
  if (connection == nullptr || mysql_real_connect_local(connection) == nullptr) {
    // Every task will say that it was broken off.
    sql_print_error("rowsocket_conformance: no SQL connection");
    const MutexLock lock(mutex_);
    tasks_.clear();
    my_thread_end();
    return;
  }
  MutexLock lock(mutex_);
  while (true) {
    while (!leaves_ && tasks_.empty()) {
      changed_.wait(lock);
    }
    if (tasks_.empty()) {
      break;
    }
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task(connection);
    lock.lock();
  }
  mysql_close(connection);
  my_thread_end();
}

}  // namespace rowsocket::mariadb
