// SPDX-License-Identifier: GPL-2.0-only
//
// For the tests: workloads from text, over a table that is shorter than the real ones, and what an adapter makes of them.
#pragma once

#include <string>
#include <vector>

#include "bench/protocol.h"
#include "bench/workload.h"

namespace rowsocket::bench {

inline constexpr const char* test_table = R"(
table user
column user_id INT UNSIGNED = {n}
column name VARCHAR(50) = user{n}
column age INT UNSIGNED = {n%100+1}
column born DATETIME = 2026-01-{n%28+1:2} 00:00:{n%60:2}
key PRIMARY KEY (user_id)
)";

inline Workload test_workload(const std::string& text, const WorkloadSettings& settings = {}, Parameters parameters = {}) {
  return parse_workload("table user\n" + text, settings, parameters, [](const std::string&) { return test_table; });
}

struct NoLink final : Link {
  [[nodiscard]] int descriptor() const override { return -1; }
};

/// One protocol over one workload.
struct Spoken {
  Spoken(const std::string& protocol_name, const std::string& text)
      : workload(test_workload(text)), protocol(make_protocol(protocol_name, workload, {})) {}

  [[nodiscard]] std::string request(std::vector<uint32_t> keys, size_t position = 0) const {
    Buffer out;
    protocol->write_request(NoLink(), {position, 77, std::move(keys)}, out);
    return std::string(out.view());
  }
  [[nodiscard]] std::string right_reply(std::vector<uint32_t> keys, size_t position = 0) const {
    Buffer out;
    dynamic_cast<ComparingProtocol&>(*protocol).write_right_reply({position, 77, std::move(keys)}, out);
    return std::string(out.view());
  }

  Workload workload;
  std::unique_ptr<Protocol> protocol;
};

}  // namespace rowsocket::bench
