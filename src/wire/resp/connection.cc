// SPDX-License-Identifier: GPL-2.0-only
//
// What is about the connection: PING, ECHO, HELLO, AUTH, SELECT, RESET, CLIENT.
#include <charconv>
#include <string>

#include "base/limits.h"
#include "wire/resp/commands.h"
#include "wire/resp/version.h"

namespace rowsocket::wire::resp {
namespace {

constexpr std::string_view wrong_password = "-WRONGPASS invalid username-password pair or user is disabled.";

/// A login. Whose password is right may know why he is refused.
void refuse(Buffer& out, const Error& error) {
  if (error.code == ErrorCode::too_many_connections) {
    append_error(out, error, nullptr);
  } else {
    append_line(out, wrong_password);
  }
}

/// An argument, sent back.
class TextReply final : public CommonReply {
 public:
  TextReply(Buffer& out, std::string_view text) : CommonReply(out, Form::values, 2, nullptr), text_(text) {}
  void done() override { append_text(out(), text_); }

 private:
  std::string_view text_;
};

/// Sets what the state says of the connection.
class StateReply : public CommonReply {
 protected:
  StateReply(Buffer& out, State& state) : CommonReply(out, Form::values, 2, nullptr), state_(state) {}
  ~StateReply() = default;

  [[nodiscard]] State& state() const { return state_; }
  /// False where memory is refused, which is answered.
  bool keep(std::string& place, std::string_view text) {
    try {
      place = text;
      return true;
    } catch (...) {
      failed(ErrorCode::out_of_memory);
      return false;
    }
  }

 private:
  State& state_;
};

class AuthenticatedReply final : public CommonReply {
 public:
  explicit AuthenticatedReply(Buffer& out) : CommonReply(out, Form::values, 2, nullptr) {}
  void done() override { append_line(out(), "+OK"); }
  void failed(const Error& error) override { refuse(out(), error); }
};

class HelloReply final : public StateReply {
 public:
  struct Asked {
    uint32_t version = 2;
    bool sets_name = false;
    std::string_view name = {};
    bool authenticates = false;
  };
  HelloReply(Buffer& out, State& state, const Asked& asked) : StateReply(out, state), asked_(asked) {}
  void failed(const Error& error) override {
    if (asked_.authenticates) {
      refuse(out(), error);
    } else if (error.code == ErrorCode::not_authenticated) {
      append_line(out(),
                  "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO"
                  " <proto> AUTH <user> <pass> option can be used to authenticate the client and select the"
                  " RESP protocol version at the same time");
    } else {
      StateReply::failed(error);
    }
  }
  void done() override {
    if (asked_.sets_name && !keep(state().name, asked_.name)) {
      return;
    }
    state().version = asked_.version;
    append_line(out(), asked_.version == 2 ? "*14" : "%7");
    append_text(out(), "server");
    append_text(out(), "rowsocket");
    append_text(out(), "version");
    append_text(out(), version_text);
    append_text(out(), "proto");
    append_number(out(), ':', asked_.version);
    append_text(out(), "id");
    append_number(out(), ':', static_cast<int64_t>(state().id));
    append_text(out(), "mode");
    append_text(out(), "standalone");
    append_text(out(), "role");
    append_text(out(), "master");
    append_text(out(), "modules");
    append_line(out(), "*0");
  }

 private:
  Asked asked_;
};

class SelectedReply final : public StateReply {
 public:
  SelectedReply(Buffer& out, State& state, std::string_view database)
      : StateReply(out, state), database_(database) {}
  void done() override {
    if (keep(state().database, database_)) {
      append_line(out(), "+OK");
    }
  }

 private:
  std::string_view database_;
};

class NamedReply final : public StateReply {
 public:
  NamedReply(Buffer& out, State& state, std::string_view name) : StateReply(out, state), name_(name) {}
  void done() override {
    if (keep(state().name, name_)) {
      append_line(out(), "+OK");
    }
  }

