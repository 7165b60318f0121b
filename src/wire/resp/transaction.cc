// SPDX-License-Identifier: GPL-2.0-only
//
// MULTI, EXEC, DISCARD. Between MULTI and EXEC commands are kept as they were sent. EXEC reads them again,
// and makes one group of all that they come to: it commits, or nothing of it was done.
//
// EXEC may have to wait for a lock, and is parsed again then, so it must leave the state as it is. What it
// leaves of its own bytes is the last one. Once more bytes follow, or the same turn goes on, that byte is a
// request of its own, which ends the collecting. It changes the state, so EXEC is final before it.
#include <cstring>

#include "base/limits.h"
#include "wire/resp/commands.h"

namespace rowsocket::wire::resp {
namespace {

constexpr std::string_view aborted_by_words =
    "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command";
constexpr std::string_view aborted = "-EXECABORT Transaction discarded because of previous errors.";

class MultiReply final : public CommonReply {
 public:
  MultiReply(Buffer& out, State& state) : CommonReply(out, Form::values, 2, nullptr), state_(state) {}
  void done() override {
    state_.forget_collected();
    state_.collects = true;
    append_line(out(), "+OK");
  }

 private:
  State& state_;
};

/// One line, or none, and nothing is collected any more.
class EndReply final : public CommonReply {
 public:
  EndReply(Buffer& out, State& state, std::string_view line)
      : CommonReply(out, Form::values, 2, nullptr), state_(state), line_(line) {}
  void failed(const Error& error) override {
    if (error.code == ErrorCode::not_authenticated) {
      state_.forget_collected();
    }
    CommonReply::failed(error);
  }
  void done() override {
    state_.forget_collected();
    if (!line_.empty()) {
      append_line(out(), line_);
    }
  }

 private:
  State& state_;
  std::string_view line_;
};

class QueuedReply final : public CommonReply {
 public:
  QueuedReply(Buffer& out, State& state, std::string_view bytes)
      : CommonReply(out, Form::values, 2, nullptr), state_(state), bytes_(bytes) {}
  /// What can not be collected is not left out: EXEC will do nothing.
  void failed(const Error& error) override {
    state_.is_broken = true;
    CommonReply::failed(error);
  }
  /// It may be told again, where the transaction of another client's request of the turn is lost.
  void done() override {
    if (!is_collected_) {
      state_.collected.append(bytes_);
      if (state_.collected.failed()) {
        failed(ErrorCode::out_of_memory);
        return;
      }
      ++state_.collected_count;
      is_collected_ = true;
    }
    append_line(out(), "+QUEUED");
  }

 private:
  State& state_;
  std::string_view bytes_;
  bool is_collected_ = false;
};

/// A command that can not be collected: what it is answered alone, and EXEC will do nothing.
class BreakingReply final : public CommonReply {
 public:
  BreakingReply(Buffer& out, State& state, Reply& alone)
      : CommonReply(out, Form::values, 2, nullptr), state_(state), alone_(alone) {}
  void failed(const Error& error) override {
    state_.is_broken = true;
    alone_.failed(error);
  }

 private:
  State& state_;
  Reply& alone_;
};

/// Of a reply that begins there, "-ERR " becomes what says that nothing was done.
void lead_with_abort(Buffer& out, size_t begin) {
  constexpr std::string_view plain = "-ERR ";
  constexpr std::string_view abort = "-EXECABORT Transaction discarded, nothing of it was done: ";
  if (out.failed() || !out.view().substr(begin).starts_with(plain) || !out.reserve(abort.size())) {
    return;
  }
  char* const line = out.data() + begin;
  std::memmove(line + abort.size(), line + plain.size(), out.size() - begin - plain.size());
  std::memcpy(line, abort.data(), abort.size());
  out.advance(abort.size() - plain.size());
}

class ExecReply final : public GroupReply {
 public:
  ExecReply(Buffer& out, std::span<Request* const> members, uint32_t command_count)
      : GroupReply(out, members), command_count_(command_count) {}
  void group_begins() override { append_number(out(), '*', command_count_); }
  void group_failed(size_t member, const Error& error) override {
    const size_t begin = out().size();
    GroupReply::group_failed(member, error);
    lead_with_abort(out(), begin);
  }

 private:
  uint32_t command_count_;
};

/// EXEC where a command that was collected can not be done any more, since a container has changed.
class RefusedExecReply final : public CommonReply {
 public:
  RefusedExecReply(Buffer& out, State& state, Reply& alone)
      : CommonReply(out, Form::values, 2, nullptr), state_(state), alone_(alone) {}
  void failed(const Error& error) override {
    state_.forget_collected();
    const size_t begin = out().size();
    alone_.failed(error);
    lead_with_abort(out(), begin);
  }

