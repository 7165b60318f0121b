// SPDX-License-Identifier: GPL-2.0-only
#include "bench/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace rowsocket::bench {

namespace {

template <typename Number>
Number number(std::string_view text, Number least, Number most) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < least || value > most) {
    throw std::runtime_error("\"" + std::string(text) + "\" is not a number from " + std::to_string(least) + " to " +
                             std::to_string(most));
  }
  return value;
}

void set_parameter(Options& options, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw std::runtime_error("\"" + std::string(text) + "\" is not NAME=VALUE");
  }
  options.parameters.set(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

struct Option {
  std::string_view name;
  std::string_view value_name;  ///< empty = takes no value
  std::string_view help;
  void (*set)(Options& options, std::string_view text);
};

constexpr uint32_t count_max = 1'000'000'000;

constexpr std::array option_table{
    Option{"protocol", "NAME", "how to speak to the server (handlersocket)",
           [](Options& o, std::string_view t) { o.protocol = t; }},
    Option{"host", "ADDRESS", "numeric address (127.0.0.1)", [](Options& o, std::string_view t) { o.endpoint.host = t; }},
    Option{"port", "N", "TCP port", [](Options& o, std::string_view t) { o.endpoint.port = number<uint16_t>(t, 1, 65'535); }},
    Option{"socket", "PATH", "unix socket, instead of host and port",
           [](Options& o, std::string_view t) { o.endpoint.socket_path = t; }},
    Option{"user", "NAME", "of SQL (root)", [](Options& o, std::string_view t) { o.access.user = t; }},
    Option{"secret", "TEXT", "authenticate with this; SQL: the password",
           [](Options& o, std::string_view t) { o.access.secret = t; }},
    Option{"database", "NAME", "(bench)", [](Options& o, std::string_view t) { o.access.database = o.settings.database = t; }},
    Option{"workload", "NAME", "of workloads/, or the path of a file (point)",
           [](Options& o, std::string_view t) { o.workload = t; }},
    Option{"set", "NAME=VALUE", "a param of the workload or its table", set_parameter},
    Option{"connections", "N", "(100)", [](Options& o, std::string_view t) { o.connections = number(t, 1u, 60'000u); }},
    Option{"in-flight", "N", "requests under way per connection (1)",
           [](Options& o, std::string_view t) { o.in_flight = number(t, 1u, 100'000u); }},
    Option{"rate", "N", "requests per second, an open loop; 0 = closed loop (0)",
           [](Options& o, std::string_view t) { o.rate_per_s = number(t, 0.0, 1e8); }},
    Option{"keys", "N", "keys of one request (the workload's)",
           [](Options& o, std::string_view t) { o.settings.keys_per_request = number(t, 1u, 10'000u); }},
    Option{"rows", "N", "the table holds rows 1..N (1000000)",
           [](Options& o, std::string_view t) { o.settings.rows = number(t, 1u, count_max); }},
    Option{"zipf", "S", "exponent of the keys' distribution; 0 = uniform (0)",
           [](Options& o, std::string_view t) { o.zipf_exponent = number(t, 0.0, 10.0); }},
    Option{"seed", "N", "of the random keys (1)",
           [](Options& o, std::string_view t) { o.seed = number<uint64_t>(t, 0, ~uint64_t{0}); }},
    Option{"first-key", "N", "of workloads that make rows (rows + 1)",
           [](Options& o, std::string_view t) { o.first_key = number(t, 1u, count_max); }},
    Option{"requests", "N", "end after so many, without a warm-up, instead of after --seconds",
           [](Options& o, std::string_view t) { o.requests = number<uint64_t>(t, 1, ~uint64_t{0}); }},
    Option{"warm-up", "S", "seconds before measuring (0.5)",
           [](Options& o, std::string_view t) { o.warm_up_s = number(t, 0.0, 3600.0); }},
    Option{"seconds", "S", "to measure (3)", [](Options& o, std::string_view t) { o.seconds = number(t, 0.01, 864'000.0); }},
    Option{"server-pid", "PID", "measure this process",
           [](Options& o, std::string_view t) { o.server_pid = number<pid_t>(t, 1, 1 << 30); }},
    Option{"cpu", "N", "run on this core only", [](Options& o, std::string_view t) { o.cpu = number(t, 0, 1023); }},
    Option{"describe", "", "only print what the workload is", [](Options& o, std::string_view) { o.task = Task::describe; }},
    Option{"table-sql", "", "only print the SQL that makes and fills the workload's table",
           [](Options& o, std::string_view) { o.task = Task::table_sql; }},
    Option{"help", "", "only print this", [](Options& o, std::string_view) { o.task = Task::help; }},
};

const Option& find_option(std::string_view argument) {
  for (const Option& option : option_table) {
    if (argument.starts_with("--") && argument.substr(2) == option.name) {
      return option;
    }
  }
  throw std::runtime_error("unknown option " + std::string(argument) + "; --help lists them");
}

}  // namespace

Options parse_options(int argument_count, char* const* arguments) {
  Options options;
  for (int i = 1; i < argument_count; ++i) {
    const Option& option = find_option(arguments[i]);
    std::string_view value;
    if (!option.value_name.empty()) {
      if (++i == argument_count) {
        throw std::runtime_error("--" + std::string(option.name) + " needs a value");
      }
      value = arguments[i];
    }
    try {
      option.set(options, value);
    } catch (const std::runtime_error& failure) {
      throw std::runtime_error("--" + std::string(option.name) + ": " + failure.what());
    }
  }
  if (options.first_key == 0) {
    options.first_key = options.settings.rows + 1;
  }
  return options;
}

std::string usage() {
  std::string text =
      "load: ask a server for rows, check every answer, print one JSON line.\nProtocols: " + protocol_names() + "\n";
  for (const Option& option : option_table) {
    std::string head = "  --" + std::string(option.name) + " " + std::string(option.value_name);
    head.resize(std::max<size_t>(head.size() + 2, 24), ' ');
    text.append(head).append(option.help).append("\n");
  }
  return text;
}

}  // namespace rowsocket::bench
