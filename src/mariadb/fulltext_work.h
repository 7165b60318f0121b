// SPDX-License-Identifier: GPL-2.0-only
//
// InnoDB splits the texts of a full-text index into words in the commit. So what such a text costs shows in
// no request. It is measured here: the time of the processor that commits take which have such texts in them.
#pragma once

#include <cstdint>
#include <ctime>

#include "base/limits.h"

namespace rowsocket::mariadb {

/// Of one session.
class FulltextWork {
 public:
  /// While it lives, the thread commits what so many requests have changed in full-text indexes.
  class Commit {
   public:
    Commit(FulltextWork& work, uint32_t requests)
        : work_(work), requests_(requests), began_us_(requests > 0 ? thread_us() : 0) {}
    Commit(const Commit&) = delete;
    Commit& operator=(const Commit&) = delete;
    ~Commit() {
      if (requests_ > 0) [[unlikely]] {
        work_.note(thread_us() - began_us_, requests_);
      }
    }

   private:
    FulltextWork& work_;
    const uint32_t requests_;
    const uint64_t began_us_;
  };

  /// Such a request costs so much that it is to have a commit of its own.
  [[nodiscard]] bool is_dear() const { return us_per_request_ >= limits::fulltext_us_dear; }
  [[nodiscard]] uint64_t total_us() const { return total_us_; }

 private:
  void note(uint64_t us, uint32_t requests) {
    total_us_ += us;
    us_per_request_ = (us_per_request_ + us / requests) / 2;
  }
  /// For which the processor ran this thread.
  [[nodiscard]] static uint64_t thread_us() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_nsec) / 1000;
  }

  uint64_t us_per_request_ = 0;  ///< of late
  uint64_t total_us_ = 0;
};

}  // namespace rowsocket::mariadb
