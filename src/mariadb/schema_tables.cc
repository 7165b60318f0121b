// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "sql_i_s.h"
//
#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/mutex.h"
#include "exec/table_statistics.h"
#include "mariadb/accounts.h"
#include "mariadb/rights.h"
#include "mariadb/schema_rows.h"
#include "mariadb/schema_tables.h"

namespace rowsocket::mariadb {
namespace {

using exec::TableStatistics;
using exec::Work;
using Part = TableStatistics::Part;
using server::ConnectionFigures;

// ---- which server

/// Held while a reader copies. No worker takes it.
Mutex served_mutex;
server::Server* served ROWSOCKET_GUARDED_BY(served_mutex) = nullptr;

bool is_served() {
  const MutexLock lock(served_mutex);
  return served != nullptr;
}

bool read_connections(server::Server::ConnectionsRead& read, std::vector<ConnectionFigures>& figures) {
  figures.clear();
  const MutexLock lock(served_mutex);
  return served != nullptr && served->read_connections(read, figures);
}

std::vector<engine::TablePlace> read_places(const std::optional<engine::TablePlace>& last) {
  const MutexLock lock(served_mutex);
  return served == nullptr ? std::vector<engine::TablePlace>() : served->statistics().places_behind(last);
}

TableStatistics::Records read_statistics(Part part, std::span<const engine::TablePlace> places) {
  const MutexLock lock(served_mutex);
  return served == nullptr ? TableStatistics::Records() : served->statistics().read(part, places);
}

/// As the server calls it: 0 = well done. The statement is of this server alone: a replica without RowSocket
/// could not read it, and would stop.
template <Part part>
int reset() {
  if (THD* const thd = current_thd; thd != nullptr && thd->lex != nullptr) {
    thd->lex->no_write_to_binlog = true;
  }
  const MutexLock lock(served_mutex);
  if (served != nullptr) {
    served->statistics().reset(part);
  }
  return 0;
}

// ---- ROWSOCKET_CONNECTIONS

constexpr uint32_t decimals = 2003;  ///< 20 digits, three of them behind the point

// The server changes nothing of it, but takes no constant.
ST_FIELD_INFO connections_columns[] = {
    Show::Column("ID", Show::ULonglong(), NOT_NULL),
    Show::Column("LOG_ID", Show::ULonglong(), NULLABLE),
    Show::Column("PROTOCOL", Show::Varchar(32), NOT_NULL),
    Show::Column("PORT", Show::Varchar(8), NOT_NULL),
    Show::Column("ACCOUNT", Show::Userhost(), NULLABLE),
    Show::Column("ADDRESS", Show::Varchar(128), NOT_NULL),
    Show::Column("TLS_VERSION", Show::Varchar(16), NULLABLE),
    Show::Column("TLS_CIPHER", Show::Varchar(64), NULLABLE),
    Show::Column("SECONDS_CONNECTED", Show::ULonglong(), NOT_NULL),
    Show::Column("SECONDS_IDLE", Show::ULonglong(), NOT_NULL),
    Show::Column("REQUESTS", Show::ULonglong(), NOT_NULL),
    Show::Column("BYTES_RECEIVED", Show::ULonglong(), NOT_NULL),
    Show::Column("BYTES_SENT", Show::ULonglong(), NOT_NULL),
    Show::Column("BYTES_HELD", Show::ULonglong(), NOT_NULL),
    Show::Column("STATE", Show::Varchar(16), NOT_NULL),
    Show::Column("THREAD_ID", Show::ULonglong(), NOT_NULL),
    Show::CEnd(),
};

/// As in the process list: of all accounts, or of the session's user.
bool may_see_clients_of(const THD* thd, const Account* account) {
  return has_process_privilege(thd) ||
         (account != nullptr && account->names.user == thd->security_ctx->priv_user);
}

bool tell_connection(THD* thd, TABLE* table, const ConnectionFigures& figures) {
  const std::shared_ptr<const Account> account = Accounts::all().find(figures.account);
  if (!may_see_clients_of(thd, account.get())) {
    return false;
  }
  const std::string name = account != nullptr && is_there(*account) ? account->whole_name() : "";
  return SchemaRow(table)
      .number(figures.number)
      .number_or_null(figures.log_number)
      .text(figures.protocol_name)
      .text(figures.port_access == exec::Access::read ? "read" : "write")
      .text_or_null(name)
      .text(figures.peer)
      .text_or_null(figures.encryption.version)
      .text_or_null(figures.encryption.cipher)
      .number(figures.connected_ms / 1000)
      .number(figures.idle_ms / 1000)
      .number(figures.requests)
      .number(figures.bytes_received)
      .number(figures.bytes_sent)
      .number(figures.held_bytes)
      .text(server::name_of(figures.doing))
      .number(figures.thread)
      .store(thd);
}

/// True if it failed, as for all of these.
bool tell_connections(THD* thd, TABLE* table) {
  server::Server::ConnectionsRead read;
  std::vector<ConnectionFigures> figures;
  while (thd->killed == NOT_KILLED && read_connections(read, figures)) {
    for (const ConnectionFigures& one : figures) {
      if (tell_connection(thd, table, one)) {
        return true;
      }
    }
  }
  return false;
}

// ---- ROWSOCKET_TABLES

ST_FIELD_INFO tables_columns[] = {
    Show::Column("TABLE_SCHEMA", Show::Name(), NULLABLE),
    Show::Column("TABLE_NAME", Show::Name(), NULLABLE),
    Show::Column("INDEX_NAME", Show::Name(), NULLABLE),
    Show::Column("FINDS", Show::ULonglong(), NOT_NULL),
    Show::Column("INSERTS", Show::ULonglong(), NOT_NULL),
    Show::Column("UPDATES", Show::ULonglong(), NOT_NULL),
    Show::Column("DELETES", Show::ULonglong(), NOT_NULL),
    Show::Column("INCREMENTS", Show::ULonglong(), NOT_NULL),
    Show::Column("ROWS_EXAMINED", Show::ULonglong(), NOT_NULL),
    Show::Column("ROWS_SENT", Show::ULonglong(), NOT_NULL),
    Show::Column("ROWS_CHANGED", Show::ULonglong(), NOT_NULL),
    Show::Column("ERRORS", Show::ULonglong(), NOT_NULL),
    Show::Column("ERROR_CODES", Show::Varchar(2048), NULLABLE),
    Show::Column("TIME_US", Show::Decimal(decimals), NOT_NULL),
    Show::CEnd(),
};

SchemaRow& tell_place(SchemaRow& row, const engine::TablePlace& place) {
  return row.text_or_null(place.database).text_or_null(place.table).text_or_null(place.index);
}

/// "cannot_lock_table=2 engine=1", in the order of the codes.
std::string told_errors(const exec::TableFiguresOf<uint64_t>& figures) {
  std::string told;
  for (size_t code = 0; code < figures.errors.size(); ++code) {
    if (figures.errors[code] != 0) {
      told += told.empty() ? "" : " ";
      told += error_name(static_cast<ErrorCode>(code));
      told += "=" + std::to_string(figures.errors[code]);
    }
  }
  return told;
}

bool tell_figures(THD* thd, TABLE* table, const engine::TablePlace& place,
                  const exec::TableFiguresOf<uint64_t>& figures) {
  SchemaRow row(table);
  tell_place(row, place);
  for (const Work work : {Work::find, Work::insert, Work::update, Work::remove, Work::increment}) {
    row.number(figures.requests[static_cast<size_t>(work)]);
  }
  return row.number(figures.rows_examined)
      .number(figures.rows_sent)
      .number(figures.rows_changed)
      .number(figures.error_count())
      .text_or_null(told_errors(figures))
      .microseconds(figures.total_ns)
      .store(thd);
}

using TellRecord = bool (*)(THD* thd, TABLE* table, const engine::TablePlace& place,
                            const exec::TableRecord& record);

/// Nothing is copied of what the session's account may not see, and at a time little of what it may.
template <Part part, TellRecord tell>
bool tell_statistics(THD* thd, TABLE* table) {
  std::optional<engine::TablePlace> last;
  while (thd->killed == NOT_KILLED) {
    std::vector<engine::TablePlace> places = read_places(last);
    if (places.empty()) {
      return false;
    }
    last = places.back();
    std::erase_if(places, [thd](const engine::TablePlace& place) { return !may_see(thd, place); });
    for (std::span<const engine::TablePlace> left = places; !left.empty();) {
      const size_t count = std::min(left.size(), limits::statistics_records_per_look);
      for (const auto& [place, record] : read_statistics(part, left.first(count))) {
        if (tell(thd, table, place, record)) {
          return true;
        }
      }
      left = left.subspan(count);
    }
  }
  return false;
}

bool tell_table(THD* thd, TABLE* table, const engine::TablePlace& place, const exec::TableRecord& record) {
  return tell_figures(thd, table, place, record.figures);
}

// ---- ROWSOCKET_LATENCY, ROWSOCKET_PERCENTILES

ST_FIELD_INFO latency_columns[] = {
    Show::Column("TABLE_SCHEMA", Show::Name(), NULLABLE),
    Show::Column("TABLE_NAME", Show::Name(), NULLABLE),
    Show::Column("INDEX_NAME", Show::Name(), NULLABLE),
    Show::Column("OPERATION", Show::Varchar(16), NOT_NULL),
    Show::Column("BELOW_US", Show::Decimal(decimals), NULLABLE),
    Show::Column("REQUESTS", Show::ULonglong(), NOT_NULL),
    Show::CEnd(),
};

ST_FIELD_INFO percentiles_columns[] = {
    Show::Column("TABLE_SCHEMA", Show::Name(), NULLABLE),
    Show::Column("TABLE_NAME", Show::Name(), NULLABLE),
    Show::Column("INDEX_NAME", Show::Name(), NULLABLE),
    Show::Column("OPERATION", Show::Varchar(16), NOT_NULL),
    Show::Column("REQUESTS", Show::ULonglong(), NOT_NULL),
    Show::Column("AVERAGE_US", Show::Decimal(decimals), NOT_NULL),
    Show::Column("P50_US", Show::Decimal(decimals), NOT_NULL),
    Show::Column("P95_US", Show::Decimal(decimals), NOT_NULL),
    Show::Column("P99_US", Show::Decimal(decimals), NOT_NULL),
    Show::Column("P99_9_US", Show::Decimal(decimals), NOT_NULL),
    Show::Column("MAX_US", Show::Decimal(decimals), NOT_NULL),
    Show::CEnd(),
};

using TellLatencies = bool (*)(THD* thd, TABLE* table, const engine::TablePlace& place, Work work,
                               const Histogram& latencies);

/// A row for each bucket that holds something.
bool tell_buckets(THD* thd, TABLE* table, const engine::TablePlace& place, Work work,
                  const Histogram& latencies) {
  for (size_t bucket = 0; bucket < LatencyBuckets::count; ++bucket) {
    if (latencies.count_of(bucket) == 0) {
      continue;
    }
    const uint64_t end_ns = LatencyBuckets::end_ns(bucket);
    SchemaRow row(table);
    tell_place(row, place).text(exec::name_of(work));
    static_cast<void>(end_ns == UINT64_MAX ? row.null() : row.microseconds(end_ns));
    if (row.number(latencies.count_of(bucket)).store(thd)) {
      return true;
    }
  }
  return false;
}

bool tell_percentiles(THD* thd, TABLE* table, const engine::TablePlace& place, Work work,
                      const Histogram& latencies) {
  const uint64_t count = latencies.count();
  SchemaRow row(table);
  tell_place(row, place).text(exec::name_of(work)).number(count);
  row.microseconds(count == 0 ? 0 : latencies.total_ns() / count);
  for (const uint64_t permille : {500U, 950U, 990U, 999U}) {
    row.microseconds(latencies.permille_ns(permille));
  }
  return row.microseconds(latencies.max_ns()).store(thd);
}

template <TellLatencies tell>
bool tell_latencies(THD* thd, TABLE* table, const engine::TablePlace& place,
                    const exec::TableRecord& record) {
  for (size_t work = 0; work < record.latencies.size(); ++work) {
    const Histogram* const latencies = record.latencies[work].get();
    if (latencies != nullptr && latencies->count() > 0 &&
        tell(thd, table, place, static_cast<Work>(work), *latencies)) {
      return true;
    }
  }
  return false;
}

// ---- what the server is told of each

/// Nothing is thrown into the server.
template <bool (*tell)(THD* thd, TABLE* table)>
int fill(THD* thd, TABLE_LIST* tables, COND*) {
  try {
    return tell(thd, tables->table) ? 1 : 0;
  } catch (const std::exception&) {
    my_error(ER_OUT_OF_RESOURCES, MYF(0));
    return 1;
  }
}

template <bool (*tell)(THD* thd, TABLE* table)>
int init(void* table, ST_FIELD_INFO* columns, int (*reset_table)() = nullptr) {
  auto* const schema = static_cast<ST_SCHEMA_TABLE*>(table);
  schema->fields_info = columns;
  schema->fill_table = fill<tell>;
  schema->reset_table = reset_table;
  const bool is_there = is_served() || opt_bootstrap != 0;  // and empty: nobody is served then
  return is_there ? 0 : 1;
}

}  // namespace

st_mysql_information_schema schema_table_info = {MYSQL_INFORMATION_SCHEMA_INTERFACE_VERSION};

void show_in_schema_tables(server::Server* server) {
  const MutexLock lock(served_mutex);
  served = server;
}

int init_connections_table(void* table) { return init<tell_connections>(table, connections_columns); }
int init_tables_table(void* table) {
  return init<tell_statistics<Part::figures, tell_table>>(table, tables_columns, reset<Part::figures>);
}
int init_latency_table(void* table) {
  return init<tell_statistics<Part::latencies, tell_latencies<tell_buckets>>>(table, latency_columns,
                                                                              reset<Part::latencies>);
}
int init_percentiles_table(void* table) {
  return init<tell_statistics<Part::latencies, tell_latencies<tell_percentiles>>>(table, percentiles_columns,
                                                                                  reset<Part::latencies>);
}

}  // namespace rowsocket::mariadb
