// SPDX-License-Identifier: GPL-2.0-only
//
// What clients ask of the server as a whole: INFO, CONFIG GET, COMMAND, TIME.
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "wire/resp/commands.h"
#include "wire/resp/glob.h"
#include "wire/resp/version.h"

namespace rowsocket::wire::resp {
namespace {

void append_digits(Buffer& out, uint64_t number) {
  char digits[20];
  out.append(
      {digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof(digits), number).ptr - digits)});
}

class InfoReply final : public CommonReply {
 public:
  InfoReply(Buffer& out, const ServerFigures* figures, const Settings& settings, Arguments sections)
      : CommonReply(out, Form::values, 2, nullptr),
        figures_(figures),
        settings_(settings),
        sections_(sections) {}
  void done() override;

 private:
  [[nodiscard]] bool wants(std::string_view section) const {
    return sections_.empty() ||
           std::any_of(sections_.begin(), sections_.end(), [section](std::string_view word) {
             return is_word(word, section) || is_word(word, "ALL") || is_word(word, "DEFAULT") ||
                    is_word(word, "EVERYTHING");
           });
  }
  void line(std::string_view name, std::string_view value) {
    out().append(name);
    out().append(':');
    append_line(out(), value);
  }
  void line(std::string_view name, uint64_t value) {
    out().append(name);
    out().append(':');
    append_digits(out(), value);
    out().append(line_end);
  }
  void tell_counters();

  const ServerFigures* figures_;
  const Settings& settings_;
  Arguments sections_;
};

void InfoReply::done() {
  const size_t begin = out().size();
  if (wants("SERVER")) {
    append_line(out(), "# Server");
    line("redis_version", version_text);
    line("redis_mode", "standalone");
    line("server_name", "rowsocket");
    line("process_id", static_cast<uint64_t>(getpid()));
    line("uptime_in_seconds", figures_ == nullptr ? 0 : figures_->uptime_s());
  }
  if (wants("CLIENTS")) {
    append_line(out(), "# Clients");
    line("connected_clients", figures_ == nullptr ? 0 : figures_->connections());
    line("maxclients", settings_.max_connections);
  }
  if (wants("PERSISTENCE")) {
    append_line(out(), "# Persistence");
    line("loading", uint64_t{0});
  }
  if (wants("REPLICATION")) {
    append_line(out(), "# Replication");
    line("role", "master");
  }
  if (wants("CLUSTER")) {
    append_line(out(), "# Cluster");
    line("cluster_enabled", uint64_t{0});
  }
  if (wants("KEYSPACE")) {
    append_line(out(), "# Keyspace");
  }
  if (wants("ROWSOCKET")) {
    append_line(out(), "# RowSocket");
    line("containers", settings_.containers == nullptr ? 0 : settings_.containers->size());
    tell_counters();
  }
  put_in_front(out(), begin, '$', out().size() - begin);
  out().append(line_end);
}

/// The counters of all protocols, under the names that SHOW STATUS has.
void InfoReply::tell_counters() {
  if (figures_ == nullptr) {
    return;
  }
  line("workers", figures_->workers());
  for (size_t number = 0; number < static_cast<size_t>(Counter::count_); ++number) {
    const auto counter = static_cast<Counter>(number);
    line(counter_name(counter), figures_->counter(counter));
  }
}

// ---- CONFIG GET

struct Parameter {
  std::string_view name;
  std::string_view value;
};
/// What clients ask for. The values are those of a Redis that does what RowSocket does.
constexpr Parameter parameters[] = {{"appendonly", "yes"},
                                    {"databases", "1"},
                                    {"maxmemory", "0"},
                                    {"maxmemory-policy", "noeviction"},
                                    {"notify-keyspace-events", ""},
                                    {"replica-read-only", "no"},
                                    {"save", ""}};

class ConfigReply final : public CommonReply {
 public:
  ConfigReply(Buffer& out, uint32_t version, Arguments patterns)
      : CommonReply(out, Form::values, version, nullptr), patterns_(patterns) {}
  void done() override {
    const size_t begin = out().size();
    uint64_t count = 0;
    for (const Parameter& parameter : parameters) {
      if (std::any_of(patterns_.begin(), patterns_.end(), [&parameter](std::string_view pattern) {
            return matches_glob(parameter.name, pattern);
          })) {
        append_text(out(), parameter.name);
        append_text(out(), parameter.value);
        ++count;
      }
    }
    put_in_front(out(), begin, version() == 2 ? '*' : '%', version() == 2 ? 2 * count : count);
  }

 private:
  Arguments patterns_;
};

// ---- COMMAND

class CommandsReply final : public CommonReply {
 public:
  enum class Asked : uint8_t { all, docs, count, names };
  CommandsReply(Buffer& out, uint32_t version, Asked asked, Arguments names, bool has_names)
      : CommonReply(out, Form::values, version, nullptr),
        asked_(asked),
        names_(names),
        has_names_(has_names) {}
  void done() override;

 private:
  void tell(const Command& command);
  void tell_docs(const Command& command);
  void tell_name(std::string_view name);

