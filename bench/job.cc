// SPDX-License-Identifier: GPL-2.0-only
#include "bench/job.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

/// The bytes that a text of characters below 256 stands for; JSON has them as UTF-8.
std::string from_latin1(const std::string& utf8) {
  std::string bytes;
  bytes.reserve(utf8.size());
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte < 0x80) {
      bytes += utf8[i];
    } else if (byte > 0xC3 || ++i == utf8.size()) {
      throw std::runtime_error("a character beyond 255 in the bytes of a form");
    } else {
      bytes += static_cast<char>(byte << 6 | (static_cast<unsigned char>(utf8[i]) & 0x3F));
    }
  }
  return bytes;
}

}  // namespace

NLOHMANN_JSON_SERIALIZE_ENUM(Source, {{Source::key, "key"},
                                      {Source::tick, "tick"},
                                      {Source::connection, "connection"},
                                      {Source::digits, "digits"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Field, at, width, binary, of, key, multiply, add, divide,
                                                modulo)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KeyRange, count, least, most, next, list)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(OpenConnection, descriptor, number)

static void from_json(const nlohmann::json& json, Form& form) {
  form = Form(from_latin1(json.at("bytes").get<std::string>()), json.at("fields").get<std::vector<Field>>());
}

static void from_json(const nlohmann::json& json, TlsSettings& tls) {
  json.at("authority").get_to(tls.authority);
  json.at("version").get_to(tls.version);
  tls.opening = from_latin1(json.at("opening").get<std::string>());
  tls.opening_reply = from_latin1(json.at("opening_reply").get<std::string>());
}

static void from_json(const nlohmann::json& json, Exchange& exchange) {
  exchange = {json.at("weight"), json.at("request"), json.at("reply")};
}

Job parse_job(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  Job job;
  const auto get = [&](const char* name, auto& value) { json.at(name).get_to(value); };
  get("connections", job.connections);
  get("in_flight", job.in_flight);
  get("rate_per_s", job.rate_per_s);
  get("requests", job.requests);
  get("warm_up_s", job.warm_up_s);
  get("seconds", job.seconds);
  get("silence_s", job.silence_s);
  get("seed", job.seed);
  get("server_pid", job.server_pid);
  get("cpu", job.cpu);
  get("tls", job.tls);
  get("keys", job.keys);
  get("exchanges", job.exchanges);
  if (job.connections.empty() || job.exchanges.empty() || job.in_flight == 0) {
    throw std::runtime_error("a job needs connections, exchanges and requests in flight");
  }
  return job;
}

std::string report_line(const Measurement& measured) {
  nlohmann::json buckets = nlohmann::json::array();
  measured.latency_ns.for_each_bucket(
      [&](uint64_t last_ns, uint64_t count) { buckets.push_back({last_ns, count}); });
  return nlohmann::json{{"answered", measured.answered},
                        {"answered_in_all", measured.answered_in_all},
                        {"seconds", measured.seconds},
                        {"latency_sum_ns", measured.latency_ns.sum()},
                        {"latency_max_ns", measured.latency_ns.max()},
                        {"latency_buckets_ns", buckets},
                        {"bytes_sent", measured.bytes_sent},
                        {"bytes_received", measured.bytes_received},
                        {"backlog_max", measured.backlog_max},
                        {"generator_cpu_ns", measured.generator_cpu_ns},
                        {"server_cpu_ns", measured.server_cpu_ns},
                        {"next_key", measured.next_key},
                        {"encryption", measured.encryption}}
      .dump();
}

std::string failure_line(const std::string& failure) { return nlohmann::json{{"failure", failure}}.dump(); }

}  // namespace rowsocket::bench