 private:
  std::string_view name_;
};

/// As a new connection. Behind a request that forgets the account, or the secret, that it said.
class ResetReply final : public StateReply {
 public:
  ResetReply(Buffer& out, State& state) : StateReply(out, state) {}
  void done() override {
    state().version = 2;
    state().database.clear();
    state().name.clear();
    state().forget_collected();
    append_line(out(), "+RESET");
  }
};

class ClientReply final : public StateReply {
 public:
  enum class Asked : uint8_t { id, name, info };
  ClientReply(Buffer& out, State& state, Asked asked) : StateReply(out, state), asked_(asked) {}
  void done() override {
    switch (asked_) {
      case Asked::id:
        append_number(out(), ':', static_cast<int64_t>(state().id));
        break;
      case Asked::name:
        if (state().name.empty()) {
          append_null(out(), state().version);
        } else {
          append_text(out(), state().name);
        }
        break;
      case Asked::info: {
        const size_t begin = out().size();
        char number[24];
        out().append("id=");
        out().append(
            {number, static_cast<size_t>(std::to_chars(number, number + 24, state().id).ptr - number)});
        out().append(" name=");
        out().append(state().name);
        out().append(state().version == 2 ? " db=0 resp=2\n" : " db=0 resp=3\n");
        put_in_front(out(), begin, '$', out().size() - begin);
        out().append(line_end);
        break;
      }
    }
  }