  Asked asked_;
  Arguments names_;
  bool has_names_;
};

/// In small letters, as Redis tells it.
void CommandsReply::tell_name(std::string_view name) {
  const size_t begin = out().size();
  append_text(out(), name);
  if (!out().failed()) {
    std::transform(out().data() + begin, out().data() + out().size(), out().data() + begin, [](char byte) {
      return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte;
    });
  }
}

void CommandsReply::tell(const Command& command) {
  append_line(out(), "*6");
  tell_name(command.name);
  append_number(out(), ':', command.arity);
  append_line(out(), "*1");
  append_line(out(), command.writes ? "+write" : "+readonly");
  append_number(out(), ':', command.first_key);
  append_number(out(), ':', command.last_key);
  append_number(out(), ':', command.key_step);
}

void CommandsReply::tell_docs(const Command& command) {
  tell_name(command.name);
  append_line(out(), version() == 2 ? "*2" : "%1");
  append_text(out(), "group");
  append_text(out(), command.group);
}

void CommandsReply::done() {
  const auto all = all_commands();
  if (asked_ == Asked::count) {
    append_number(out(), ':', static_cast<int64_t>(all.size()));
    return;
  }
  const size_t begin = out().size();
  uint64_t count = 0;
  const auto tell_one = [&](const Command& command) {
    ++count;
    if (asked_ == Asked::docs) {
      tell_docs(command);
    } else if (asked_ == Asked::names) {
      tell_name(command.name);
    } else {
      tell(command);
    }
  };
  if (!has_names_) {
    std::for_each(all.begin(), all.end(), tell_one);
  }
  for (const std::string_view name : names_) {
    if (const Command* const command = find_command(name); command != nullptr) {
      tell_one(*command);
    } else if (asked_ == Asked::all) {
      ++count;
      out().append(version() == 2 ? "*-1\r\n" : "_\r\n");
    }
  }
  const bool is_map = asked_ == Asked::docs;
  put_in_front(out(), begin, is_map && version() > 2 ? '%' : '*',
               is_map && version() == 2 ? 2 * count : count);
}

class TimeReply final : public CommonReply {
 public:
  TimeReply(Buffer& out, uint64_t now_us) : CommonReply(out, Form::values, 2, nullptr), now_us_(now_us) {}
  void done() override {
    append_line(out(), "*2");
    for (const uint64_t number : {now_us_ / 1'000'000, now_us_ % 1'000'000}) {
      const size_t begin = out().size();
      append_digits(out(), number);
      put_in_front(out(), begin, '$', out().size() - begin);
      out().append(line_end);
    }
  }

 private:
  uint64_t now_us_;
};

}  // namespace

void plan_info(const Scope& scope, Arguments arguments, Plan& plan) {
  plan.stand_alone(make_answer<InfoReply>(scope, false, scope.parsing.figures, scope.parsing.settings,
                                          arguments.subspan(1)));
}

void plan_config(const Scope& scope, Arguments arguments, Plan& plan) {
  if (!is_word(arguments[1], "GET") || arguments.size() < 3) {
    plan.refuse("-ERR of CONFIG only GET is there: settings are the server's variables rowsocket_%");
    return;
  }
  const auto patterns = scope.arena().array<std::string_view>(arguments.size() - 2);
  for (size_t number = 0; number < patterns.size(); ++number) {
    patterns[number] = in_small_letters(scope, arguments[number + 2]);
  }
  plan.stand_alone(patterns.empty()
                       ? nullptr
                       : make_answer<ConfigReply>(scope, false, scope.version(), Arguments(patterns)));
}

void plan_command_command(const Scope& scope, Arguments arguments, Plan& plan) {
  using Asked = CommandsReply::Asked;
  const Arguments names = arguments.size() > 2 ? arguments.subspan(2) : Arguments();
  const bool has_names = !names.empty();
  if (arguments.size() == 1) {
    plan.stand_alone(make_answer<CommandsReply>(scope, false, scope.version(), Asked::all, names, false));
  } else if (is_word(arguments[1], "COUNT")) {
    plan.stand_alone(make_answer<CommandsReply>(scope, false, scope.version(), Asked::count, names, false));
  } else if (is_word(arguments[1], "DOCS")) {
    plan.stand_alone(
        make_answer<CommandsReply>(scope, false, scope.version(), Asked::docs, names, has_names));
  } else if (is_word(arguments[1], "INFO")) {
    plan.stand_alone(make_answer<CommandsReply>(scope, false, scope.version(), Asked::all, names, has_names));
  } else if (is_word(arguments[1], "LIST") && !has_names) {
    plan.stand_alone(make_answer<CommandsReply>(scope, false, scope.version(), Asked::names, names, false));
  } else {
    plan.refuse("-ERR unknown subcommand of COMMAND: there are COUNT, DOCS, INFO and LIST");
  }
}

void plan_time(const Scope& scope, Arguments, Plan& plan) {
  plan.stand_alone(make_answer<TimeReply>(scope, false, scope.now_us()));
}

}  // namespace rowsocket::wire::resp
