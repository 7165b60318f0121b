// SPDX-License-Identifier: GPL-2.0-only
#include "net/send_ring.h"

#include <liburing.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/invariant.h"

namespace rowsocket::net {

SendRing::SendRing() = default;

bool SendRing::open() {
  if (ring_ == nullptr && error_ == 0) [[unlikely]] {
    make();
  }
  return is_usable();
}

void SendRing::make() {
  auto ring = std::unique_ptr<io_uring>(new (std::nothrow) io_uring{});
  if (ring == nullptr) {
    error_ = ENOMEM;
    return;
  }
  const int result = ::io_uring_queue_init(sends_max, ring.get(), 0);
  if (result < 0) {
    error_ = -result;
    return;
  }
  ring_.reset(ring.release());
  // A kernel that has this knows sends, too: they came a version earlier.
  if ((ring_->features & IORING_FEAT_FAST_POLL) == 0) {
    ring_.reset();
    error_ = ENOSYS;
  }
}

SendRing::~SendRing() = default;

void SendRing::Close::operator()(io_uring* ring) const {
  ::io_uring_queue_exit(ring);
  delete ring;
}

void SendRing::send(std::span<Send> sends) {
  for (Send& one : sends) {
    one.transfer = {Transfer::Status::blocked, 0};
  }
  if (!invariant(is_usable() && sends.size() <= sends_max, "a ring sends as much as it has room for")) {
    return;
  }
  for (size_t number = 0; number < sends.size(); ++number) {
    const Send& one = sends[number];
    io_uring_sqe* const entry = ::io_uring_get_sqe(ring_.get());
    // MSG_DONTWAIT: where there is no room, the kernel says so, and does not keep the send for later.
    ::io_uring_prep_send(entry, one.fd, one.bytes, one.byte_count, MSG_NOSIGNAL | MSG_DONTWAIT);
    ::io_uring_sqe_set_data64(entry, number);
  }
  const size_t taken = submit(sends.size());
  take_results(sends.first(taken));
  if (taken < sends.size()) [[unlikely]] {
    ring_.reset();  // it still has the others
  }
}

/// How many of them the kernel took, and all are over: it is asked to wait for the results, which are there
/// already.
size_t SendRing::submit(size_t count) {
  size_t submitted = 0;
  while (submitted < count) {
    const int result = ::io_uring_submit_and_wait(ring_.get(), static_cast<unsigned>(count - submitted));
    if (result <= 0) {
      error_ = result < 0 ? -result : EAGAIN;
      break;
    }
    submitted += static_cast<size_t>(result);
  }
  return std::min(submitted, count);
}

void SendRing::take_results(std::span<Send> taken) {
  for (Send& one : taken) {
    one.transfer.status = Transfer::Status::failed;  // unless there is a result
  }
  unsigned head = 0;
  unsigned count = 0;
  const io_uring_cqe* result = nullptr;
  io_uring_for_each_cqe(ring_.get(), head, result) {
    taken[result->user_data].transfer = sent(result->res);
    ++count;
  }
  ::io_uring_cq_advance(ring_.get(), count);
  if (!invariant(count == taken.size(), "all sends that the kernel took are over")) {
    ring_.reset();
    error_ = EIO;
  }
}

}  // namespace rowsocket::net
