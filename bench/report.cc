// SPDX-License-Identifier: GPL-2.0-only
#include "bench/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

namespace rowsocket::bench {

namespace {

std::string decimal_text(double value) {
  std::array<char, 64> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "%.4f", value);
  return {digits.data(), static_cast<size_t>(length)};
}

std::string quoted(std::string_view value) {
  std::string text = "\"";
  for (const char byte : value) {
    if (byte == '"' || byte == '\\') {
      text += '\\';
    }
    text += static_cast<unsigned char>(byte) < ' ' ? ' ' : byte;
  }
  return text + '"';
}

class JsonObject {
 public:
  void text(std::string_view name, std::string_view value) {
    key(name);
    line_ += quoted(value);
  }
  void truth(std::string_view name, bool value) {
    key(name);
    line_ += value ? "true" : "false";
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    key(name);
    std::string list;
    for (const std::string& value : values) {
      list.append(list.empty() ? "" : ", ").append(quoted(value));
    }
    line_.append("[").append(list).append("]");
  }
  void whole(std::string_view name, uint64_t value) {
    key(name);
    line_ += std::to_string(value);
  }
  void decimal(std::string_view name, double value) {
    key(name);
    line_ += decimal_text(value);
  }
  /// Latencies in microseconds, and how many there were.
  void histogram(std::string_view name, const Histogram& values_ns) {
    key(name);
    std::string list;
    values_ns.for_each_bucket([&](uint64_t last_value_ns, uint64_t count) {
      list.append(list.empty() ? "[" : ", [").append(decimal_text(static_cast<double>(last_value_ns) / 1e3));
      list.append(", ").append(std::to_string(count)).append("]");
    });
    line_.append("[").append(list).append("]");
  }
  [[nodiscard]] std::string line() const { return "{" + line_ + "}"; }

 private:
  void key(std::string_view name) { line_.append(line_.empty() ? "\"" : ", \"").append(name).append("\": "); }

  std::string line_;
};

void add_scenario(JsonObject& json, const Options& options, const Workload& workload) {
  json.text("protocol", options.protocol);
  json.text("workload", workload.name);
  json.text("table", workload.table.name);
  json.text("transport", options.endpoint.socket_path.empty() ? "tcp" : "unix");
  json.text("loop", options.rate_per_s > 0 ? "open" : "closed");
  json.whole("connections", options.connections);
  json.whole("in_flight", options.in_flight);
  json.whole("keys_per_request", workload.keys.count);
  json.whole("rows", options.settings.rows);
  json.decimal("zipf", options.zipf_exponent);
  json.decimal("rate", options.rate_per_s);
}

void add_latency(JsonObject& json, const Histogram& latency_ns) {
  const auto microseconds = [&](double percent) { return static_cast<double>(latency_ns.percentile(percent)) / 1e3; };
  json.decimal("mean_us", latency_ns.mean() / 1e3);
  json.decimal("p50_us", microseconds(50));
  json.decimal("p90_us", microseconds(90));
  json.decimal("p99_us", microseconds(99));
  json.decimal("p999_us", microseconds(99.9));
  json.decimal("max_us", static_cast<double>(latency_ns.max()) / 1e3);
}

void add_server(JsonObject& json, const Measurement& measured, double requests) {
  const ProcessFacts& before = measured.server_before;
  const ProcessFacts& after = measured.server_after;
  const double cpu_us = static_cast<double>(measured.server_cpu_ns) / 1e3 / requests;
  const auto user = static_cast<double>(after.user_ticks - before.user_ticks);
  const auto system = static_cast<double>(after.system_ticks - before.system_ticks);
  const double user_part = user + system > 0 ? user / (user + system) : 0;
  const auto add_switches = [&](std::string_view name, uint64_t ProcessFacts::* count) {
    if (after.*count >= before.*count) {  // else a thread ended and took its count with it
      json.decimal(name, static_cast<double>(after.*count - before.*count) / requests);
    }
  };
  json.decimal("server_busy", static_cast<double>(measured.server_cpu_ns) / 1e9 / measured.seconds);
  json.decimal("server_cpu_us_per_request", cpu_us);
  json.decimal("server_cpu_user_us_per_request", cpu_us * user_part);
  json.decimal("server_cpu_system_us_per_request", cpu_us * (1 - user_part));
  add_switches("server_switches_voluntary_per_request", &ProcessFacts::switches_voluntary);
  add_switches("server_switches_involuntary_per_request", &ProcessFacts::switches_involuntary);
  json.whole("server_threads", after.thread_count);
  json.whole("server_peak_bytes", after.peak_bytes);
}

}  // namespace

std::string report_line(const Options& options, const Workload& workload, const Measurement& measured) {
  const double requests = static_cast<double>(std::max<uint64_t>(measured.requests, 1));
  JsonObject json;
  add_scenario(json, options, workload);
  json.whole("requests", measured.requests);
  json.decimal("seconds", measured.seconds);
  json.decimal("requests_per_s", static_cast<double>(measured.requests) / measured.seconds);
  json.decimal("keys_per_s", static_cast<double>(measured.keys) / measured.seconds);
  json.decimal("rows_per_s", static_cast<double>(measured.rows) / measured.seconds);
  add_latency(json, measured.latency_ns);
  json.decimal("bytes_sent_per_request", static_cast<double>(measured.bytes_sent) / requests);
  json.decimal("bytes_received_per_request", static_cast<double>(measured.bytes_received) / requests);
  json.whole("errors", 0);
  json.whole("requests_in_all", measured.requests_in_all);
  json.whole("writes_in_all", measured.writes_in_all);
  json.whole("next_key", measured.next_key);
  json.whole("backlog_max", measured.backlog_max);
  json.decimal("generator_busy", static_cast<double>(measured.generator_cpu_ns) / 1e9 / measured.seconds);
  if (options.server_pid != 0 && measured.requests > 0) {
    add_server(json, measured, requests);
  }
  json.histogram("latency_buckets", measured.latency_ns);
  return json.line();
}

std::string failure_line(const Options& options, const Workload& workload, const std::string& failure) {
  JsonObject json;
  add_scenario(json, options, workload);
  json.whole("errors", 1);
  json.text("failure", failure);
  return json.line();
}

std::string description_line(const Workload& workload) {
  JsonObject json;
  json.text("workload", workload.name);
  json.text("about", workload.about);
  json.text("table", workload.table.name);
  json.truth("writes", workload.writes());
  json.truth("makes_rows", workload.keys.next);
  json.whole("keys", workload.keys.count);
  json.texts("protocols", protocols_of(workload));
  return json.line();
}

}  // namespace rowsocket::bench
