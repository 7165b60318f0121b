// SPDX-License-Identifier: GPL-2.0-only
//
// What is counted of the requests for one index of a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>

#include "base/histogram.h"
#include "request/error.h"

namespace rowsocket::exec {

/// What a request does with rows.
enum class Work : uint8_t { find, insert, update, remove, increment };
inline constexpr size_t work_count = 5;
[[nodiscard]] std::string_view name_of(Work work);

/// A request that has its final answer.
struct Done {
  Work work;
  ErrorCode error = ErrorCode::none;
  uint64_t rows_examined = 0;
  uint64_t rows_sent = 0;
  uint64_t rows_changed = 0;
};

/// From when it was first tried until it had its answer.
struct TimeTaken {
  bool is_known = false;  ///< else it was not measured
  uint64_t ticks = 0;
  uint64_t waited_ns = 0;  ///< before it was tried for the last time
};

/// `Number` is uint64_t, or Published<uint64_t> where one thread adds and others look.
template <typename Number>
struct TableFiguresOf {
  std::array<Number, work_count> requests{};
  Number rows_examined{};
  Number rows_sent{};
  Number rows_changed{};
  Number total_ns{};
  std::array<Number, static_cast<size_t>(ErrorCode::count_)> errors{};

  void add(const Done& done) {
    requests[static_cast<size_t>(done.work)] += 1;
    rows_examined += done.rows_examined;
    rows_sent += done.rows_sent;
    if (done.rows_changed != 0) {
      rows_changed += done.rows_changed;
    }
    if (done.error != ErrorCode::none) [[unlikely]] {
      errors[static_cast<size_t>(done.error)] += 1;
    }
  }
  template <typename Other>
  void add_all(const TableFiguresOf<Other>& other) {
    for (size_t work = 0; work < requests.size(); ++work) {
      requests[work] += other.requests[work];
    }
    rows_examined += other.rows_examined;
    rows_sent += other.rows_sent;
    rows_changed += other.rows_changed;
    total_ns += other.total_ns;
    for (size_t code = 0; code < errors.size(); ++code) {
      errors[code] += other.errors[code];
    }
  }
  void clear() {
    for (Number& count : requests) {
      count = 0;
    }
    for (Number* const number : {&rows_examined, &rows_sent, &rows_changed, &total_ns}) {
      *number = 0;
    }
    for (Number& count : errors) {
      count = 0;
    }
  }
  [[nodiscard]] uint64_t request_count() const {
    return std::accumulate(requests.begin(), requests.end(), uint64_t{0});
  }
  [[nodiscard]] uint64_t error_count() const {
    return std::accumulate(errors.begin(), errors.end(), uint64_t{0});
  }
};

/// The same with how long requests took. A histogram is made when its first request comes.
template <typename Number>
struct TableRecordOf {
  TableFiguresOf<Number> figures;
  std::array<std::unique_ptr<HistogramOf<Number>>, work_count> latencies;
};
using TableRecord = TableRecordOf<uint64_t>;
using PublishedTableRecord = TableRecordOf<Published<uint64_t>>;

}  // namespace rowsocket::exec
