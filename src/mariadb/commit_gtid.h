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

  void before_commit() {
    before_ = thd_->get_last_commit_gtid();
    is_made_ = false;
  }
  /// The commit succeeded. Until the session's first GTID is made, the server sets nothing of it but seq_no
  /// (0).
  void note_commit() {
    const rpl_gtid& made = thd_->get_last_commit_gtid();
    is_made_ = made.seq_no != 0 && (before_.seq_no == 0 || !(made == before_));
  }

  /// The last commit has written to the binlog.
  [[nodiscard]] bool is_made() const { return is_made_; }
  /// Empty if the commit wrote nothing to the binlog. Good until the next commit.
  [[nodiscard]] std::string_view text() const {
    if (!is_made_) {
      return {};
    }
    const rpl_gtid gtid = thd_->get_last_commit_gtid();
    const int size = std::snprintf(text_, sizeof(text_), "%u-%u-%llu", gtid.domain_id, gtid.server_id,
                                   static_cast<unsigned long long>(gtid.seq_no));
    return {text_, static_cast<size_t>(size)};
  }

 private:
  THD* thd_;
  rpl_gtid before_{};
  bool is_made_ = false;
  mutable char text_[48] = {};
};

}  // namespace rowsocket::mariadb
