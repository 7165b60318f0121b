// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_bounds.h"

namespace rowsocket::exec {

ErrorCode RequestBounds::reason_to_end(uint64_t rows) {
  if (rows_max_ != 0 && rows_before_ + rows > rows_max_) {
    return ErrorCode::too_many_rows;
  }
  const uint64_t now_us = clock_.now_us();
  if (began_us_ == 0) {
    began_us_ = asked_us_ = said_us_ = client_asked_us_ = loss_asked_us_ = now_us;
    return ErrorCode::none;
  }
  longest_silence_us_ = std::max(longest_silence_us_, now_us - asked_us_);
  asked_us_ = now_us;
  if (request_us_max_ != 0 && now_us - first_began_us() >= request_us_max_) {
    return ErrorCode::took_too_long;
  }
  if (must_be_given_up(now_us)) {
    is_given_up_ = true;
    return ErrorCode::took_too_long;
  }
  has_client_left_ = client_ != nullptr && now_us - loss_asked_us_ >= limits::walk_loss_us && is_gone(now_us);
  return has_client_left_ ? ErrorCode::client_gone : ErrorCode::none;
}

bool RequestBounds::is_gone(uint64_t now_us) {
  loss_asked_us_ = now_us;
  if (client_->is_lost()) {
    return true;
  }
  if (now_us - client_asked_us_ < uint64_t{limits::presence_ms} * 1000) {
    return false;
  }
  client_asked_us_ = now_us;
  return client_->is_gone();
}

bool RequestBounds::must_be_given_up(uint64_t now_us) {
  if (now_us - said_us_ < limits::slice_us) {
    return false;
  }
  said_us_ = now_us;
  const uint64_t gone_on_us = now_us - began_us_;
  const bool keeps_nobody = !takes_long_ || takes_long_(gone_on_us);
  asked_us_ = clock_.now_us();  // it may have rested
  const uint32_t doubled = std::min(before_.count, limits::slices_doubled_max);
  return !keeps_nobody && may_be_given_up_ && gone_on_us >= uint64_t{limits::slice_us} << doubled;
}

}  // namespace rowsocket::exec
