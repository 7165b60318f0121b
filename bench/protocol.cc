// SPDX-License-Identifier: GPL-2.0-only
#include "bench/protocol.h"

#include <algorithm>
#include <array>

#include "bench/connection.h"

namespace rowsocket::bench {

namespace {

struct Registration {
  std::string_view name;
  std::string_view requests;  ///< the word before its requests in a workload file
  MakeProtocol* make;
};

constexpr std::array registrations{
    Registration{"handlersocket", "handlersocket", make_handlersocket},
    Registration{"rowsocket", "rowsocket", make_rowsocket},
    Registration{"floor", "handlersocket", make_floor},
    Registration{"memcached", "memcached", make_memcached},
    Registration{"redis", "redis", make_redis},
#ifdef ROWSOCKET_BENCH_SQL
    Registration{"sql-text", "sql", make_sql_text},
    Registration{"sql-prepared", "sql", make_sql_prepared},
#endif
};

bool is_asked_by(const Workload& workload, std::string_view requests) {
  return std::all_of(workload.requests.begin(), workload.requests.end(),
                     [&](const Request& request) { return find_text(request, requests) != nullptr; });
}

}  // namespace

WrongAnswer::WrongAnswer(std::string_view received, std::string_view right)
    : std::runtime_error("wrong answer " + printable(received) + " where " + printable(right) + " is right") {}

size_t ComparingProtocol::check_reply(const Operation& operation, std::string_view received) {
  right_reply_.clear();
  write_right_reply(operation, right_reply_);
  const std::string_view right = right_reply_.view();
  if (!right.starts_with(received.substr(0, right.size()))) {
    throw WrongAnswer(received, right);
  }
  return received.size() < right.size() ? 0 : right.size();
}

size_t check_number_reply(std::string_view prefix, std::string_view received) {
  constexpr std::string_view line_end = "\r\n";
  if (!prefix.starts_with(received.substr(0, prefix.size()))) {
    throw WrongAnswer(received, std::string(prefix) + "NUMBER\r\n");
  }
  const size_t digits_end = received.find_first_not_of("0123456789", prefix.size());
  if (received.size() <= prefix.size() || digits_end == std::string_view::npos) {
    return 0;
  }
  const std::string_view rest = received.substr(digits_end, line_end.size());
  if (digits_end == prefix.size() || !line_end.starts_with(rest)) {
    throw WrongAnswer(received, std::string(prefix) + "NUMBER\r\n");
  }
  return rest.size() < line_end.size() ? 0 : digits_end + line_end.size();
}

const std::string& text_of(const Workload& workload, const Request& request, std::string_view protocol) {
  const std::string* const text = find_text(request, protocol);
  if (text == nullptr) {
    throw std::runtime_error("workload " + workload.name + " has no request for " + std::string(protocol));
  }
  return *text;
}

const std::string* find_text(const Request& request, std::string_view protocol) {
  const auto found = request.texts.find(protocol);
  if (found != request.texts.end()) {
    return &found->second;
  }
  return protocol == "rowsocket" ? find_text(request, "handlersocket") : nullptr;
}

std::vector<RequestText> parse_requests(const Workload& workload, std::string_view protocol) {
  std::vector<RequestText> requests;
  for (const Request& request : workload.requests) {
    requests.push_back(RequestText::parse(text_of(workload, request, protocol), workload.table));
  }
  return requests;
}

std::unique_ptr<Protocol> make_protocol(std::string_view name, const Workload& workload, const Access& access) {
  for (const Registration& registration : registrations) {
    if (registration.name == name) {
      return registration.make(workload, access);
    }
  }
  throw std::runtime_error("--protocol: \"" + std::string(name) + "\" is none of " + protocol_names());
}

std::string protocol_names() {
  std::string names;
  for (const Registration& registration : registrations) {
    names.append(names.empty() ? "" : ", ").append(registration.name);
  }
  return names;
}

std::vector<std::string> protocols_of(const Workload& workload) {
  std::vector<std::string> names;
  for (const Registration& registration : registrations) {
    if (is_asked_by(workload, registration.requests)) {
      names.emplace_back(registration.name);
    }
  }
  return names;
}

}  // namespace rowsocket::bench
