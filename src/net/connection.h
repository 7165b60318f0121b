// SPDX-License-Identifier: GPL-2.0-only
//
// A connected, non-blocking stream socket with what was received and not yet consumed, and what is still to be sent. What the
// bytes mean is somebody else's business. One owner, one thread.
//
// At most one recv and one send per call: the poll is level-triggered, so what is left shows up again, and no call is spent on
// learning that there is nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/buffer.h"
#include "net/buffer_pool.h"
#include "net/descriptor.h"

namespace rowsocket::net {

struct Transfer {
  enum class Status : uint8_t {
    moved,         ///< `byte_count` bytes, at least one
    blocked,       ///< nothing to receive, or no room to send, for now
    ended,         ///< the peer will send nothing more
    failed,        ///< the connection is broken
    out_of_memory  ///< no buffer was to be had
  };
  Status status;
  size_t byte_count;
};

class Connection {
 public:
  Connection(Descriptor socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {}

  [[nodiscard]] int fd() const { return socket_.get(); }
  /// Who is on the other side, for people.
  [[nodiscard]] const std::string& peer() const { return peer_; }

  [[nodiscard]] Buffer& input() { return input_; }
  [[nodiscard]] Buffer& output() { return output_; }
  [[nodiscard]] bool has_output() const { return !output_.empty(); }
  [[nodiscard]] size_t held_bytes() const { return input_.capacity() + output_.capacity(); }

  /// Append what came to the input; moves it if it has to grow.
  [[nodiscard]] Transfer receive(BufferPool& pool);
  /// Send from the front of the output, which must not be empty.
  [[nodiscard]] Transfer send();

  /// Memory for replies, if there is none.
  void borrow_output(BufferPool& pool) {
    if (output_.capacity() == 0) {
      output_ = pool.take();
    }
  }
  /// Give back the buffers that hold nothing.
  void give_back_empty(BufferPool& pool);

  /// Tell the peer that nothing more comes; it may still send.
  void shut_down_output();

 private:
  Descriptor socket_;
  bool filled_last_time_ = false;  ///< the last recv got all that it asked for: there is probably more, ask for more
  Buffer input_;
  Buffer output_;
  std::string peer_;
};

}  // namespace rowsocket::net
