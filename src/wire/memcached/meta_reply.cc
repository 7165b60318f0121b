// SPDX-License-Identifier: GPL-2.0-only
#include "wire/memcached/meta_reply.h"

#include <cstring>

#include "base/limits.h"
#include "wire/memcached/words.h"

namespace rowsocket::wire::memcached {

/// What flags tell of a row.
struct MetaReply::Row {
  NumberText flags;
  NumberText cas;
  NumberText expiry;
  size_t value_bytes;
};

namespace {

void append_ttl(Buffer& line, const NumberText& expiry, uint64_t now_s) {
  uint64_t expires_s = 0;
  if (!parse_number(expiry.view(), expires_s) || expires_s == 0) {
    line.append("-1");
  } else {
    append_number(line, expires_s > now_s ? expires_s - now_s : 0);
  }
}

}  // namespace

MetaReply::MetaReply(Buffer& out, const Container& container, const MetaAnswer& answer,
                     const RowLayout& layout, PerColumn per_column)
    : CountingReply(out, container, false, *answer.state), answer_(answer), layout_(layout) {
  tells_rows_ = true;
  tells_misses_ = true;
  per_column_ = per_column;
}

void MetaReply::failed(const Error& error) {
  if (error.code == ErrorCode::not_a_number || error.code == ErrorCode::bad_modification) {
    say("CLIENT_ERROR cannot increment or decrement non-numeric value");
  } else {
    CountingReply::failed(error);
  }
}

void MetaReply::append_flags(Buffer& line, const Row* row) const {
  for (const std::string_view flag : answer_.flags) {
    if (flag[0] == 'k') {
      line.append(" k");
      line.append(answer_.key);
      line.append(answer_.is_base64 ? " b" : "");
    } else if (flag[0] == 'O') {
      line.append(' ');
      line.append(flag);
    } else if (row != nullptr) {
      append_flag_of_row(line, flag[0], *row);
    }
  }
}

void MetaReply::append_flag_of_row(Buffer& line, char flag, const Row& row) const {
  switch (flag) {
    case 'f':
      line.append(" f");
      line.append(row.flags.view());
      break;
    case 'c':
      line.append(" c");
      line.append(row.cas.view());
      break;
    case 's':
      line.append(" s");
      append_number(line, row.value_bytes);
      break;
    case 't':
      line.append(" t");
      append_ttl(line, row.expiry, answer_.now_s);
      break;
    default:
      break;
  }
}

/// The values stand in the output already. What stands before them in the reply is written behind them first.
void MetaReply::row_ends() {
  note_done();
  if (out().failed()) {
    return;
  }
  const uint32_t first = layout_.values_at;
  const size_t value_begin = first == 0 ? row_begin_ : layout_.ends[first - 1].bytes;
  const size_t value_end = layout_.ends[first + container()->value_count - 1].bytes;
  const Row row{.flags = NumberText(column_of(out(), layout_, row_begin_, layout_.flags_at)),
                .cas = NumberText(column_of(out(), layout_, row_begin_, layout_.cas_at)),
                .expiry = NumberText(column_of(out(), layout_, row_begin_, layout_.expiry_at)),
                .value_bytes = value_end - value_begin};
  if (answer_.hides_done) {
    out().truncate(row_begin_);
    return;
  }
  if (!answer_.tells_value) {
    out().truncate(row_begin_);
    out().append("HD");
    append_flags(out(), &row);
    out().append(line_end);
    return;
  }
  out().truncate(value_end);
  out().append("VA ");
  append_number(out(), row.value_bytes);
  append_flags(out(), &row);
  out().append(line_end);
  char line[limits::memcached_meta_line_bytes_max];
  const size_t line_bytes = out().size() - value_end;
  if (out().failed() || line_bytes > limits::memcached_meta_line_bytes_max) {
    out().fail();
    return;
  }
  char* const begin = out().data() + row_begin_;
  std::memcpy(line, out().data() + value_end, line_bytes);
  std::memmove(begin + line_bytes, out().data() + value_begin, row.value_bytes);
  std::memcpy(begin, line, line_bytes);
  out().truncate(row_begin_ + line_bytes + row.value_bytes);
  out().append(line_end);
}

void MetaReply::end_rows() {
  if (!told_) {
    tell_refused(answer_.refused);
  }
}

void MetaReply::tell(std::string_view code, bool is_hidden) {
  told_ = true;
  if (is_hidden) {
    return;
  }
  out().append(code);
  append_flags(out(), nullptr);
  out().append(line_end);
}

void MetaReply::tell_refused(std::string_view code) {
  came_to(answer_.counts_refused);
  tell(code, false);
}

void MetaReply::tell_done() {
  note_done();
  tell("HD", answer_.hides_done);
}

void MetaReply::tell_missed() {
  if (answer_.makes_missed) {
    return;
  }
  came_to(answer_.counts_missed);
  tell(answer_.missed, answer_.hides_missed);
}

void MetaReply::counted(uint64_t row_count) { row_count > 0 ? tell_done() : tell_missed(); }

void MetaReply::changed(const Changes& changes) {
  if (changes.rows_found == 0) {
    tell_missed();
  } else if (changes.rows_matched == 0) {
    tell_refused(answer_.refused);
  } else {
    tell_done();
  }
}

void MetaReply::inserted(const RowOutcome& outcome) {
  if (answer_.keeps && outcome.rows_affected == 0) {
    tell_refused(answer_.kept);
  } else {
    tell_done();
  }
}

void MetaDebugReply::row_ends() {
  note_done();
  if (out().failed()) {
    return;
  }
  const NumberText cas(column_of(out(), layout(), row_begin(), layout().cas_at));
  const NumberText expiry(column_of(out(), layout(), row_begin(), layout().expiry_at));
  const size_t value_bytes = layout().ends[container()->value_count - 1].bytes - row_begin();
  out().truncate(row_begin());
  out().append("ME ");
  out().append(answer().key);
  out().append(" exp=");
  append_ttl(out(), expiry, answer().now_s);
  out().append(" la=0 cas=");
  out().append(cas.view());
  out().append(" fetch=no cls=1 size=");
  append_number(out(), value_bytes);
  out().append(line_end);
}

}  // namespace rowsocket::wire::memcached
