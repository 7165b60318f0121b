// SPDX-License-Identifier: GPL-2.0-only
#include "net/poller.h"

namespace rowsocket::net {

Epoll::Epoll() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

bool Epoll::change(int fd, Interest current, Interest wanted, void* tag) {
  if (current == wanted) {
    return true;
  }
  epoll_event event{};
  event.data.ptr = tag;
  event.events = wanted == Interest::output ? EPOLLOUT : EPOLLIN;
  int operation = EPOLL_CTL_MOD;
  if (current == Interest::none) {
    operation = EPOLL_CTL_ADD;
  } else if (wanted == Interest::none) {
    operation = EPOLL_CTL_DEL;
  }
  return ::epoll_ctl(epoll_.get(), operation, fd, &event) == 0;
}

std::span<const Poller::Event> Epoll::wait(int timeout_ms) {
  const int count = ::epoll_wait(epoll_.get(), raw_.data(), static_cast<int>(raw_.size()), timeout_ms);
  if (count <= 0) {
    return {};  // nothing yet, or a signal came between: the caller's loop looks again
  }
  for (int i = 0; i < count; ++i) {
    const uint32_t happened = raw_[static_cast<size_t>(i)].events;
    const bool broken = (happened & (EPOLLERR | EPOLLHUP)) != 0;
    events_[static_cast<size_t>(i)] = {raw_[static_cast<size_t>(i)].data.ptr,
                                       broken || (happened & EPOLLIN) != 0,
                                       broken || (happened & EPOLLOUT) != 0, (happened & EPOLLERR) != 0};
  }
  return {events_.data(), static_cast<size_t>(count)};
}

}  // namespace rowsocket::net
