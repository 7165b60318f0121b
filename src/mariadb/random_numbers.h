// SPDX-License-Identifier: GPL-2.0-only
//
// RAND() in a session that serves many clients. On the session's thread.
#pragma once

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// What RAND() gives the clients of a THD: to each of them something else.
class RandomNumbers {
 public:
  explicit RandomNumbers(THD* thd) : thd_(thd) { seed(); }

  /// As the server does for a new connection. (It reads the numbers of all threads without a lock, too.)
  void seed() {
    const auto seed = static_cast<ulong>(my_rnd(&sql_rand) * 0xffffffff);
    my_rnd_init(&thd_->rand, seed + static_cast<ulong>(reinterpret_cast<intptr>(thd_)),
                static_cast<ulong>(my_timer_cycles() + thd_->query_id));
    seed1_ = thd_->rand.seed1;
    seed2_ = thd_->rand.seed2;
  }
  /// Another client may come now: what RAND() gives it has nothing to do with what it gave the one before.
  void forget() {
    if (thd_->rand.seed1 != seed1_ || thd_->rand.seed2 != seed2_) [[unlikely]] {
      seed();
    }
  }

 private:
  THD* thd_;
  /// As the THD was seeded last: it has others when RAND() was called, or was told where to begin.
  ulong seed1_ = 0;
  ulong seed2_ = 0;
};

}  // namespace rowsocket::mariadb
