// SPDX-License-Identifier: GPL-2.0-only
//
// The conformance suite inside a server: a plugin of its own, for tests, with one table in
// information_schema. Each reading of it runs the suite, on a thread of its own, and says how many tests ran
// and how many failed:
//
//   INSTALL SONAME 'rowsocket_conformance';
//   SET GLOBAL rowsocket_conformance_output = '/tmp/outcomes';
//   SET GLOBAL rowsocket_conformance_filter = 'Seeking.*';
//   SELECT tests, failures FROM information_schema.rowsocket_conformance;
//
// The file of outcomes has a line when a test begins ("began", TAB, name) and one when it ended ("passed" or
// "failed", TAB, name, TAB, what was seen), so that it also says where a server died. The suite replaces the
// database d, kills sessions, blocks commits and changes global variables: use a server of its own.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <gtest/gtest.h>
#include <sql_i_s.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "mariadb/conformance/server_host.h"
#include "mariadb/engines.h"
#include "mariadb/performance_schema.h"
#include "mariadb/tool_plugin.h"

namespace rowsocket::mariadb {
namespace {

char* output_name = nullptr;
char* test_filter = nullptr;

MYSQL_SYSVAR_STR(output, output_name, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC, "File to write outcomes to",
                 nullptr, nullptr, "rowsocket_conformance.outcomes");
MYSQL_SYSVAR_STR(filter, test_filter, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC,
                 "Which tests to run, as --gtest_filter", nullptr, nullptr, "*");
st_mysql_sys_var* system_variables[] = {MYSQL_SYSVAR(output), MYSQL_SYSVAR(filter), nullptr};

Mutex running;  ///< the suite runs once at a time

std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char byte : text) {
    line += byte == '\n' ? "\\n" : byte == '\t' ? " " : std::string(1, byte);
  }
  return line;
}

class Outcomes final : public testing::EmptyTestEventListener {
 public:
  explicit Outcomes(const std::string& name) : file_(name) {}

  void OnTestStart(const testing::TestInfo& test) override {
    seen_.clear();
    file_ << "began\t" << name_of(test) << "\n" << std::flush;  // the server may die
  }
  void OnTestPartResult(const testing::TestPartResult& part) override {
    const char* const name = part.file_name() == nullptr ? "" : part.file_name();
    seen_ += std::string(name) + ":" + std::to_string(part.line_number()) + ": " + part.message() + "\n";
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const bool passed = test.result()->Passed();
    file_ << (passed ? "passed\t" : "failed\t") << name_of(test) << "\t" << in_one_line(seen_) << "\n"
          << std::flush;
  }

 private:
  static std::string name_of(const testing::TestInfo& test) {
    return std::string(test.test_suite_name()) + "." + test.name();
  }

  std::ofstream file_;
  std::string seen_;
};

struct Run {
  std::string output;
  std::string filter;
  int tests = 0;
  int failures = 0;
};

void run(Run& run) {
  const MutexLock lock(running);
  static ServerEngineUnderTest engine;
  static bool is_initialised = false;
  if (!is_initialised) {
    engine::conformance::set_engine_under_test(engine);
    int argument_count = 1;
    char name[] = "rowsocket_conformance";
    char* arguments[] = {name, nullptr};
    testing::InitGoogleTest(&argument_count, arguments);
    is_initialised = true;
  }
  testing::UnitTest& suite = *testing::UnitTest::GetInstance();
  GTEST_FLAG_SET(filter, run.filter);
  auto* const outcomes = new Outcomes(run.output);  // the list of listeners owns it
  suite.listeners().Append(outcomes);
  run.failures = RUN_ALL_TESTS() == 0 ? 0 : suite.failed_test_count();
  run.tests = suite.test_to_run_count();
  delete suite.listeners().Release(outcomes);
}

ST_FIELD_INFO fields[] = {Show::Column("TESTS", Show::SLong(), NOT_NULL),
                          Show::Column("FAILURES", Show::SLong(), NOT_NULL), Show::CEnd()};

int fill(THD* thd, TABLE_LIST* tables, Item*) {
  Run suite;
  mysql_mutex_lock(&LOCK_global_system_variables);
  suite.output = output_name == nullptr ? "" : output_name;
  suite.filter = test_filter == nullptr ? "" : test_filter;
  mysql_mutex_unlock(&LOCK_global_system_variables);
  std::thread(run, std::ref(suite)).join();
  TABLE* const table = tables->table;
  restore_record(table, s->default_values);
  table->field[0]->store(suite.tests, false);
  table->field[1]->store(suite.failures, false);
  return schema_table_store_record(thd, table) ? 1 : 0;
}

int load(void* place) {
  if (!fits_server("rowsocket_conformance")) {
    return 1;
  }
  register_with_performance_schema();
  set_engines_served("InnoDB,Aria,MyISAM");
  auto* const schema = static_cast<ST_SCHEMA_TABLE*>(place);
  schema->fields_info = fields;
  schema->fill_table = fill;
  return 0;
}

st_mysql_information_schema information_schema_info = {MYSQL_INFORMATION_SCHEMA_INTERFACE_VERSION};

}  // namespace
}  // namespace rowsocket::mariadb

ROWSOCKET_TOOL_PLUGIN(rowsocket_conformance, MYSQL_INFORMATION_SCHEMA_PLUGIN, information_schema_info,
                      "Runs the conformance suite of RowSocket's storage interface; for tests", load,
                      rowsocket::mariadb::system_variables)
