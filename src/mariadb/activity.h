// SPDX-License-Identifier: GPL-2.0-only
//
// What SHOW PROCESSLIST shows for a session. Other threads read the text at any time, without a lock.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class Activity {
 public:
  explicit Activity(THD* thd) : thd_(thd) {}

  void set(std::string_view text) {
    // Another thread may be reading the text that is shown now.
    shown_ = 1 - shown_;
    char* const place = texts_[shown_];
    const size_t size = std::min(text.size(), sizeof(texts_[0]) - 1);
    std::memcpy(place, text.data(), size);
    place[size] = 0;
    show();
  }
  /// After a function of the server that has put a text of its own in this place.
  void show() { thd_proc_info(thd_, texts_[shown_]); }

 private:
  THD* thd_;
  char texts_[2][128] = {};
  int shown_ = 0;  ///< which of them; the other one is free to be written
};

}  // namespace rowsocket::mariadb
