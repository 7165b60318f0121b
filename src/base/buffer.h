// SPDX-License-Identifier: GPL-2.0-only
//
// A growable run of bytes with a consumed front, for what was received and for what is to be sent. It never
// throws: when memory is refused or the cap is reached, it turns `failed()` and swallows what follows, and
// the owner looks once, at the end of a request. It does the same where its owner asks for bytes that are not
// there, which is a bug. One owner, one thread.
//
//   begin_            data()             data()+size()        begin_+capacity_
//     | consumed        | bytes               | free                 |
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/invariant.h"

namespace rowsocket {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes_max) : bytes_max_(bytes_max) {}
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] const char* data() const { return begin_ + front_; }
  [[nodiscard]] char* data() { return begin_ + front_; }
  [[nodiscard]] size_t size() const { return back_ - front_; }
  [[nodiscard]] bool empty() const { return back_ == front_; }
  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] size_t free_bytes() const { return capacity_ - back_; }
  [[nodiscard]] std::string_view view() const { return {data(), size()}; }
  /// Some bytes were dropped since the last `truncate` or `clear`: memory was refused, or the cap was
  /// reached.
  [[nodiscard]] bool failed() const { return failed_; }

  [[nodiscard]] size_t bytes_max() const { return bytes_max_; }
  /// Not below what it holds.
  void set_bytes_max(size_t bytes_max) {
    bytes_max_ = bytes_max;
    if (!invariant(size() <= bytes_max, "a buffer holds no more than it may")) {
      failed_ = true;
    }
  }

  /// Room for `byte_count` more bytes at `end()`; false (and failed) if it is not to be had. May move the
  /// bytes.
  [[nodiscard]] bool reserve(size_t byte_count) {
    if (byte_count <= capacity_ - back_) [[likely]] {
      return true;
    }
    return grow(byte_count);
  }
  /// Where the next byte goes; write at most what was reserved, then `advance`.
  [[nodiscard]] char* end() { return begin_ + back_; }
  void advance(size_t byte_count) { back_ += byte_count; }

  void append(std::string_view bytes) {
    if (!bytes.empty() && reserve(bytes.size()))
        [[likely]] {  // an empty view may have no address, which memcpy forbids
      std::memcpy(end(), bytes.data(), bytes.size());
      back_ += bytes.size();
    }
  }
  void append(char byte) {
    if (reserve(1)) [[likely]] {
      begin_[back_++] = byte;
    }
  }

  /// Forget the first `byte_count` bytes.
  void consume(size_t byte_count) {
    if (!invariant(byte_count <= size(), "bytes are consumed that are there")) {
      byte_count = size();
      failed_ = true;
    }
    front_ += byte_count;
    if (front_ == back_) {
      front_ = back_ = 0;
    }
  }
  /// Bytes that belong here are not to be had.
  void fail() { failed_ = true; }
  /// What belongs here is not known: failed until it is cleared, whatever is cut.
  void give_up() { failed_ = is_given_up_ = true; }

  /// Keep the first `byte_count` bytes, and be good again if failed.
  void truncate(size_t byte_count) {
    const bool are_there = invariant(byte_count <= size(), "bytes are kept that are there");
    if (are_there) {
      back_ = front_ + byte_count;
    }
    failed_ = is_given_up_ || !are_there;
  }
  void clear() {
    front_ = back_ = 0;
    failed_ = is_given_up_ = false;
  }
  /// Give the memory back.
  void release();

 private:
  [[nodiscard]] bool grow(size_t byte_count);

  char* begin_ = nullptr;
  size_t front_ = 0;
  size_t back_ = 0;
  size_t capacity_ = 0;
  size_t bytes_max_ = static_cast<size_t>(-1);
  bool failed_ = false;
  bool is_given_up_ = false;
};

}  // namespace rowsocket
