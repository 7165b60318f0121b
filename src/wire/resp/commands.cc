// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/commands.h"

#include <algorithm>
#include <array>

#include "base/limits.h"

namespace rowsocket::wire::resp {
namespace {

// clang-format off
/// In the order of their names. MULTI, EXEC, DISCARD and QUIT are made elsewhere.
constexpr Command commands[] = {
    {"APPEND", 3, "string", true, 1, 1, 1, plan_append},
    {"AUTH", -2, "connection", false, 0, 0, 0, plan_auth, true},
    {"CLIENT", -2, "connection", false, 0, 0, 0, plan_client},
    {"COMMAND", -1, "server", false, 0, 0, 0, plan_command_command},
    {"CONFIG", -2, "server", false, 0, 0, 0, plan_config},
    {"DECR", 2, "string", true, 1, 1, 1, plan_decr},
    {"DECRBY", 3, "string", true, 1, 1, 1, plan_decrby},
    {"DEL", -2, "generic", true, 1, -1, 1, plan_del},
    {"DISCARD", 1, "transactions", false, 0, 0, 0, nullptr},
    {"ECHO", 2, "connection", false, 0, 0, 0, plan_echo},
    {"EXEC", 1, "transactions", false, 0, 0, 0, nullptr},
    {"EXISTS", -2, "generic", false, 1, -1, 1, plan_exists},
    {"EXPIRE", -3, "generic", true, 1, 1, 1, plan_expire},
    {"EXPIREAT", -3, "generic", true, 1, 1, 1, plan_expireat},
    {"EXPIRETIME", 2, "generic", false, 1, 1, 1, plan_expiretime},
    {"GET", 2, "string", false, 1, 1, 1, plan_get},
    {"GETDEL", 2, "string", true, 1, 1, 1, plan_getdel},
    {"GETEX", -2, "string", true, 1, 1, 1, plan_getex},
    {"GETSET", 3, "string", true, 1, 1, 1, plan_getset},
    {"HDEL", -3, "hash", true, 1, 1, 1, plan_hdel},
    {"HELLO", -1, "connection", false, 0, 0, 0, plan_hello, true},
    {"HEXISTS", 3, "hash", false, 1, 1, 1, plan_hexists},
    {"HGET", 3, "hash", false, 1, 1, 1, plan_hget},
    {"HGETALL", 2, "hash", false, 1, 1, 1, plan_hgetall},
    {"HINCRBY", 4, "hash", true, 1, 1, 1, plan_hincrby},
    {"HINCRBYFLOAT", 4, "hash", true, 1, 1, 1, plan_hincrbyfloat},
    {"HKEYS", 2, "hash", false, 1, 1, 1, plan_hkeys},
    {"HLEN", 2, "hash", false, 1, 1, 1, plan_hlen},
    {"HMGET", -3, "hash", false, 1, 1, 1, plan_hmget},
    {"HMSET", -4, "hash", true, 1, 1, 1, plan_hmset},
    {"HSET", -4, "hash", true, 1, 1, 1, plan_hset},
    {"HSETNX", 4, "hash", true, 1, 1, 1, plan_hsetnx},
    {"HSTRLEN", 3, "hash", false, 1, 1, 1, plan_hstrlen},
    {"HVALS", 2, "hash", false, 1, 1, 1, plan_hvals},
    {"INCR", 2, "string", true, 1, 1, 1, plan_incr},
    {"INCRBY", 3, "string", true, 1, 1, 1, plan_incrby},
    {"INFO", -1, "server", false, 0, 0, 0, plan_info},
    {"MGET", -2, "string", false, 1, -1, 1, plan_mget},
    {"MSET", -3, "string", true, 1, -1, 2, plan_mset},
    {"MULTI", 1, "transactions", false, 0, 0, 0, nullptr},
    {"PERSIST", 2, "generic", true, 1, 1, 1, plan_persist},
    {"PEXPIRE", -3, "generic", true, 1, 1, 1, plan_pexpire},
    {"PEXPIREAT", -3, "generic", true, 1, 1, 1, plan_pexpireat},
    {"PEXPIRETIME", 2, "generic", false, 1, 1, 1, plan_pexpiretime},
    {"PING", -1, "connection", false, 0, 0, 0, plan_ping},
    {"PSETEX", 4, "string", true, 1, 1, 1, plan_psetex},
    {"PTTL", 2, "generic", false, 1, 1, 1, plan_pttl},
    {"QUIT", -1, "connection", false, 0, 0, 0, nullptr, true},
    {"RESET", 1, "connection", false, 0, 0, 0, plan_reset, true},
    {"ROWS.CHANGE", -6, "rows", true, 1, 1, 1, plan_rows_change},
    {"ROWS.COUNT", -5, "rows", false, 1, 1, 1, plan_rows_count},
    {"ROWS.FIND", -6, "rows", false, 1, 1, 1, plan_rows_find},
    {"ROWS.INSERT", -5, "rows", true, 1, 1, 1, plan_rows_insert},
    {"SCAN", -2, "generic", false, 0, 0, 0, plan_scan},
    {"SELECT", 2, "connection", false, 0, 0, 0, plan_select},
    {"SET", -3, "string", true, 1, 1, 1, plan_set},
    {"SETEX", 4, "string", true, 1, 1, 1, plan_setex},
    {"SETNX", 3, "string", true, 1, 1, 1, plan_setnx},
    {"STRLEN", 2, "string", false, 1, 1, 1, plan_strlen},
    {"TIME", 1, "server", false, 0, 0, 0, plan_time},
    {"TTL", 2, "generic", false, 1, 1, 1, plan_ttl},
    {"TYPE", 2, "generic", false, 1, 1, 1, plan_type},
    {"UNLINK", -2, "generic", true, 1, -1, 1, plan_del},
};
// clang-format on

static_assert(std::is_sorted(std::begin(commands), std::end(commands),
                             [](const Command& one, const Command& other) { return one.name < other.name; }));

/// A hash table of them with open addressing. A slot is empty, or has the command's place, counted from 1.
constexpr size_t slot_count = 256;
static_assert(std::size(commands) < slot_count / 2);

/// Of a name in letters of either kind.
constexpr size_t slot_of(std::string_view name) {
  size_t hash = 0;
  for (const char letter : name) {
    hash = hash * 31 + static_cast<unsigned char>(to_capital(letter));
  }
  return hash % slot_count;
}

constexpr size_t next_slot(size_t slot) { return (slot + 1) % slot_count; }

constexpr std::array<uint8_t, slot_count> slots = [] {
  std::array<uint8_t, slot_count> all{};
  for (size_t place = 0; place < std::size(commands); ++place) {
    size_t slot = slot_of(commands[place].name);
    while (all[slot] != 0) {
      slot = next_slot(slot);
    }
    all[slot] = static_cast<uint8_t>(place + 1);
  }
  return all;
}();

/// Names of commands that are not there, by how they begin, and what they would need.
struct NotThere {
  std::string_view beginning;
  std::string_view what;
};
constexpr NotThere not_there[] = {
    {"BITCOUNT", "bits"},
    {"BITFIELD", "bits"},
    {"BITOP", "bits"},
    {"BITPOS", "bits"},
    {"BLMOVE", "lists"},
    {"BLMPOP", "lists"},
    {"BLPOP", "lists"},
    {"BRPOP", "lists"},
    {"BZ", "sorted sets"},
    {"EVAL", "scripts"},
    {"FCALL", "scripts"},
    {"FUNCTION", "scripts"},
    {"FLUSH", "commands that empty tables"},
    {"GEO", "sorted sets"},
    {"GETBIT", "bits"},
    {"LINDEX", "lists"},
    {"LINSERT", "lists"},
    {"LLEN", "lists"},
    {"LMOVE", "lists"},
    {"LMPOP", "lists"},
    {"LPOP", "lists"},
    {"LPOS", "lists"},
    {"LPUSH", "lists"},
    {"LRANGE", "lists"},
    {"LREM", "lists"},
    {"LSET", "lists"},
    {"LTRIM", "lists"},
    {"PF", "HyperLogLogs"},
    {"PSUBSCRIBE", "channels"},
    {"PUBLISH", "channels"},
    {"PUBSUB", "channels"},
    {"PUNSUBSCRIBE", "channels"},
    {"RPOP", "lists"},
    {"RPUSH", "lists"},
    {"SADD", "sets"},
    {"SCARD", "sets"},
    {"SCRIPT", "scripts"},
    {"SDIFF", "sets"},
    {"SETBIT", "bits"},
    {"SINTER", "sets"},
    {"SISMEMBER", "sets"},
    {"SMEMBERS", "sets"},
    {"SMISMEMBER", "sets"},
    {"SMOVE", "sets"},
    {"SPOP", "sets"},
    {"SPUBLISH", "channels"},
    {"SRANDMEMBER", "sets"},
    {"SREM", "sets"},
    {"SSCAN", "sets"},
    {"SSUBSCRIBE", "channels"},
    {"SUBSCRIBE", "channels"},
    {"SUNION", "sets"},
    {"SUNSUBSCRIBE", "channels"},
    {"UNSUBSCRIBE", "channels"},
    {"UNWATCH", "watched keys"},
    {"WATCH", "watched keys"},
    {"XA", "streams"},
    {"XC", "streams"},
    {"XD", "streams"},
    {"XG", "streams"},
    {"XI", "streams"},
    {"XL", "streams"},
    {"XP", "streams"},
    {"XR", "streams"},
    {"XS", "streams"},
    {"XT", "streams"},
    {"Z", "sorted sets"},
};

/// In capitals; empty if no command's name is so long.
std::string_view in_capitals(std::string_view name, std::span<char> room) {
  if (name.size() > room.size()) {
    return {};
  }
  std::transform(name.begin(), name.end(), room.begin(), to_capital);
  return {room.data(), name.size()};
}

/// As Redis words it, and why where something is to be said.
class UnknownReply final : public CommonReply {
 public:
  UnknownReply(Buffer& out, Arguments arguments)
      : CommonReply(out, Form::values, 2, nullptr), arguments_(arguments) {}
  void failed(const Error& error) override;

