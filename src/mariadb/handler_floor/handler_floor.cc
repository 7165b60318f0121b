// SPDX-License-Identifier: GPL-2.0-only
//
// The handler floor: what a lookup costs inside the server when nothing is received, parsed, formatted or
// sent. A plugin of its own, for benchmarks, with one table in information_schema. Each reading of it makes
// so many random lookups (ha_index_read_map) by the primary key, in one snapshot, and says what they cost:
//
//   INSTALL SONAME 'rowsocket_handler_floor';
//   SET GLOBAL rowsocket_handler_floor_table = 'bench.user', GLOBAL rowsocket_handler_floor_rows = 1000000;
//   SELECT cpu_ns / lookups FROM information_schema.rowsocket_handler_floor;
//
// The table's primary key is one INT UNSIGNED with the values 1..rows. The columns named in
// rowsocket_handler_floor_columns are read. Everything happens in a thread of its own with a THD of its own,
// so the query that asks holds nothing.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <sql_i_s.h>

#include <ctime>
#include <string>
#include <string_view>
#include <thread>

#include "mariadb/tool_plugin.h"

namespace rowsocket::mariadb {
namespace {

char* table_name = nullptr;
char* column_names = nullptr;
unsigned row_count = 0;
unsigned lookup_count = 0;

MYSQL_SYSVAR_STR(table, table_name, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC,
                 "Table to look rows up in, as database.table", nullptr, nullptr, "bench.user");
MYSQL_SYSVAR_STR(columns, column_names, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC,
                 "Columns to read, with commas between", nullptr, nullptr, "user_name,user_email,created");
MYSQL_SYSVAR_UINT(rows, row_count, PLUGIN_VAR_RQCMDARG, "The table holds the keys 1 to this", nullptr,
                  nullptr, 1'000'000, 1, 4'000'000'000U, 0);
MYSQL_SYSVAR_UINT(lookups, lookup_count, PLUGIN_VAR_RQCMDARG, "Lookups to make each time", nullptr, nullptr,
                  1'000'000, 1, 100'000'000, 0);
st_mysql_sys_var* system_variables[] = {MYSQL_SYSVAR(table), MYSQL_SYSVAR(columns), MYSQL_SYSVAR(rows),
                                        MYSQL_SYSVAR(lookups), nullptr};

/// What is asked, copied so that SET may go on, and what came of it.
struct Floor {
  std::string database;
  std::string table;
  std::string columns;
  uint32_t rows = 1;
  uint32_t lookups = 0;
  uint64_t found = 0;
  uint64_t cpu_ns = 0;
  std::string failure;
};

uint64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

class ThreadWithTHD {
 public:
  ThreadWithTHD() {
    my_thread_init();
    thd_ = new THD(next_thread_id());
    thd_->thread_stack = static_cast<char*>(__builtin_frame_address(0));
    thd_->store_globals();
    thd_->system_thread = SYSTEM_THREAD_GENERIC;
    thd_->set_command(COM_DAEMON);
    lex_start(thd_);
    thd_->init_for_queries();
    thd_->variables.wsrep_on = false;
    thd_->set_query_id(next_query_id());
  }
  ~ThreadWithTHD() {
    lex_end(thd_->lex);
    thd_->reset_globals();
    thd_->store_globals();
    delete thd_;
    my_thread_end();
  }
  ThreadWithTHD(const ThreadWithTHD&) = delete;
  ThreadWithTHD& operator=(const ThreadWithTHD&) = delete;
  [[nodiscard]] THD* thd() const { return thd_; }

 private:
  THD* thd_ = nullptr;
};

bool names(std::string_view list, std::string_view column) {
  for (;;) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == column) {
      return true;
    }
    if (comma == std::string_view::npos) {
      return false;
    }
    list.remove_prefix(comma + 1);
  }
}

/// Whether the primary key is what the loop writes: four bytes, never NULL.
bool has_number_key(const TABLE& table) {
  if (table.s->primary_key == MAX_KEY) {
    return false;
  }
  const KEY& key = table.key_info[table.s->primary_key];
  return key.user_defined_key_parts == 1 && key.key_length == sizeof(uint32_t) &&
         key.key_part[0].null_bit == 0;
}

void look_up(TABLE& table, Floor& floor) {
  handler& file = *table.file;
  if (file.ha_index_init(table.s->primary_key, false) != 0) {
    floor.failure = "the index cannot be read";
    return;
  }
  uint64_t random = 88172645463325252ULL;
  uchar key[sizeof(uint32_t)];
  const uint64_t start_ns = thread_cpu_ns();
  for (uint32_t i = 0; i < floor.lookups; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    int4store(key, static_cast<uint32_t>(1 + (((random >> 32) * floor.rows) >> 32)));
    floor.found += file.ha_index_read_map(table.record[0], key, 1, HA_READ_KEY_EXACT) == 0 ? 1 : 0;
  }
  floor.cpu_ns = thread_cpu_ns() - start_ns;
  file.ha_index_end();
}

void measure(Floor& floor) {
  const ThreadWithTHD thread;
  THD* const thd = thread.thd();
  const LEX_CSTRING database{floor.database.c_str(), floor.database.size()};
  const LEX_CSTRING name{floor.table.c_str(), floor.table.size()};
  TABLE_LIST list;
  list.init_one_table(&database, &name, nullptr, TL_READ);
  DML_prelocking_strategy strategy;
  TABLE* const table = open_n_lock_single_table(thd, &list, TL_READ, 0, &strategy);
  if (table == nullptr) {
    floor.failure =
        thd->get_stmt_da()->is_error() ? thd->get_stmt_da()->message() : "the table cannot be opened";
  } else if (!has_number_key(*table)) {
    floor.failure = "the primary key must be one INT";
  } else {
    bitmap_clear_all(table->read_set);
    for (Field** field = table->field; *field != nullptr; ++field) {
      if (names(floor.columns, {(*field)->field_name.str, (*field)->field_name.length})) {
        bitmap_set_bit(table->read_set, (*field)->field_index);
      }
    }
    table->file->column_bitmaps_signal();
    look_up(*table, floor);
  }
  thd->clear_error();
  trans_commit_stmt(thd);
  close_thread_tables(thd);
  thd->release_transactional_locks();
}

Floor floor_of_variables() {
  Floor floor;
  mysql_mutex_lock(&LOCK_global_system_variables);
  const std::string_view name = table_name == nullptr ? "" : table_name;
  floor.columns = column_names == nullptr ? "" : column_names;
  floor.rows = row_count;
  floor.lookups = lookup_count;
  const size_t point = std::min(name.find('.'), name.size());
  floor.database = name.substr(0, point);
  floor.table = name.substr(std::min(point + 1, name.size()));
  mysql_mutex_unlock(&LOCK_global_system_variables);
  return floor;
}

ST_FIELD_INFO fields[] = {Show::Column("LOOKUPS", Show::ULonglong(), NOT_NULL),
                          Show::Column("FOUND", Show::ULonglong(), NOT_NULL),
                          Show::Column("CPU_NS", Show::ULonglong(), NOT_NULL), Show::CEnd()};

int fill(THD* thd, TABLE_LIST* tables, Item*) {
  Floor floor = floor_of_variables();
  if (floor.table.empty()) {
    floor.failure = "rowsocket_handler_floor_table is not database.table";
  } else {
    std::thread(measure, std::ref(floor)).join();
  }
  if (!floor.failure.empty()) {
    my_printf_error(ER_UNKNOWN_ERROR, "rowsocket_handler_floor: %s", MYF(0), floor.failure.c_str());
    return 1;
  }
  TABLE* const table = tables->table;
  restore_record(table, s->default_values);
  table->field[0]->store(static_cast<longlong>(floor.lookups), true);
  table->field[1]->store(static_cast<longlong>(floor.found), true);
  table->field[2]->store(static_cast<longlong>(floor.cpu_ns), true);
  return schema_table_store_record(thd, table) ? 1 : 0;
}

int load(void* place) {
  if (!fits_server("rowsocket_handler_floor")) {
    return 1;
  }
  auto* const schema = static_cast<ST_SCHEMA_TABLE*>(place);
  schema->fields_info = fields;
  schema->fill_table = fill;
  return 0;
}

st_mysql_information_schema information_schema_info = {MYSQL_INFORMATION_SCHEMA_INTERFACE_VERSION};

}  // namespace
}  // namespace rowsocket::mariadb

ROWSOCKET_TOOL_PLUGIN(rowsocket_handler_floor, MYSQL_INFORMATION_SCHEMA_PLUGIN, information_schema_info,
                      "What a lookup costs inside the server; for benchmarks", load,
                      rowsocket::mariadb::system_variables)
