// SPDX-License-Identifier: GPL-2.0-only
#include "exec/walk.h"

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
           std::vector<Value>& in_key, RowCounts& counts)
    : cursor_(cursor),
      request_(request),
      protocol_(protocol),
      out_(out),
      writer_(out, protocol.value_format()),
      out_bytes_max_(out.size() + reply_bytes_max),
      in_key_(in_key),
      counts_(counts),
      replies_rows_(request.modification == Modification::none || request.return_rows_before),
      collects_(must_collect(cursor, request)),
      offset_left_(request.offset) {}

Error Walk::run(size_t column_count) {
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
    protocol_.reply_number(out_, rows_changed_);
  }
  return {};
}

bool Walk::find_rows() {
  if (request_.limit == 0) {
    return true;
  }
  return request_.has_in_list ? find_rows_of_list() : find_rows_of(request_.values, false);
}

bool Walk::find_rows_of_list() {
  in_key_.assign(request_.values.begin(), request_.values.end());
  for (const Value& value : request_.in_values) {
    in_key_[request_.in_key_part] = value;
    if (!find_rows_of(in_key_, request_.key_operator != KeyOperator::equal)) {
      return false;
    }
    if (rows_taken_ == request_.limit) {
      break;
    }
  }
  return true;
}

bool Walk::find_rows_of(std::span<const Value> key, bool one_row) {
  const bool filtered = !request_.filters.empty();
  for (Step step = cursor_.seek(request_.key_operator, key);; step = cursor_.next()) {
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
    if (one_row || rows_taken_ == request_.limit) {
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
  return (!replies_rows_ || write_row()) && (request_.modification == Modification::none || change_row());
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
      error_ = cursor_.update_row(request_.new_values);
      break;
    case Modification::remove:
      error_ = cursor_.delete_row();
      break;
    case Modification::increment:
    case Modification::decrement:
      error_ = cursor_.add_to_row(request_.new_values, request_.modification == Modification::decrement, changed);
      break;
  }
  if (!error_.ok()) {
    return false;
  }
  if (changed) {
    ++rows_changed_;
    ++(request_.modification == Modification::remove ? counts_.deleted : counts_.updated);
  }
  return true;
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