 private:
  void quote(std::string_view text, size_t bytes_max) {
    const size_t begin = out().size();
    out().append('\'');
    out().append(text.substr(0, bytes_max));
    out().append('\'');
    if (!out().failed()) {
      std::replace_if(
          out().data() + begin, out().data() + out().size(),
          [](char byte) { return byte == '\r' || byte == '\n'; }, ' ');
    }
  }

  Arguments arguments_;
};

void UnknownReply::failed(const Error& error) {
  if (error.code == ErrorCode::not_authenticated) {
    CommonReply::failed(error);
    return;
  }
  out().append("-ERR unknown command ");
  quote(arguments_[0], limits::resp_told_bytes_max);
  if (const std::string_view why = why_not_there(arguments_[0]); !why.empty()) {
    out().append(": there are no ");
    out().append(why);
    append_line(out(), " here");
    return;
  }
  out().append(", with args beginning with: ");
  const size_t begin = out().size();
  for (const std::string_view argument : arguments_.subspan(1)) {
    const size_t told_bytes = out().size() - begin;
    if (told_bytes >= limits::resp_told_bytes_max || out().failed()) {
      break;
    }
    quote(argument, limits::resp_told_bytes_max - told_bytes);
    out().append(' ');
  }
  out().append(line_end);
}

Request* refuse_unknown(const Scope& scope, Arguments arguments) {
  auto* const request = make_request<Request, UnknownReply>(scope, arguments);
  if (request != nullptr) {
    request->mistake = ErrorCode::unknown_command;
  }
  return request;
}

/// "-ERR wrong number of arguments for 'get' command"
std::string_view wrong_number(const Scope& scope, const Command& command) {
  const std::string_view parts[] = {"-ERR wrong number of arguments for '",
                                    in_small_letters(scope, command.name), "' command"};
  return joined(scope, parts, {});
}

bool fits(const Command& command, size_t count) {
  return command.arity >= 0 ? count == static_cast<size_t>(command.arity)
                            : count >= static_cast<size_t>(-command.arity);
}

/// `command` is nullptr where there is none of this name.
void plan_found(const Scope& scope, const Command* command, Arguments arguments, Plan& plan) {
  if (command != nullptr && command->for_strangers) {
    plan.be_for_strangers();
  }
  if (command == nullptr || command->plan == nullptr) {
    plan.refuse_with(refuse_unknown(scope, arguments));
    return;
  }
  if (!fits(*command, arguments.size())) {
    plan.refuse(wrong_number(scope, *command));
    return;
  }
  command->plan(scope, arguments, plan);
}

}  // namespace

std::span<const Command> all_commands() { return commands; }

const Command* find_command(std::string_view name) {
  if (name.size() > limits::resp_name_bytes_max) {
    return nullptr;
  }
  for (size_t slot = slot_of(name); slots[slot] != 0; slot = next_slot(slot)) {
    const Command& command = commands[slots[slot] - 1];
    if (is_word(name, command.name)) {
      return &command;
    }
  }
  return nullptr;
}

std::string_view why_not_there(std::string_view name) {
  std::array<char, limits::resp_name_bytes_max> room;
  const std::string_view capitals = in_capitals(name, room);
  const auto* const found =
      std::find_if(std::begin(not_there), std::end(not_there),
                   [capitals](const NotThere& one) { return capitals.starts_with(one.beginning); });
  return found == std::end(not_there) ? std::string_view() : found->what;
}

void plan_command(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_found(scope, find_command(arguments[0]), arguments, plan);
}

Request* make_command(const Scope& scope, Arguments arguments, bool& names_rows) {
  const Command* const command = find_command(arguments[0]);
  names_rows = command != nullptr && command->first_key > 0;
  Plan plan(scope);
  plan_found(scope, command, arguments, plan);
  return plan.whole();
}

}  // namespace rowsocket::wire::resp