 private:
  Asked asked_;
};

bool can_be_a_name(std::string_view name) {
  if (name.size() > limits::resp_client_name_bytes_max) {
    return false;
  }
  for (const char byte : name) {
    if (byte < '!' || byte > '~') {
      return false;
    }
  }
  return true;
}

constexpr std::string_view bad_name =
    "-ERR Client names cannot contain spaces, newlines or special characters,"
    " and have at most 256 bytes.";

}  // namespace

void plan_ping(const Scope& scope, Arguments arguments, Plan& plan) {
  if (arguments.size() == 1) {
    plan.answer("+PONG");
  } else if (arguments.size() == 2) {
    plan_echo(scope, arguments, plan);
  } else {
    plan.refuse("-ERR wrong number of arguments for 'ping' command");
  }
}

void plan_echo(const Scope& scope, Arguments arguments, Plan& plan) {
  plan.stand_alone(make_answer<TextReply>(scope, false, arguments[1]));
}

void plan_auth(const Scope& scope, Arguments arguments, Plan& plan) {
  if (arguments.size() > 3) {
    plan.refuse(syntax_error);
    return;
  }
  const Settings& settings = scope.parsing.settings;
  const bool has_user = arguments.size() == 3;
  if (!has_user && settings.secret_read.empty() && settings.secret_write.empty()) {
    plan.refuse(
        "-ERR AUTH <password> called without any password configured for the default user."
        " Are you sure your configuration is correct?");
    return;
  }
  auto* const authenticate = make_request<Authenticate, AuthenticatedReply>(scope);
  if (authenticate != nullptr) {
    authenticate->method =
        has_user ? Authenticate::Method::secret_or_account : Authenticate::Method::port_secret;
    authenticate->user = has_user ? Value(arguments[1]) : Value();
    authenticate->password = Value(arguments.back());
  }
  plan.stand_alone(authenticate);
}

void plan_hello(const Scope& scope, Arguments arguments, Plan& plan) {
  HelloReply::Asked asked{.version = scope.state.version};
  std::string_view user;
  std::string_view secret;
  if (arguments.size() > 1) {
    int64_t version = 0;
    if (!parse_integer(arguments[1], version)) {
      plan.refuse("-ERR Protocol version is not an integer or out of range");
      return;
    }
    if (version != 2 && version != 3) {
      plan.refuse("-NOPROTO unsupported protocol version");
      return;
    }
    asked.version = static_cast<uint32_t>(version);
  }
  for (size_t at = 2; at < arguments.size(); ++at) {
    if (is_word(arguments[at], "AUTH") && at + 2 < arguments.size()) {
      asked.authenticates = true;
      user = arguments[at + 1];
      secret = arguments[at + 2];
      at += 2;
    } else if (is_word(arguments[at], "SETNAME") && at + 1 < arguments.size()) {
      asked.sets_name = true;
      asked.name = arguments[++at];
      if (!can_be_a_name(asked.name)) {
        plan.refuse(bad_name);
        return;
      }
    } else {
      plan.refuse("-ERR Syntax error in HELLO option");
      return;
    }
  }
  if (!asked.authenticates) {
    plan.stand_alone(make_answer<HelloReply>(scope, true, scope.state, asked));
    return;
  }
  auto* const authenticate = make_request<Authenticate, HelloReply>(scope, scope.state, asked);
  if (authenticate != nullptr) {
    authenticate->method = Authenticate::Method::secret_or_account;
    authenticate->user = Value(user);
    authenticate->password = Value(secret);
  }
  plan.stand_alone(authenticate);
}

/// A number is one of Redis's databases, of which there is one. A name is a database of the server.
void plan_select(const Scope& scope, Arguments arguments, Plan& plan) {
  std::string_view database = arguments[1];
  if (int64_t number = 0; parse_integer(database, number)) {
    if (number != 0) {
      const bool is_index = number >= INT32_MIN && number <= INT32_MAX;
      plan.refuse(is_index ? "-ERR DB index is out of range"
                           : "-ERR value is out of range, value must between -2147483648 and 2147483647");
      return;
    }
    database = {};
  } else if (const size_t sign = database.find_first_of("+-") == 0 ? 1 : 0;
             database.find_first_not_of("0123456789", sign) == std::string_view::npos) {
    plan.refuse(not_an_integer);  // an empty one is none, either
    return;
  } else if (database.size() > limits::name_bytes_max) {
    plan.refuse("-ERR invalid DB index");
    return;
  }
  plan.stand_alone(make_answer<SelectedReply>(scope, true, scope.state, database));
}

void plan_reset(const Scope& scope, Arguments, Plan& plan) {
  auto* const authenticate = make_request<Authenticate, ResetReply>(scope, scope.state);
  if (authenticate != nullptr) {
    authenticate->method = Authenticate::Method::nobody;
  }
  plan.stand_alone(authenticate);
}

void plan_client(const Scope& scope, Arguments arguments, Plan& plan) {
  using Asked = ClientReply::Asked;
  const std::string_view word = arguments[1];
  const size_t count = arguments.size();
  if (is_word(word, "SETNAME") && count == 3) {
    if (can_be_a_name(arguments[2])) {
      plan.stand_alone(make_answer<NamedReply>(scope, true, scope.state, arguments[2]));
    } else {
      plan.refuse(bad_name);
    }
  } else if (is_word(word, "GETNAME") && count == 2) {
    plan.stand_alone(make_answer<ClientReply>(scope, false, scope.state, Asked::name));
  } else if (is_word(word, "ID") && count == 2) {
    plan.stand_alone(make_answer<ClientReply>(scope, false, scope.state, Asked::id));
  } else if (is_word(word, "INFO") && count == 2) {
    plan.stand_alone(make_answer<ClientReply>(scope, false, scope.state, Asked::info));
  } else if ((is_word(word, "NO-EVICT") || is_word(word, "NO-TOUCH")) && count == 3) {
    if (is_word(arguments[2], "ON") || is_word(arguments[2], "OFF")) {
      plan.answer("+OK");
    } else {
      plan.refuse(syntax_error);
    }
  } else if (is_word(word, "SETINFO") && count == 4) {
    plan.answer("+OK");
  } else {
    plan.refuse(
        "-ERR unknown subcommand of CLIENT, or a wrong number of arguments: there are SETNAME,"
        " GETNAME, ID, INFO and SETINFO");
  }
}

}  // namespace rowsocket::wire::resp
