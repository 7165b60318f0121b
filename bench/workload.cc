// SPDX-License-Identifier: GPL-2.0-only
#include "bench/workload.h"

#include <algorithm>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

constexpr uint32_t keys_max = 10'000;
constexpr uint32_t rows_max = 100'000;

/// `{rows/20}` or a plain number.
uint32_t bound(std::string_view text, uint32_t rows) {
  int64_t value = 0;
  if (text.starts_with('{') && text.ends_with('}')) {
    value = Expression::parse(text.substr(1, text.size() - 2), "rows").at(rows);
  } else {
    value = whole_number(text, 1, UINT32_MAX);
  }
  if (value < 1 || value > UINT32_MAX) {
    throw std::runtime_error("a key of " + std::to_string(value) + ", by \"" + std::string(text) + "\"; are there enough rows?");
  }
  return static_cast<uint32_t>(value);
}

/// `text` must begin with the word.
std::string_view after(std::string_view expected, std::string_view text) {
  const auto [word, rest] = split_word(text);
  if (word != expected) {
    throw std::runtime_error("\"" + std::string(expected) + "\" is expected before \"" + std::string(text) + "\"");
  }
  return rest;
}

Keys parse_keys(std::string_view text, const WorkloadSettings& settings) {
  Keys keys;
  const auto [count, rest] = split_word(text);
  keys.count = static_cast<uint32_t>(whole_number(count, 1, keys_max));
  if (settings.keys_per_request != 0 && settings.keys_per_request != keys.count) {
    if (keys.count == 1) {
      throw std::runtime_error("--keys: this workload's requests have one key each");
    }
    keys.count = settings.keys_per_request;
  }
  if (rest == "next") {
    keys.next = true;
    return keys;
  }
  const auto [least, after_least] = split_word(after("of", rest));
  keys.least = bound(least, settings.rows);
  keys.most = bound(after("to", after_least), settings.rows);
  if (keys.most < keys.least || keys.most - keys.least + 1 < keys.count) {
    throw std::runtime_error("there are no " + std::to_string(keys.count) + " different keys from " + std::to_string(keys.least) +
                             " to " + std::to_string(keys.most) + "; are there enough rows?");
  }
  return keys;
}

Answer parse_answer(std::string_view text) {
  Answer answer;
  if (text == "inserted") {
    answer.kind = AnswerKind::inserted;
  } else if (text == "changed") {
    answer.kind = AnswerKind::changed;
  } else if (text == "number") {
    answer.kind = AnswerKind::number;
  } else {
    const auto [count, rest] = split_word(text);
    answer.rows_per_key = static_cast<uint32_t>(whole_number(count, 0, rows_max));
    const auto [first, step] = split_word(after("from", after("rows", rest)));
    if (!first.starts_with('{') || !first.ends_with('}')) {
      throw std::runtime_error("answer COUNT rows from {k}, not from \"" + std::string(first) + "\"");
    }
    answer.first_row = Expression::parse(first.substr(1, first.size() - 2), "k");
    answer.step = step.empty() ? 1 : whole_number(after("step", step), -int64_t{1'000'000'000}, 1'000'000'000);
  }
  return answer;
}

std::vector<size_t> parse_columns(std::string_view text, const Table& table) {
  std::vector<size_t> columns;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    columns.push_back(table.column_of(trimmed(text.substr(0, comma))));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return columns;
}

/// Takes the lines of a workload file one by one.
class WorkloadReader {
 public:
  WorkloadReader(Workload& workload, const WorkloadSettings& settings, Parameters& parameters,
                 const std::function<std::string(const std::string& name)>& table_text)
      : workload_(workload), settings_(settings), parameters_(parameters), table_text_(table_text) {}

  void take(std::string_view word, std::string_view rest) {
    if (word == "table") {
      workload_.table = parse_table(table_text_(std::string(rest)), parameters_);
    } else if (word == "keys") {
      workload_.keys = parse_keys(rest, settings_);
    } else if (word == "request") {
      workload_.requests.emplace_back();
      workload_.requests.back().weight = rest.empty() ? 1 : static_cast<double>(whole_number(rest, 1, 1'000'000));
    } else if (word == "handlersocket-open") {
      workload_.handlersocket_opening.push_back(protocol_text(rest));
    } else if (workload_.requests.empty()) {
      throw std::runtime_error("\"" + std::string(word) + "\" belongs below a request line");
    } else if (word == "columns") {
      workload_.requests.back().columns = parse_columns(rest, workload_.table);
    } else if (word == "answer") {
      workload_.requests.back().answer = parse_answer(rest);
    } else {
      workload_.requests.back().texts[std::string(word)] = protocol_text(rest);
    }
  }

 private:
  [[nodiscard]] std::string protocol_text(std::string_view text) const {
    return replaced(replaced(std::string(text), "⇥", "\t"), "{database}", settings_.database);
  }

  Workload& workload_;
  const WorkloadSettings& settings_;
  Parameters& parameters_;
  const std::function<std::string(const std::string& name)>& table_text_;
};

}  // namespace

bool Workload::writes() const {
  return std::any_of(requests.begin(), requests.end(), [](const Request& request) { return request.writes(); });
}

Operation Workload::typical_operation(size_t request) const {
  Operation operation{request, 1, {}};
  const uint32_t middle = keys.least + (keys.most - keys.least + 1 - keys.count) / 2;
  for (uint32_t i = 0; i < keys.count; ++i) {
    operation.keys.push_back(middle + i);
  }
  return operation;
}

Workload parse_workload(std::string_view text, const WorkloadSettings& settings, Parameters& parameters,
                        const std::function<std::string(const std::string& name)>& table_text) {
  Workload workload;
  workload.about = first_comment(text);
  WorkloadReader reader(workload, settings, parameters, table_text);
  for_each_line(text, parameters, [&](std::string_view word, std::string_view rest) { reader.take(word, rest); });
  if (workload.table.name.empty() || workload.requests.empty()) {
    throw std::runtime_error("a workload needs a table line and at least one request line");
  }
  parameters.check_all_used();
  return workload;
}

Workload load_workload(const std::string& name, const WorkloadSettings& settings, Parameters parameters) {
  const std::string folder = ROWSOCKET_BENCH_FOLDER;
  const bool is_path = name.find('/') != std::string::npos;
  const std::string path = is_path ? name : folder + "/workloads/" + name + ".txt";
  const auto table_text = [&](const std::string& table) {
    // Beside a workload that somebody wrote for himself may lie a table of his own.
    return read_file(table.find('/') == std::string::npos ? folder + "/tables/" + table + ".txt"
                                                          : path.substr(0, path.rfind('/') + 1) + table);
  };
  try {
    Workload workload = parse_workload(read_file(path), settings, parameters, table_text);
    const std::string file = path.substr(path.rfind('/') + 1);
    workload.name = file.substr(0, file.rfind('.'));
    return workload;
  } catch (const std::runtime_error& failure) {
    throw std::runtime_error("workload " + name + ": " + failure.what());
  }
}

}  // namespace rowsocket::bench
