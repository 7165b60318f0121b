// SPDX-License-Identifier: GPL-2.0-only
#include "net/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <utility>

namespace rowsocket::net {
namespace {

Descriptor open_one() { return Descriptor(::eventfd(0, EFD_CLOEXEC)); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(Descriptor, is_closed_with_its_owner) {
  int fd = -1;
  {
    const Descriptor descriptor = open_one();
    fd = descriptor.get();
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(Descriptor, is_closed_where_another_takes_its_place) {
  Descriptor descriptor = open_one();
  const int before = descriptor.get();
  Descriptor other = open_one();
  const int fd = other.get();
  descriptor = std::move(other);
  EXPECT_FALSE(is_open(before));
  EXPECT_TRUE(is_open(fd));
  EXPECT_EQ(descriptor.get(), fd);
}

TEST(Descriptor, that_was_closed_is_none_so_that_it_is_not_closed_again) {
  Descriptor descriptor = open_one();
  descriptor.close();
  EXPECT_FALSE(descriptor.valid());
  const Descriptor next = open_one();  // the system gives out the same number
  descriptor.close();
  EXPECT_TRUE(is_open(next.get()));
}

}  // namespace
}  // namespace rowsocket::net
