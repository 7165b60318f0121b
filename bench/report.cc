// SPDX-License-Identifier: GPL-2.0-only
#include "bench/report.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace rowsocket::bench {

namespace {

std::string_view workload_name(Workload workload) {
  switch (workload) {
    case Workload::point:
      return "point";
    case Workload::in_list:
      return "in";
    case Workload::insert:
      return "insert";
  }
  return "";
}

class JsonObject {
 public:
  void text(std::string_view name, std::string_view value) {
    key(name);
    line_ += '"';
    for (const char byte : value) {
      if (byte == '"' || byte == '\\') {
        line_ += '\\';
      }
      line_ += static_cast<unsigned char>(byte) < ' ' ? ' ' : byte;
    }
    line_ += '"';
  }
  void whole(std::string_view name, uint64_t value) {
    key(name);
    line_ += std::to_string(value);
  }
  void decimal(std::string_view name, double value) {
    std::array<char, 64> digits;
    const int length = std::snprintf(digits.data(), digits.size(), "%.4f", value);
    key(name);
    line_.append(digits.data(), static_cast<size_t>(length));
  }
  [[nodiscard]] std::string line() const { return "{" + line_ + "}"; }

 private:
  void key(std::string_view name) { line_.append(line_.empty() ? "\"" : ", \"").append(name).append("\": "); }

  std::string line_;
};

void add_scenario(JsonObject& json, const Options& options) {
  json.text("protocol", options.protocol);
  json.text("workload", workload_name(options.target.workload));
  json.whole("connections", options.connections);
  json.whole("in_flight", options.in_flight);
  json.whole("keys_per_request", options.target.workload == Workload::in_list ? options.keys_per_request : 1);
  json.decimal("zipf", options.zipf_exponent);
}

}  // namespace

std::string report_line(const Options& options, const Measurement& measured) {
  const auto microseconds = [&](double percent) { return static_cast<double>(measured.latency_ns.percentile(percent)) / 1e3; };
  const double requests = static_cast<double>(measured.requests);
  JsonObject json;
  add_scenario(json, options);
  json.whole("requests", measured.requests);
  json.decimal("seconds", measured.seconds);
  json.decimal("requests_per_s", requests / measured.seconds);
  json.decimal("keys_per_s", static_cast<double>(measured.keys) / measured.seconds);
  json.decimal("p50_us", microseconds(50));
  json.decimal("p99_us", microseconds(99));
  json.decimal("p999_us", microseconds(99.9));
  json.whole("errors", 0);
  json.whole("requests_in_all", measured.requests_in_all);
  json.decimal("generator_busy", static_cast<double>(measured.generator_cpu_ns) / 1e9 / measured.seconds);
  if (options.server_pid != 0 && measured.requests > 0) {
    json.decimal("server_busy", static_cast<double>(measured.server_cpu_ns) / 1e9 / measured.seconds);
    json.decimal("server_cpu_us_per_request", static_cast<double>(measured.server_cpu_ns) / 1e3 / requests);
  }
  return json.line();
}

std::string failure_line(const Options& options, const std::string& failure) {
  JsonObject json;
  add_scenario(json, options);
  json.whole("errors", 1);
  json.text("failure", failure);
  return json.line();
}

}  // namespace rowsocket::bench
