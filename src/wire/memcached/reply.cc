// SPDX-License-Identifier: GPL-2.0-only
#include "wire/memcached/reply.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

#include "request/error_text.h"
#include "wire/memcached/version.h"

namespace rowsocket::wire::memcached {
namespace {

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// What an operator has to mend, or what may be over when the client tries again; else the client is wrong.
bool is_of_server(ErrorCode code) {
  switch (code) {
    case ErrorCode::no_such_index:
    case ErrorCode::no_such_column:
    case ErrorCode::bad_modification:
    case ErrorCode::reply_too_large:
    case ErrorCode::too_many_rows:
    case ErrorCode::took_too_long:
    case ErrorCode::client_gone:
    case ErrorCode::not_implemented:
      return true;
    default:
      return counter_of(code) != Counter::errors_request;
  }
}

}  // namespace

void append_number(Buffer& out, uint64_t number) {
  char digits[20];
  const auto written = std::to_chars(std::begin(digits), std::end(digits), number);
  out.append({digits, static_cast<size_t>(written.ptr - digits)});
}

void append_error(Buffer& out, const Error& error, const Container* container) {
  if (error.code == ErrorCode::unknown_command) {
    out.append("ERROR\r\n");
    return;
  }
  if (error.code == ErrorCode::not_authenticated) {
    out.append("CLIENT_ERROR unauthenticated\r\n");
    return;
  }
  out.append(is_of_server(error.code) ? "SERVER_ERROR " : "CLIENT_ERROR ");
  append_error_text(out, error, container);
  out.append(line_end);
}

void CommonReply::failed(const Error& error) {
  if (error.code == ErrorCode::not_authenticated && state_ != nullptr) {
    state_->is_authenticated = false;
  }
  if (!is_silent_) {
    append_error(out(), error, container_);
  }
}

void ProblemReply::failed(const Error& error) {
  if (error.code == ErrorCode::not_authenticated) {
    CommonReply::failed(error);
    return;
  }
  if (is_silent()) {
    return;
  }
  out().append("SERVER_ERROR ");
  append_problem_text(out(), name_, problem_);
  out().append(line_end);
}

// ---- rows

NumberText::NumberText(std::string_view text) {
  if (!text.empty() && text.size() <= sizeof(digits_) && std::all_of(text.begin(), text.end(), is_digit)) {
    std::copy(text.begin(), text.end(), digits_);
    size_ = text.size();
  }
}

std::string_view column_of(const Buffer& out, const RowLayout& layout, size_t row_begin, uint32_t at) {
  if (at == Container::none) {
    return {};
  }
  const size_t begin = at == 0 ? row_begin : layout.ends[at - 1].bytes;
  return {out.data() + begin, layout.ends[at].bytes - begin};
}

ValuesReply::ValuesReply(Buffer& out, const Container& container, const RowLayout& layout,
                         PerColumn per_column, std::span<const std::string_view> keys, bool tells_cas,
                         bool is_whole, State& state)
    : CommonReply(out, &container, false, &state),
      layout_(layout),
      keys_(keys),
      tally_(state.tally),
      tells_cas_(tells_cas),
      is_whole_(is_whole) {
  tells_rows_ = true;
  counts_ = true;
  per_column_ = per_column;
}

void ValuesReply::row_begins(size_t key_number) {
  ++rows_told_;
  out().append("VALUE ");
  out().append(keys_[key_number]);
  out().append(' ');
  row_begin_ = out().size();
}

/// The values stand first, with their length and the rest of the line known only now: the line's rest is put
/// in front of them.
void ValuesReply::row_ends() {
  if (out().failed()) {
    return;
  }
  const NumberText flags(column_of(out(), layout_, row_begin_, layout_.flags_at));
  const NumberText cas(column_of(out(), layout_, row_begin_, layout_.cas_at));
  const size_t value_end = layout_.ends[container()->value_count - 1].bytes;
  const size_t value_bytes = value_end - row_begin_;
  out().truncate(value_end);

  char line[72];
  char* to = std::copy(flags.view().begin(), flags.view().end(), line);
  *to++ = ' ';
  to = std::to_chars(to, std::end(line), value_bytes).ptr;
  if (tells_cas_) {
    // Three numbers of at most 20 digits, and what is between them. NOLINTNEXTLINE(*-security.ArrayBound)
    *to++ = ' ';
    to = std::copy(cas.view().begin(), cas.view().end(), to);
  }
  to = std::copy(line_end.begin(), line_end.end(), to);
  const auto line_bytes = static_cast<size_t>(to - line);
  if (!out().reserve(line_bytes + line_end.size())) {
    return;
  }
  char* const value = out().data() + row_begin_;
  std::memmove(value + line_bytes, value, value_bytes);
  std::memcpy(value, line, line_bytes);
  out().advance(line_bytes);
  out().append(line_end);
}

void ValuesReply::end_rows() {
  if (is_whole_) {
    say("END");
  }
}

void ValuesReply::count() {
  tally_.add(Count::get_hits, rows_told_);
  tally_.add(Count::get_misses, keys_.size() - rows_told_);
}

CountReply::CountReply(Buffer& out, const Container& container, const RowLayout& layout, PerColumn per_column,
                       bool subtracts, State& state)
    : CountingReply(out, container, false, state), layout_(layout), subtracts_(subtracts) {
  tells_rows_ = true;
  tells_misses_ = true;
  per_column_ = per_column;
}

void CountReply::failed(const Error& error) {
  if (error.code == ErrorCode::not_a_number || error.code == ErrorCode::bad_modification) {
    say("CLIENT_ERROR cannot increment or decrement non-numeric value");
  } else {
    CountingReply::failed(error);
  }
}

void CountReply::row_ends() {
  came_to(subtracts_ ? Count::decr_hits : Count::incr_hits);
  if (!out().failed()) {
    out().truncate(layout_.ends[0].bytes);
    out().append(line_end);
  }
}

// ---- the others

void ChosenReply::opened(std::span<const std::string_view>) {
  const Container& chosen = *container();
  try {
    state_.container = chosen.name;
  } catch (...) {
    out().append("SERVER_ERROR out of memory\r\n");
    return;
  }
  const std::string_view database = chosen.row.database;
  const std::string_view table = chosen.row.table;
  out().append("VALUE @@");
  out().append(chosen.name);
  out().append(" 0 ");
  append_number(out(), database.size() + 1 + table.size());
  out().append(line_end);
  out().append(database);
  out().append('/');
  out().append(table);
  say("\r\nEND");
}

void StatsReply::done() {
  const auto stat = [this](std::string_view name, auto value) {
    out().append("STAT ");
    out().append(name);
    out().append(' ');
    if constexpr (std::is_convertible_v<decltype(value), std::string_view>) {
      out().append(value);
    } else {
      append_number(out(), static_cast<uint64_t>(value));
    }
    out().append(line_end);
  };
  stat("pid", getpid());
  stat("uptime", figures_ == nullptr ? 0 : figures_->uptime_s());
  stat("time", unix_time_s_);
  stat("version", version);
  stat("pointer_size", 8 * sizeof(void*));
  stat("max_connections", settings_.max_connections);
  if (figures_ != nullptr) {
    stat("curr_connections", figures_->connections());
    stat("total_connections", figures_->counter(Counter::connections_accepted));
    stat("rejected_connections", figures_->counter(Counter::connections_refused));
    stat("bytes_read", figures_->counter(Counter::bytes_received));
    stat("bytes_written", figures_->counter(Counter::bytes_sent));
    stat("threads", figures_->workers());
  }
  stat("cmd_get", Tally::sum(Count::get_hits) + Tally::sum(Count::get_misses));
  stat("cmd_touch", Tally::sum(Count::touch_hits) + Tally::sum(Count::touch_misses));
  for (size_t number = 0; number < count_count; ++number) {
    const auto count = static_cast<Count>(number);
    stat(name_of(count), Tally::sum(count));
  }
  stat("item_size_max", settings_.line_bytes_max);
  stat("rowsocket_containers", settings_.containers == nullptr ? 0 : settings_.containers->size());
  if (figures_ != nullptr) {
    // The counters of all protocols, under the names that SHOW STATUS has.
    for (size_t number = 0; number < static_cast<size_t>(Counter::count_); ++number) {
      const auto counter = static_cast<Counter>(number);
      out().append("STAT rowsocket_");
      out().append(counter_name(counter));
      out().append(' ');
      append_number(out(), figures_->counter(counter));
      out().append(line_end);
    }
  }
  say("END");
}

}  // namespace rowsocket::wire::memcached
