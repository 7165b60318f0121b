// SPDX-License-Identifier: GPL-2.0-only
//
// A connected stream with what was received and not yet consumed, and what is still to be sent. What the bytes
// mean is somebody else's business, and so is how they travel (transport.h). One owner, one thread.
//
// The transport is asked at most once per call: the poll is level-triggered, so what is left shows up again, and
// no call is spent on learning that there is nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "net/buffer_pool.h"
#include "net/transport.h"

namespace rowsocket::net {

class Connection {
 public:
  Connection(std::unique_ptr<Transport> transport, std::string peer)
      : transport_(std::move(transport)), peer_(std::move(peer)) {}

  [[nodiscard]] int fd() const { return transport_->fd(); }
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
  void shut_down_output() { transport_->shut_down_output(); }

 private:
  std::unique_ptr<Transport> transport_;
  bool filled_last_time_ = false;  ///< all that was asked for came: there is probably more, ask for more
  Buffer input_;
  Buffer output_;
  std::string peer_;
};

}  // namespace rowsocket::net