 private:
  State& state_;
  Reply& alone_;
};

Request* refuse_alone(const Scope& scope, std::string_view line) {
  Plan plan(scope);
  plan.refuse(line);
  return plan.whole();
}

/// A command that was refused, with another reply around its own.
template <typename Around>
Request* refuse_within(const Scope& scope, Request* alone) {
  auto* const request =
      alone == nullptr ? nullptr : make_request<Request, Around>(scope, scope.state, *alone->reply);
  if (request != nullptr) {
    request->mistake = alone->mistake;
    request->for_readers = alone->for_readers;
    request->changes_state = true;
  }
  return request;
}

/// The group that the collected commands are; `state.executes` says that one was made.
Request* make_exec(const Scope& scope) {
  State& state = scope.state;
  // The state's own may go while the group is under way.
  std::string_view rest = scope.arena().copy_of_text(state.collected.view());
  if (rest.data() == nullptr) {
    return nullptr;
  }
  Plan plan(scope);
  while (!rest.empty() && !plan.stands_alone()) {
    size_t needed_bytes = 0;
    const Reading reading =
        read_arguments(rest, scope.parsing.settings.line_bytes_max, scope.arena(), needed_bytes);
    if (reading.status != Reading::Status::whole) {
      return reading.status == Reading::Status::out_of_memory
                 ? nullptr
                 : make_answer<EndReply>(scope, true, state, aborted);
    }
    plan_command(scope, reading.arguments, plan);
    rest.remove_prefix(reading.bytes);
  }
  if (plan.failed()) {
    return nullptr;
  }
  if (plan.is_refused()) {
    return refuse_within<RefusedExecReply>(scope, plan.whole());
  }
  if (plan.stands_alone() || plan.requests().size() > limits::group_requests_max) {
    return refuse_within<RefusedExecReply>(scope, refuse_alone(scope, "-ERR a container has changed"));
  }
  auto* const group = make_request<Group, ExecReply>(scope, plan.requests(), state.collected_count);
  if (group != nullptr) {
    group->members = plan.requests();
    group->must_change = plan.demands_changes();
    state.executes = true;
  }
  return group;
}

}  // namespace

Request* make_transaction_command(const Scope& scope, Arguments arguments, bool& handled) {
  State& state = scope.state;
  const std::string_view name = arguments[0];
  const bool is_multi = is_word(name, "MULTI");
  const bool is_exec = is_word(name, "EXEC");
  handled = is_multi || is_exec || is_word(name, "DISCARD");
  if (!handled) {
    return nullptr;
  }
  if (arguments.size() != 1) {
    if (is_exec) {
      return state.collects ? make_answer<EndReply>(scope, true, state, aborted_by_words)
                            : refuse_alone(scope, aborted_by_words);
    }
    Request* const refused =
        refuse_alone(scope, is_multi ? "-ERR wrong number of arguments for 'multi' command"
                                     : "-ERR wrong number of arguments for 'discard' command");
    return state.collects ? refuse_within<BreakingReply>(scope, refused) : refused;
  }
  if (is_multi) {
    return state.collects ? refuse_alone(scope, "-ERR MULTI calls can not be nested")
                          : make_answer<MultiReply>(scope, true, state);
  }
  if (!state.collects) {
    return refuse_alone(scope, is_exec ? "-ERR EXEC without MULTI" : "-ERR DISCARD without MULTI");
  }
  if (!is_exec) {
    return make_answer<EndReply>(scope, true, state, "+OK");
  }
  if (state.is_broken) {
    return make_answer<EndReply>(scope, true, state, aborted);
  }
  return state.collected_count == 0 ? make_answer<EndReply>(scope, true, state, "*0") : make_exec(scope);
}

Request* collect(const Scope& scope, Arguments arguments, std::string_view bytes) {
  Plan plan(scope);
  plan_command(scope, arguments, plan);
  if (plan.failed()) {
    return nullptr;
  }
  if (plan.is_refused()) {
    return refuse_within<BreakingReply>(scope, plan.whole());
  }
  if (plan.stands_alone()) {
    plan.refuse("-ERR the command is not there between MULTI and EXEC");
    return refuse_within<BreakingReply>(scope, plan.whole());
  }
  if (scope.state.collected.size() + bytes.size() > scope.parsing.settings.line_bytes_max ||
      scope.state.collected_count == limits::group_requests_max) {
    return refuse_within<BreakingReply>(scope, refuse_alone(scope, "-ERR too much between MULTI and EXEC"));
  }
  return make_answer<QueuedReply>(scope, true, scope.state, bytes);
}

Request* end_collecting(const Scope& scope) {
  return for_strangers(make_answer<EndReply>(scope, true, scope.state, std::string_view()));
}

}  // namespace rowsocket::wire::resp
