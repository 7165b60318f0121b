// SPDX-License-Identifier: GPL-2.0-only
//
// The GTID of a session's last commit, as SQL prints it.
#pragma once

#include <cstdio>
#include <string_view>

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class CommitGtid {
 public:
  explicit CommitGtid(THD* thd) : thd_(thd) {}

  void before_commit() { made_ = {}; }
  /// The commit succeeded. The session forgets it: a trigger of the next client would see it in @@last_gtid.
  void note_commit() {
    made_ = thd_->get_last_commit_gtid();
    rpl_gtid none{};
    thd_->set_last_commit_gtid(none);
  }

  /// A commit that failed came as far as the binlog. Whether that took it is not known.
  [[nodiscard]] bool is_made_by_failure() {
    note_commit();
    return is_made();
  }

  /// The last commit has written to the binlog.
  [[nodiscard]] bool is_made() const { return made_.seq_no != 0; }
  /// Empty if the commit wrote nothing to the binlog. Good until the next commit.
  [[nodiscard]] std::string_view text() const {
    if (!is_made()) {
      return {};
    }
    const int size = std::snprintf(text_, sizeof(text_), "%u-%u-%llu", made_.domain_id, made_.server_id,
                                   static_cast<unsigned long long>(made_.seq_no));
    return {text_, static_cast<size_t>(size)};
  }

 private:
  THD* thd_;
  rpl_gtid made_{};
  mutable char text_[48] = {};
};

}  // namespace rowsocket::mariadb
