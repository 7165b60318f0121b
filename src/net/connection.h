// SPDX-License-Identifier: GPL-2.0-only
//
// A connected stream, with the bytes that were received and not yet consumed, and the bytes that are still to
// be sent. It does not know what the bytes mean, nor how they travel (transport.h). One owner, one thread.
//
// Each call asks the socket at most once. The poll is level-triggered: it tells again of bytes that are
// left, so no call is spent on learning that there are none. (Bytes that a transport holds are all received
// with the call that made it hold them.)
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/buffer.h"
#include "base/limits.h"
#include "net/buffer_pool.h"
#include "net/send_ring.h"
#include "net/transport.h"

namespace rowsocket::net {

class Connection {
 public:
  Connection(std::unique_ptr<Transport> transport, std::string peer)
      : transport_(std::move(transport)), peer_(std::move(peer)) {}

  [[nodiscard]] int fd() const { return transport_->fd(); }
  /// The address of the other side, for people.
  [[nodiscard]] const std::string& peer() const { return peer_; }

  [[nodiscard]] Buffer& input() { return input_; }
  [[nodiscard]] Buffer& output() { return output_; }
  [[nodiscard]] bool has_output() const { return !output_.empty(); }
  [[nodiscard]] size_t input_bytes() const { return input_.size(); }
  [[nodiscard]] size_t buffer_bytes() const { return input_.capacity() + output_.capacity(); }
  [[nodiscard]] size_t held_bytes() const { return buffer_bytes() + transport_->held_bytes(); }

  /// Append received bytes to the input, at most `bytes_max` of them. The input moves if it has to grow.
  [[nodiscard]] Transfer receive(BufferPool& pool, size_t bytes_max = limits::receive_bytes);
  /// Send from the front of the output, which must not be empty. Status::failed where the output has failed:
  /// what is left of it is no reply to anything.
  [[nodiscard]] Transfer send();
  /// The same by a ring: what it is to send. Only where `sends_by_ring`.
  [[nodiscard]] bool sends_by_ring() const { return transport_->sends_plainly() && !output_.failed(); }
  [[nodiscard]] SendRing::Send to_send() const {
    return {.fd = fd(),
            .bytes = output_.data(),
            .byte_count = output_.size(),
            .transfer = {Transfer::Status::blocked, 0}};
  }
  /// It was sent, this or another way.
  void note_sent(const Transfer& transfer) {
    if (transfer.status == Transfer::Status::moved) {
      output_.consume(transfer.byte_count);
    }
  }

  /// Take memory for replies, if the connection has none.
  void borrow_output(BufferPool& pool) {
    if (output_.capacity() == 0) {
      output_ = pool.take();
    }
  }
  /// Give back the buffers that hold nothing.
  void give_back_empty(BufferPool& pool);

  /// See Transport.
  [[nodiscard]] bool is_gone() const { return transport_->is_gone(); }
  [[nodiscard]] bool is_broken() const { return transport_->is_broken(); }
  [[nodiscard]] const Transport& transport() const { return *transport_; }
  /// The connection is of no use any more.
  [[nodiscard]] Descriptor take_socket() { return transport_->take_socket(); }
  /// Tell the peer that no more bytes come. The peer may still send.
  void shut_down_output() { transport_->shut_down_output(); }

 private:
  [[nodiscard]] Transfer receive_held(Transfer received);

  std::unique_ptr<Transport> transport_;
  bool filled_last_time_ = false;  ///< all bytes that were asked for came: there are probably more
  Buffer input_;
  Buffer output_;
  std::string peer_;
};

}  // namespace rowsocket::net
