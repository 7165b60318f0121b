// SPDX-License-Identifier: GPL-2.0-only
//
// Replies that are told what came of a request on tables. Those of a connection are in connection.cc.
//
//   + text CR LF                  a word             : number CR LF
//   $ size CR LF bytes CR LF      a value            $-1 CR LF, in RESP3 _ CR LF: NULL, or no row
//   * count CR LF values          a list             % count CR LF: names and values, in RESP3
//   - CODE text CR LF             what failed
//
// What is known only behind the bytes (how many there are) is put in front of them then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "request/containers.h"
#include "request/protocol.h"
#include "request/reply.h"
#include "request/request.h"
#include "wire/resp/arguments.h"

namespace rowsocket::wire::resp {

/// How the values of rows are written.
enum class Form : uint8_t {
  values,            ///< each as a value of the protocol
  bare,              ///< bytes alone; the reply frames them
  counted,           ///< as `values`, without those that are NULL: only their number counts
  names,             ///< of columns that are not NULL
  values_there,      ///< of them
  names_and_values,  ///< of them
  named_row          ///< names and values, of all columns
};
[[nodiscard]] const ValueFormat& format_of(Form form, uint32_t version);

void append_number(Buffer& out, char lead, int64_t number);
void append_null(Buffer& out, uint32_t version);
void append_text(Buffer& out, std::string_view text);  ///< as a value
/// The line for an error. `container` is the one that the request was about, or nullptr.
void append_error(Buffer& out, const Error& error, const Container* container);
/// `+text`, `:1`, ...: a line that stands in a parser or the arena.
inline void append_line(Buffer& out, std::string_view line) {
  out.append(line);
  out.append(line_end);
}
/// Put `lead`, a number and a line end in front of what begins at `begin`.
void put_in_front(Buffer& out, size_t begin, char lead, uint64_t number);

/// Where the parts of a row that are told lie, where a row has others, too.
struct Layout {
  std::span<ColumnEnd> ends = {};  ///< as many as the selection has columns; empty: the row is one value
  uint32_t first = 0;
  uint32_t count = 1;
};
/// The row that begins at `row_begin` becomes the value that the layout's columns are. True unless that is
/// NULL.
bool keep_value(Buffer& out, size_t row_begin, const Layout& layout);

/// What all replies have.
class CommonReply : public Reply {
 public:
  void failed(const Error& error) override { append_error(out(), error, container_); }

 protected:
  CommonReply(Buffer& out, Form form, uint32_t version, const Container* container)
      : Reply(out, format_of(form, version)), container_(container), version_(version) {}
  ~CommonReply() = default;

  [[nodiscard]] uint32_t version() const { return version_; }
  [[nodiscard]] const Container* container() const { return container_; }

 private:
  const Container* container_;
  uint32_t version_;
};

/// One line. Of a request that has a mistake, the line says which.
class LineReply : public CommonReply {
 public:
  LineReply(Buffer& out, std::string_view line) : CommonReply(out, Form::values, 2, nullptr), line_(line) {}
  void failed(const Error& error) override {
    if (error.code == ErrorCode::not_authenticated) {
      CommonReply::failed(error);
    } else {
      append_line(out(), line_);
    }
  }
  void done() override { append_line(out(), line_); }

 private:
  std::string_view line_;
};

/// A container, or all of them, can not be used: its problem in words.
class ProblemReply final : public CommonReply {
 public:
  ProblemReply(Buffer& out, std::string_view name, std::string_view problem)
      : CommonReply(out, Form::values, 2, nullptr), name_(name), problem_(problem) {}
  void failed(const Error& error) override;

 private:
  std::string_view name_;
  std::string_view problem_;
};

/// Values of rows: of one row (GET, HGET, HMGET), or one of each key (MGET).
class ValuesReply final : public CommonReply {
 public:
  struct Shape {
    uint32_t header = 0;      ///< a list of so many stands around all; 0 = none
    uint32_t null_count = 1;  ///< so many NULL stand for a row that is not there
    Layout layout = {};
  };
  ValuesReply(Buffer& out, uint32_t version, const Container* container, const Shape& shape,
              PerColumn per_column);
  void begin_rows(size_t) override;
  void row_begins(size_t) override { row_begin_ = out().size(); }
  void row_ends() override;
  void missed(size_t) override;
  void end_rows() override {}
  // The row was not there, and is now: SET with GET.
  void begin_outcomes() override {}
  void inserted(const RowOutcome& outcome) override;
  void end_outcomes() override {}

 private:
  Shape shape_;
  size_t row_begin_ = 0;
};

/// A number that the row's value makes: how long it is, or the number that it is.
class NumberReply final : public CommonReply {
 public:
  enum class Kind : uint8_t {
    length,
    new_length,  ///< the same, of a row that the request has changed or made
    number,
    text
  };
  NumberReply(Buffer& out, const Container* container, Kind kind, const Layout& layout, PerColumn per_column);
  void failed(const Error& error) override;
  void begin_rows(size_t) override {}
  void row_begins(size_t) override { row_begin_ = out().size(); }
  void row_ends() override;
  void missed(size_t) override { append_number(out(), ':', 0); }
  void end_rows() override {}

