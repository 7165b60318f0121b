// SPDX-License-Identifier: GPL-2.0-only
//
// SQL over MariaDB's own protocol, as text and as prepared statements. MariaDB's C client connects, authenticates and prepares,
// so a session is what any application's is; then the load's packets are written and compared here, since the client's own calls
// block and allocate, and the generator is not to be what is measured. They are the bytes that the client would send, but for one
// thing: the types of a prepared statement's parameters (2 bytes each) go along every time, as with many connectors.
//
//   sql-text       03 SELECT ... WHERE user_id = 7
//   sql-prepared   17 statement (4), 0, 1 (4) | NULL bits | 1 | types | 07 00 00 00
//
// Before the load every connection asks each of the reading requests twice, to learn what stands around the rows.
#include <mysql.h>

#include "bench/connection.h"
#include "bench/protocol.h"
#include "bench/sql_packets.h"

namespace rowsocket::bench {

namespace {

constexpr unsigned timeout_s = 10;

/// A session, and the statements prepared on it.
class Session final : public Link {
 public:
  Session(const Access& access, const Endpoint& endpoint) : client_(::mysql_init(nullptr)) {
    const bool by_tcp = endpoint.socket_path.empty();
    ::mysql_options(client_, MYSQL_OPT_CONNECT_TIMEOUT, &timeout_s);
    ::mysql_options(client_, MYSQL_OPT_WRITE_TIMEOUT, &timeout_s);
    ::mysql_options(client_, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    const char* const host = by_tcp ? endpoint.host.c_str() : nullptr;
    const char* const socket_path = by_tcp ? nullptr : endpoint.socket_path.c_str();
    if (::mysql_real_connect(client_, host, access.user.c_str(), access.secret.c_str(), access.database.c_str(), endpoint.port,
                             socket_path, 0) == nullptr) {
      const std::string failure = ::mysql_error(client_);
      ::mysql_close(client_);
      throw std::runtime_error("cannot connect: " + failure);
    }
  }
  ~Session() override {
    for (MYSQL_STMT* const statement : statements_) {
      ::mysql_stmt_close(statement);
    }
    ::mysql_close(client_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] int descriptor() const override { return static_cast<int>(::mysql_get_socket(client_)); }

  /// For the next of the workload's requests.
  void prepare(std::string_view text) {
    MYSQL_STMT* const statement = statements_.emplace_back(::mysql_stmt_init(client_));
    if (::mysql_stmt_prepare(statement, text.data(), text.size()) != 0) {
      throw std::runtime_error(std::string(::mysql_stmt_error(statement)) + ", preparing " + printable(text));
    }
    numbers_.push_back(statement->stmt_id);
  }
  /// What the server calls the statement of a request. A server's thread goes on counting from one client to the next.
  [[nodiscard]] uint64_t statement_number(size_t request) const { return numbers_[request]; }

 private:
  MYSQL* client_;
  std::vector<MYSQL_STMT*> statements_;
  std::vector<uint64_t> numbers_;
};

/// Text with its values in place, quoted where they are no numbers. No formula has quotes in it.
struct LiteralSink {
  Buffer& out;
  void literal(std::string_view bytes) const { out.append(bytes); }
  void integer(int64_t number) const { append_number(out, number); }
  void column(const Column& column, uint32_t row) const {
    const bool is_text = !is_integer(column.kind);
    out.append(is_text ? "'" : "");
    column.formula.append(out, row);
    out.append(is_text ? "'" : "");
  }
  void value(uint32_t) const { throw std::runtime_error("{value} is for memcached and Redis"); }
};

/// Text with a ? for every value; notes the types.
struct PreparingSink {
  std::string& text;
  Buffer& types;
  static constexpr uint64_t unsigned_long_type = 0x8003;
  static constexpr uint64_t string_type = 0x00FE;

  void literal(std::string_view bytes) const { text += bytes; }
  void integer(int64_t) const { parameter(unsigned_long_type); }
  void column(const Column& column, uint32_t) const { parameter(is_integer(column.kind) ? unsigned_long_type : string_type); }
  void value(uint32_t) const { throw std::runtime_error("{value} is for memcached and Redis"); }
  void parameter(uint64_t type) const {
    text += '?';
    sql::append_little_endian(types, type, 2);
  }
};

/// The values alone.
struct ParameterSink {
  Buffer& out;
  Buffer& scratch;
  void literal(std::string_view) const {}
  void integer(int64_t number) const { sql::append_little_endian(out, static_cast<uint64_t>(number), 4); }
  void column(const Column& column, uint32_t row) const {
    scratch.clear();
    column.formula.append(scratch, row);
    sql::append_binary_value(out, is_integer(column.kind) ? ColumnKind::normal : ColumnKind::text, scratch.view());
  }
  void value(uint32_t) const {}
};

/// What both kinds have in common.
class Sql : public ComparingProtocol {
 public:
  Sql(const Workload& workload, const Access& access)
      : workload_(workload), access_(access), texts_(parse_requests(workload, "sql")), frames_(texts_.size()) {}

  [[nodiscard]] std::unique_ptr<Link> connect(const Endpoint& endpoint) override {
    auto session = std::make_unique<Session>(access_, endpoint);
    for (size_t request = 0; request < texts_.size(); ++request) {
      prepare(*session, request);
    }
    for (size_t request = 0; request < texts_.size(); ++request) {
      if (!workload_.requests[request].writes()) {
        (void)ask(*session, request);
        learn(request, ask(*session, request));
      }
    }
    return session;
  }

  [[nodiscard]] size_t check_reply(const Operation& operation, std::string_view received) override {
    const Request& request = workload_.requests[operation.request];
    if (!request.writes()) {
      return ComparingProtocol::check_reply(operation, received);
    }
    const auto ok = sql::parse_ok(received);
    const size_t rows_changed = request.answer.kind == AnswerKind::inserted ? operation.keys.size() : 1;
    if (ok && (ok->size == 0 || ok->rows_changed != rows_changed)) {
      throw WrongAnswer(received, "(" + std::to_string(rows_changed) + " rows changed)");
    }
    return ok ? ok->size : 0;
  }

  void write_right_reply(const Operation& operation, Buffer& out) override {
    const Request& request = workload_.requests[operation.request];
    const sql::ResultFrame& frame = frames_[operation.request];
    uint8_t sequence = frame.first_row;
    out.append(frame.head);
    for_each_row(request.answer, operation, [&](int64_t row) {
      sql::Packet packet(out, sequence++);
      write_row(request, row, out);
      packet.finish();
    });
    sql::Packet packet(out, sequence);
    out.append(frame.tail_payload);
    packet.finish();
  }

 protected:
  virtual void prepare(Session& session, size_t request) = 0;
  virtual void write_row(const Request& request, int64_t row, Buffer& out) = 0;
  [[nodiscard]] const Workload& workload() const { return workload_; }
  [[nodiscard]] const RequestText& text(size_t request) const { return texts_[request]; }
  [[nodiscard]] std::string_view value_of(size_t column, int64_t row) {
    scratch_.clear();
    workload_.table.columns[column].formula.append(scratch_, row);
    return scratch_.view();
  }
  [[nodiscard]] Buffer& scratch() { return scratch_; }

 private:
  sql::ResultFrame ask(const Session& session, size_t request) {
    Buffer bytes;
    write_request(session, workload_.typical_operation(request), bytes);
    send_all(session.descriptor(), bytes.view());
    bytes.clear();
    for (;;) {
      receive_some(session.descriptor(), bytes);
      if (auto frame = sql::parse_result(bytes.view())) {
        return *std::move(frame);
      }
    }
  }
  void learn(size_t request, sql::ResultFrame frame) {
    if (frames_[request].head.empty()) {
      frames_[request] = std::move(frame);
    } else if (!(frames_[request] == frame)) {
      throw std::runtime_error("two sessions describe the result of one statement differently");
    }
  }

  const Workload& workload_;
  Access access_;
  std::vector<RequestText> texts_;
  std::vector<sql::ResultFrame> frames_;
  Buffer scratch_;
};

class SqlText final : public Sql {
 public:
  using Sql::Sql;
  void write_request(const Link&, const Operation& operation, Buffer& out) override {
    sql::Packet packet(out, 0);
    out.append(sql::command_query);
    text(operation.request).write(operation, LiteralSink{out});
    packet.finish();
  }

 private:
  void prepare(Session&, size_t) override {}
  void write_row(const Request& request, int64_t row, Buffer& out) override {
    for (const size_t column : request.columns) {
      sql::append_text(out, value_of(column, row));
    }
  }
};

class SqlPrepared final : public Sql {
 public:
  SqlPrepared(const Workload& workload, const Access& access) : Sql(workload, access), execute_heads_(workload.requests.size()) {}

  void write_request(const Link& link, const Operation& operation, Buffer& out) override {
    sql::Packet packet(out, 0);
    out.append(sql::command_execute);
    sql::append_little_endian(out, static_cast<const Session&>(link).statement_number(operation.request), 4);
    out.append(execute_heads_[operation.request]);
    text(operation.request).write(operation, ParameterSink{out, scratch()});
    packet.finish();
  }

 private:
  void prepare(Session& session, size_t request) override {
    std::string statement;
    Buffer types;
    text(request).write(workload().typical_operation(request), PreparingSink{statement, types});
    session.prepare(statement);
    const size_t parameter_count = types.size() / 2;
    Buffer head;
    head.append('\0');                      // no cursor
    sql::append_little_endian(head, 1, 4);  // once
    if (parameter_count > 0) {
      head.append(std::string((parameter_count + 7) / 8, '\0'));  // none is NULL
      head.append('\1');                                          // types follow
      head.append(types.view());
    }
    execute_heads_[request] = head.view();
  }
  void write_row(const Request& request, int64_t row, Buffer& out) override {
    constexpr size_t bits_before_columns = 2;
    out.append('\0');
    for (size_t i = 0; i < (request.columns.size() + bits_before_columns + 7) / 8; ++i) {
      out.append('\0');  // no column is NULL
    }
    for (const size_t column : request.columns) {
      sql::append_binary_value(out, workload().table.columns[column].kind, value_of(column, row));
    }
  }

  std::vector<std::string> execute_heads_;  ///< of each request, between the statement's number and the values
};

}  // namespace

std::unique_ptr<Protocol> make_sql_text(const Workload& workload, const Access& access) {
  return std::make_unique<SqlText>(workload, access);
}

std::unique_ptr<Protocol> make_sql_prepared(const Workload& workload, const Access& access) {
  return std::make_unique<SqlPrepared>(workload, access);
}

}  // namespace rowsocket::bench
