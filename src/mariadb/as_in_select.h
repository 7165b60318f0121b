// SPDX-License-Identifier: GPL-2.0-only
//
// How lenient the server is while a value is searched for. On the session's thread.
#pragma once

#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// SQL's comparison takes a value that is none of its column's type: no warning is an error, and any day
/// stands in a date. While it lives.
class AsInSelect {
 public:
  explicit AsInSelect(THD* thd)
      : thd_(thd),
        sql_mode_(thd->variables.sql_mode),
        was_strict_(std::exchange(thd->abort_on_warning, false)),
        checks_(std::exchange(thd->count_cuted_fields, CHECK_FIELD_IGNORE)) {
    constexpr sql_mode_t strictness =
        MODE_STRICT_TRANS_TABLES | MODE_STRICT_ALL_TABLES | MODE_NO_ZERO_DATE | MODE_NO_ZERO_IN_DATE;
    thd->variables.sql_mode = (sql_mode_ & ~strictness) | MODE_INVALID_DATES;
  }
  AsInSelect(const AsInSelect&) = delete;
  AsInSelect& operator=(const AsInSelect&) = delete;
  ~AsInSelect() {
    clear_diagnostics(thd_);
    thd_->variables.sql_mode = sql_mode_;
    thd_->abort_on_warning = was_strict_;
    thd_->count_cuted_fields = checks_;
  }

 private:
  THD* thd_;
  sql_mode_t sql_mode_;
  bool was_strict_;
  enum_check_fields checks_;
};

}  // namespace rowsocket::mariadb
