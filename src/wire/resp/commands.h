// SPDX-License-Identifier: GPL-2.0-only
//
// The table of commands: name, how many arguments, and the function that makes requests of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wire/resp/arguments.h"
#include "wire/resp/parts.h"

namespace rowsocket::wire::resp {

struct Command {
  std::string_view name;   ///< in capitals
  int arity;               ///< with the name; negative: at least so many
  std::string_view group;  ///< what COMMAND DOCS says it is about
  bool writes;
  int first_key, last_key, key_step;  ///< as COMMAND tells them
  void (*plan)(const Scope& scope, Arguments arguments, Plan& plan);
  bool for_strangers = false;  ///< before a secret was said, too
};

[[nodiscard]] std::span<const Command> all_commands();
/// nullptr if there is none of this name, in whatever case.
[[nodiscard]] const Command* find_command(std::string_view name);
/// Why a command that is none is not there; empty where nothing is to be said of it.
[[nodiscard]] std::string_view why_not_there(std::string_view name);

/// What the arguments ask, whether or not commands are collected.
void plan_command(const Scope& scope, Arguments arguments, Plan& plan);
/// The same as a request to execute; nullptr where memory is refused. `names_rows`: it is about rows or
/// tables alone, and not about the connection.
[[nodiscard]] Request* make_command(const Scope& scope, Arguments arguments, bool& names_rows);

// connection.cc
void plan_ping(const Scope& scope, Arguments arguments, Plan& plan);
void plan_echo(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hello(const Scope& scope, Arguments arguments, Plan& plan);
void plan_auth(const Scope& scope, Arguments arguments, Plan& plan);
void plan_select(const Scope& scope, Arguments arguments, Plan& plan);
void plan_reset(const Scope& scope, Arguments arguments, Plan& plan);
void plan_client(const Scope& scope, Arguments arguments, Plan& plan);
// server.cc
void plan_info(const Scope& scope, Arguments arguments, Plan& plan);
void plan_config(const Scope& scope, Arguments arguments, Plan& plan);
void plan_command_command(const Scope& scope, Arguments arguments, Plan& plan);
void plan_time(const Scope& scope, Arguments arguments, Plan& plan);
// read_strings.cc
void plan_get(const Scope& scope, Arguments arguments, Plan& plan);
void plan_mget(const Scope& scope, Arguments arguments, Plan& plan);
void plan_strlen(const Scope& scope, Arguments arguments, Plan& plan);
void plan_getdel(const Scope& scope, Arguments arguments, Plan& plan);
void plan_getex(const Scope& scope, Arguments arguments, Plan& plan);
// write_strings.cc
void plan_set(const Scope& scope, Arguments arguments, Plan& plan);
void plan_setnx(const Scope& scope, Arguments arguments, Plan& plan);
void plan_setex(const Scope& scope, Arguments arguments, Plan& plan);
void plan_psetex(const Scope& scope, Arguments arguments, Plan& plan);
void plan_getset(const Scope& scope, Arguments arguments, Plan& plan);
void plan_mset(const Scope& scope, Arguments arguments, Plan& plan);
void plan_append(const Scope& scope, Arguments arguments, Plan& plan);
void plan_incr(const Scope& scope, Arguments arguments, Plan& plan);
void plan_decr(const Scope& scope, Arguments arguments, Plan& plan);
void plan_incrby(const Scope& scope, Arguments arguments, Plan& plan);
void plan_decrby(const Scope& scope, Arguments arguments, Plan& plan);
// expiry.cc
void plan_expire(const Scope& scope, Arguments arguments, Plan& plan);
void plan_pexpire(const Scope& scope, Arguments arguments, Plan& plan);
void plan_expireat(const Scope& scope, Arguments arguments, Plan& plan);
void plan_pexpireat(const Scope& scope, Arguments arguments, Plan& plan);
void plan_ttl(const Scope& scope, Arguments arguments, Plan& plan);
void plan_pttl(const Scope& scope, Arguments arguments, Plan& plan);
void plan_expiretime(const Scope& scope, Arguments arguments, Plan& plan);
void plan_pexpiretime(const Scope& scope, Arguments arguments, Plan& plan);
void plan_persist(const Scope& scope, Arguments arguments, Plan& plan);
// keys.cc
void plan_del(const Scope& scope, Arguments arguments, Plan& plan);
void plan_exists(const Scope& scope, Arguments arguments, Plan& plan);
void plan_type(const Scope& scope, Arguments arguments, Plan& plan);
// scan.cc
void plan_scan(const Scope& scope, Arguments arguments, Plan& plan);
// hashes.cc
void plan_hget(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hmget(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hgetall(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hkeys(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hvals(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hlen(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hstrlen(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hexists(const Scope& scope, Arguments arguments, Plan& plan);
// write_hashes.cc
void plan_hset(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hmset(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hsetnx(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hincrby(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hincrbyfloat(const Scope& scope, Arguments arguments, Plan& plan);
void plan_hdel(const Scope& scope, Arguments arguments, Plan& plan);
// rows.cc
void plan_rows_find(const Scope& scope, Arguments arguments, Plan& plan);
void plan_rows_count(const Scope& scope, Arguments arguments, Plan& plan);
void plan_rows_change(const Scope& scope, Arguments arguments, Plan& plan);
// rows_insert.cc
void plan_rows_insert(const Scope& scope, Arguments arguments, Plan& plan);

// transaction.cc: commands that are collected until EXEC.

/// MULTI, EXEC and DISCARD; nullptr as `handled` says: not one of them, or no memory.
[[nodiscard]] Request* make_transaction_command(const Scope& scope, Arguments arguments, bool& handled);
/// Of any other command while commands are collected. `bytes`: as it was sent.
[[nodiscard]] Request* collect(const Scope& scope, Arguments arguments, std::string_view bytes);
/// The last byte of EXEC.
[[nodiscard]] Request* end_collecting(const Scope& scope);

}  // namespace rowsocket::wire::resp
