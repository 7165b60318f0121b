// SPDX-License-Identifier: GPL-2.0-only
//
// What is asked for, in every protocol, and what must be answered: a file of workloads/, described in README.md. Read once, at
// the start of a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/definition.h"
#include "bench/formula.h"
#include "bench/operation.h"
#include "bench/table.h"

namespace rowsocket::bench {

enum class AnswerKind : uint8_t {
  rows,      ///< rows of the table
  inserted,  ///< a row was made
  changed,   ///< one row was changed
  number     ///< one row was changed, and the answer may be its new number
};

struct Answer {
  AnswerKind kind = AnswerKind::rows;
  uint32_t rows_per_key = 1;
  Expression first_row;  ///< of the key
  int64_t step = 1;      ///< from row to row
};

struct Request {
  double weight = 1;
  std::vector<size_t> columns;  ///< positions in the table, in the order of the reply
  Answer answer;
  std::map<std::string, std::string, std::less<>> texts;  ///< by protocol

  [[nodiscard]] bool writes() const { return answer.kind != AnswerKind::rows; }
};

/// Which keys a request has.
struct Keys {
  uint32_t count = 1;
  bool next = false;  ///< unused ones, upwards; else drawn from least..most
  uint32_t least = 1;
  uint32_t most = 1;
};

struct Workload {
  std::string name;
  std::string about;
  Table table;
  Keys keys;
  std::vector<Request> requests;
  std::vector<std::string> handlersocket_opening;

  [[nodiscard]] bool writes() const;
  /// What the first request of a run might be: for exchanges before the load, and for the floor.
  [[nodiscard]] Operation typical_operation(size_t request) const;
};

/// Calls `take(row)` for every row that answers the operation, in order.
template <typename Take>
void for_each_row(const Answer& answer, const Operation& operation, Take&& take) {
  for (const uint32_t key : operation.keys) {
    int64_t row = answer.first_row.at(key);
    for (uint32_t i = 0; i < answer.rows_per_key; ++i, row += answer.step) {
      take(row);
    }
  }
}
[[nodiscard]] inline size_t row_count(const Answer& answer, const Operation& operation) {
  return answer.kind == AnswerKind::rows ? answer.rows_per_key * operation.keys.size() : 0;
}

/// What the command line adds to a workload's file.
struct WorkloadSettings {
  uint32_t rows = 1'000'000;
  uint32_t keys_per_request = 0;  ///< 0 = as the file says
  std::string database = "bench";
};

/// A workload by its name or path, with its table. Throws std::runtime_error with a text for people.
[[nodiscard]] Workload load_workload(const std::string& name, const WorkloadSettings& settings, Parameters parameters);

/// From text; `table_text` gives the text of the table of a name.
[[nodiscard]] Workload parse_workload(std::string_view text, const WorkloadSettings& settings, Parameters& parameters,
                                      const std::function<std::string(const std::string& name)>& table_text);

}  // namespace rowsocket::bench
