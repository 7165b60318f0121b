// SPDX-License-Identifier: GPL-2.0-only
//
// A date or time that is searched for: the nearest one that its column can have, and the two moments of a
// TIMESTAMP that a clock has shown twice. On the session's thread.
#pragma once

#include "mariadb/server_headers.h"
#include "request/value.h"
#include "sql_values/fit.h"

namespace rowsocket::mariadb {

using sql_values::Fit;

/// What is no date is the zero date, what is no time no time at all, and a day that no month has lies behind
/// its last.
[[nodiscard]] Fit store_nearest_time(THD* thd, Field* field, const Value& value);

/// Whether the clock shows `value` at the moment that a TIMESTAMP has taken for it. Where the clock has
/// passed over the value, the server may have taken another without a word.
[[nodiscard]] bool is_shown(THD* thd, Field* field, const Value& value);

/// The moments at which a clock that was put back has shown the time of the stored one.
struct TwoMoments {
  my_time_t earlier = 0;
  my_time_t later = 0;
  ulong fraction = 0;
};

/// Of the TIMESTAMP that the field holds. False if the clock has shown it once.
[[nodiscard]] bool find_both_moments(THD* thd, const Field* field, TwoMoments& both);

/// A clock that is put back shows an hour twice. True if it has shown the TIMESTAMP that the field has taken
/// for `value` at two moments. Rows are then to be compared by what they show: `shown` is the value as
/// `Field::val_datetime_packed()` has it.
[[nodiscard]] bool is_shown_twice(THD* thd, const Field* field, const Value& value, longlong& shown);

}  // namespace rowsocket::mariadb
