// SPDX-License-Identifier: GPL-2.0-only
//
// Sends what many connections have to send with one call of the system: io_uring of the kernel takes a list.
// With a call for each of them, the way into the kernel and back is a tenth of what the kernel takes for a
// short request and its reply.
//
// No send waits for room, and all of them are over when `send` returns. So the bytes may go away after it.
// One owner, one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "net/transport.h"

struct io_uring;  // of liburing

namespace rowsocket::net {

class SendRing {
 public:
  static constexpr size_t sends_max = 128;

  /// Not open yet.
  SendRing();
  ~SendRing();
  SendRing(const SendRing&) = delete;
  SendRing& operator=(const SendRing&) = delete;

  /// The kernel is asked for a ring once, when it is first needed: a file descriptor, and some memory. False
  /// where it is too old (5.7 is the first) or has none for us, and where the ring was lost.
  [[nodiscard]] bool open();
  [[nodiscard]] bool is_usable() const { return ring_ != nullptr; }
  /// Why it is not, or is not any more, as errno has it; 0 = it was not opened.
  [[nodiscard]] int error() const { return error_; }

  struct Send {
    int fd;
    const char* bytes;
    size_t byte_count;  ///< at least 1
    Transfer transfer;  ///< what became of it: see PlainTransport::send
  };
  /// At most `sends_max`, each over another socket. Where the kernel does not take all of them, the others
  /// are Status::blocked, and the ring is not usable any more.
  void send(std::span<Send> sends);

 private:
  struct Close {
    void operator()(io_uring* ring) const;
  };
  void make();
  [[nodiscard]] size_t submit(size_t count);
  void take_results(std::span<Send> sends);

  std::unique_ptr<io_uring, Close> ring_;
  int error_ = 0;
};

}  // namespace rowsocket::net
