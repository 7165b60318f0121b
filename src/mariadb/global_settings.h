// SPDX-License-Identifier: GPL-2.0-only
//
// The server's global variables as a session has them.
//
// A session of SQL takes them over when it begins. Ours begins with the server, so it takes them over, all of
// them, before a transaction that finds them changed. Whether they changed is seen by comparing them with
// what they were: a comparison of a kilobyte for each turn, and no lock. A change that is seen by halves is
// seen again by the next turn.
//
// Used by the session's thread.
#pragma once

#include <string_view>
#include <vector>

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class GlobalSettings {
 public:
  /// True if the variables must be taken over: for the first time, or since an operator has changed them.
  /// `now_us` is any clock.
  [[nodiscard]] bool have_changed(ulonglong now_us);
  /// As `THD::init` does, under the lock that the server asks for.
  void take_over(THD* thd);

  /// Switch off what a plugin's variable of this name (a bool) says for the session, if there is one.
  static void switch_off(THD* thd, std::string_view name);

 private:
  [[nodiscard]] bool plugins_variables_changed(ulonglong now_us);

  bool is_taken_ = false;
  system_variables seen_;
  std::vector<char>
      seen_of_plugins_;  ///< what `seen_` points to: the variables of storage engines and other plugins
  ulonglong looked_at_us_ = 0;
};

}  // namespace rowsocket::mariadb