 private:
  Kind kind_;
  Layout layout_;
  size_t row_begin_ = 0;
};

/// How many of the columns that were asked for are not NULL: HEXISTS, HDEL, HLEN.
class CountedReply final : public CommonReply {
 public:
  CountedReply(Buffer& out, uint32_t* count) : CommonReply(out, Form::counted, 2, nullptr), count_(count) {
    tells_rows_ = true;
    tells_misses_ = true;
    per_column_.told_count = count;
  }
  void begin_rows(size_t) override {}
  void row_begins(size_t) override;
  void row_ends() override;
  void missed(size_t) override { append_number(out(), ':', 0); }
  void end_rows() override {}

 private:
  uint32_t* count_;
  size_t row_begin_ = 0;
};

/// All columns of a row that are not NULL: HGETALL, HKEYS, HVALS.
class HashReply final : public CommonReply {
 public:
  HashReply(Buffer& out, uint32_t version, Form form, uint32_t* count);
  void begin_rows(size_t) override {}
  void row_begins(size_t) override;
  void row_ends() override;
  void missed(size_t) override { put_header(out().size(), 0); }
  void end_rows() override {}

 private:
  void put_header(size_t begin, uint32_t count);

  Form form_;
  uint32_t* count_;
  size_t row_begin_ = 0;
};

/// One line or another.
class OutcomeReply final : public CommonReply {
 public:
  /// The same of a find and of an insert.
  struct Lines {
    std::string_view changed;   ///< the row was found
    std::string_view refused;   ///< a filter refused it, or it was kept
    std::string_view missed;    ///< it was not found
    std::string_view inserted;  ///< it was not there, and is now
  };
  OutcomeReply(Buffer& out, const Container* container, const Lines& lines, bool keeps = false)
      : CommonReply(out, Form::values, 2, container), lines_(lines), keeps_(keeps) {}
  void counted(uint64_t row_count) override {
    append_line(out(), row_count > 0 ? lines_.changed : lines_.missed);
  }
  void changed(const Changes& changes) override;
  void begin_outcomes() override {}
  void inserted(const RowOutcome& outcome) override;
  void end_outcomes() override {}

 private:
  Lines lines_;
  bool keeps_;  ///< an insert that changes nothing is refused
};

/// How many rows were found, or removed, over some requests.
class SumReply final : public CommonReply {
 public:
  SumReply(Buffer& out, const Container* container, uint64_t* sum, bool is_first, bool is_last)
      : CommonReply(out, Form::values, 2, container), sum_(sum), is_first_(is_first), is_last_(is_last) {}
  void counted(uint64_t row_count) override { add(row_count); }
  void changed(const Changes& changes) override { add(changes.rows_changed); }

 private:
  void add(uint64_t row_count);

  uint64_t* sum_;
  bool is_first_;
  bool is_last_;
};

/// One line for some inserts.
class StoredReply final : public CommonReply {
 public:
  StoredReply(Buffer& out, const Container* container, std::string_view line)
      : CommonReply(out, Form::values, 2, container), line_(line) {}
  void begin_outcomes() override {}
  void inserted(const RowOutcome&) override {}
  void end_outcomes() override {
    if (!line_.empty()) {
      append_line(out(), line_);
    }
  }

 private:
  std::string_view line_;  ///< empty = another request tells it
};

/// When a row expires: TTL, PTTL, EXPIRETIME, PEXPIRETIME.
class ExpiryReply final : public CommonReply {
 public:
  ExpiryReply(Buffer& out, const Container* container, uint64_t since_us, uint32_t per_second)
      : CommonReply(out, Form::bare, 2, container), since_us_(since_us), per_second_(per_second) {
    tells_rows_ = true;
    tells_misses_ = true;
  }
  void begin_rows(size_t) override {}
  void row_begins(size_t) override { row_begin_ = out().size(); }
  void row_ends() override;
  void missed(size_t) override { append_number(out(), ':', -2); }
  void end_rows() override {}
  void counted(uint64_t row_count) override { append_number(out(), ':', row_count > 0 ? -1 : -2); }

 private:
  uint64_t since_us_;    ///< what is subtracted
  uint32_t per_second_;  ///< 1 or 1000
  size_t row_begin_ = 0;
};

/// Around some requests that are done together.
class GroupReply : public CommonReply {
 public:
  void group_ends() override {}
  void group_failed(size_t member, const Error& error) override {
    if (!tell_member(members_, member, error)) {
      failed(error);
    }
  }

 protected:
  GroupReply(Buffer& out, std::span<Request* const> members)
      : CommonReply(out, Form::values, 2, nullptr), members_(members) {}
  ~GroupReply() = default;

 private:
  std::span<Request* const> members_;
};

/// Around those that one command is.
class SeveralReply final : public GroupReply {
 public:
  SeveralReply(Buffer& out, std::span<Request* const> members) : GroupReply(out, members) {}
  void group_begins() override {}
};

}  // namespace rowsocket::wire::resp
