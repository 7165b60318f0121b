// SPDX-License-Identifier: GPL-2.0-only
#include "exec/walk.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rowsocket::exec {
namespace {

using engine::Step;
using engine::Verdict;

bool must_collect(const engine::Cursor& cursor, const Request& request) {
  switch (request.modification) {
    case Modification::none:
    case Modification::remove:
      return false;
    case Modification::update:
    case Modification::increment:
    case Modification::decrement:
      return request.limit > 1 && cursor.update_moves_rows(request.new_values.size());
  }
  return false;
}

}  // namespace

Walk::Walk(engine::Cursor& cursor, const Request& request, const Protocol& protocol, Buffer& out, size_t reply_bytes_max,
           std::vector<Value>& in_keys, RowCounts& counts)
    : cursor_(cursor),
      request_(request),
      protocol_(protocol),
      out_(out),
      writer_(out, protocol.value_format()),
      out_bytes_max_(out.size() + reply_bytes_max),
      in_keys_(in_keys),
      counts_(counts),
      replies_rows_(request.reply != FindReply::count),
      collects_(must_collect(cursor, request)),
      offset_left_(request.offset) {}

Error Walk::run(size_t column_count) {
  new_values_ = request_.new_values.first(std::min(request_.new_values.size(), column_count));
  if (!request_.filters.empty()) {
    if (Error error = cursor_.set_filters(request_.filters); !error.ok()) {
      return error;
    }
  }
  if (replies_rows_) {
    protocol_.begin_rows(out_, column_count);
  }
  if (!find_rows() || !change_collected_rows()) {
    return std::move(error_);
  }
  if (replies_rows_) {
    protocol_.end_rows(out_);
  } else {
    protocol_.reply_number(out_, request_.modification == Modification::none ? rows_taken_ : rows_changed_);
  }
  return {};
}

bool Walk::find_rows() {
  if (request_.limit == 0) {
    return true;
  }
  const KeyRange range{.key_operator = request_.key_operator,
                       .key = request_.values,
                       .has_end = request_.has_end,
                       .end_operator = request_.end_operator,
                       .end_key = request_.end_values,
                       .reverse = request_.reverse};
  return request_.has_in_list ? find_rows_of_list(range) : find_rows_of(range, std::numeric_limits<uint64_t>::max());
}

bool Walk::find_rows_of_list(KeyRange range) {
  const size_t key_size = range.key.size();
  in_keys_.assign(range.key.begin(), range.key.end());
  in_keys_.insert(in_keys_.end(), range.end_key.begin(), range.end_key.end());
  range.key = std::span(in_keys_).first(key_size);
  range.end_key = std::span(in_keys_).subspan(key_size);

  const bool all_rows = range.key_operator == KeyOperator::equal || range.key_operator == KeyOperator::starts_with;
  const uint64_t usual_limit = all_rows ? std::numeric_limits<uint64_t>::max() : 1;
  const uint64_t row_limit = request_.limit_per_value != 0 ? request_.limit_per_value : usual_limit;
  const size_t stride = request_.lists_whole_keys ? key_size : 1;
  for (size_t i = 0; i < request_.in_values.size() && rows_taken_ < request_.limit; i += stride) {
    if (request_.lists_whole_keys) {
      std::copy_n(request_.in_values.begin() + static_cast<ptrdiff_t>(i), key_size, in_keys_.begin());
    } else {
      in_keys_[request_.in_key_part] = request_.in_values[i];
      if (request_.in_key_part < range.end_key.size()) {
        in_keys_[key_size + request_.in_key_part] = request_.in_values[i];
      }
    }
    if (!find_rows_of(range, row_limit)) {
      return false;
    }
  }
  return true;
}

/// `row_limit`: of the rows that pass the filters, those that the offset skips included.
bool Walk::find_rows_of(const KeyRange& range, uint64_t row_limit) {
  const bool filtered = !request_.filters.empty();
  uint64_t rows_left = row_limit;
  for (Step step = cursor_.seek(range);; step = cursor_.next()) {
    if (step != Step::row) {
      return step == Step::end || fail(cursor_.error());
    }
    ++counts_.read;
    const Verdict verdict = filtered ? cursor_.verdict() : Verdict::match;
    if (verdict == Verdict::stop) {
      return true;
    }
    if (verdict == Verdict::skip) {
      continue;
    }
    if (offset_left_ > 0) {
      --offset_left_;
    } else if (!take_row()) {
      return false;
    }
    if (--rows_left == 0 || rows_taken_ == request_.limit) {
      return true;
    }
  }
}

bool Walk::take_row() {
  ++rows_taken_;
  if (collects_) {
    return cursor_.save_position() || fail(ErrorCode::out_of_memory);
  }
  return finish_row();
}

bool Walk::finish_row() {
  return (request_.reply != FindReply::rows || write_row()) && (request_.modification == Modification::none || change_row());
}

bool Walk::write_row() {
  cursor_.write_row(writer_);
  if (out_.failed() || out_.size() > out_bytes_max_) [[unlikely]] {
    return fail(ErrorCode::reply_too_large);
  }
  return true;
}

bool Walk::change_row() {
  bool changed = true;
  switch (request_.modification) {
    case Modification::none:
      return true;
    case Modification::update:
      error_ = cursor_.update_row(new_values_);
      break;
    case Modification::remove:
      error_ = cursor_.delete_row();
      break;
    case Modification::increment:
    case Modification::decrement:
      error_ = cursor_.add_to_row(new_values_, request_.modification == Modification::decrement, changed);
      break;
  }
  if (!error_.ok()) {
    return false;
  }
  if (changed) {
    ++rows_changed_;
    ++(request_.modification == Modification::remove ? counts_.deleted : counts_.updated);
  }
  return !changed || request_.reply != FindReply::rows_after || write_row();
}

bool Walk::change_collected_rows() {
  for (size_t number = 0; collects_ && number < rows_taken_; ++number) {
    const Step step = cursor_.fetch_position(number);
    if (step == Step::failed) {
      return fail(cursor_.error());
    }
    // A row can be gone: changing another one may have removed it (a cascade, a trigger).
    if (step == Step::row && !finish_row()) {
      return false;
    }
  }
  return true;
}

bool Walk::fail(Error error) {
  error_ = std::move(error);
  return false;
}

}  // namespace rowsocket::exec
