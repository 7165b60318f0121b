// SPDX-License-Identifier: GPL-2.0-only
//
// A world for a TurnLoop in which everything comes from one seed: what clients send and when, in which pieces
// bytes travel, what the poller tells of and in which order, and how time passes. The same seed gives the
// same bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "net/poller.h"
#include "net/transport.h"

namespace rowsocket::server {

/// All that is random in one run.
class Chance {
 public:
  explicit Chance(uint64_t seed) : numbers_(seed) {}
  [[nodiscard]] size_t below(size_t end) { return static_cast<size_t>(numbers_() % end); }
  [[nodiscard]] size_t from_to(size_t first, size_t last) { return first + below(last - first + 1); }
  [[nodiscard]] bool one_in(size_t count) { return below(count) == 0; }

 private:
  std::mt19937_64 numbers_;
};

/// What is under way between one client and the worker.
struct Wire {
  static constexpr size_t room_max = 4096;

  std::string to_worker;
  std::string to_client;
  bool client_ended = false;  ///< it sends nothing more
  bool is_reset = false;      ///< it is gone, and what was under way with it
  bool worker_ended = false;

  [[nodiscard]] bool is_readable() const { return !to_worker.empty() || client_ended || is_reset; }
  [[nodiscard]] bool is_writable() const { return to_client.size() < room_max || is_reset; }
};

/// The worker's end of a wire. It moves any number of bytes that it could move.
class SimulatedTransport final : public net::Transport {
 public:
  SimulatedTransport(std::shared_ptr<Wire> wire, int fd, Chance& chance)
      : wire_(std::move(wire)), fd_(fd), chance_(chance) {}
  ~SimulatedTransport() override { wire_->worker_ended = true; }

  [[nodiscard]] int fd() const override { return fd_; }

  [[nodiscard]] net::Transfer receive(char* place, size_t byte_count_max) override {
    using Status = net::Transfer::Status;
    if (wire_->is_reset) {
      return {Status::failed, 0};
    }
    if (wire_->to_worker.empty()) {
      return {wire_->client_ended ? Status::ended : Status::blocked, 0};
    }
    const size_t count = chance_.from_to(1, std::min(byte_count_max, wire_->to_worker.size()));
    std::memcpy(place, wire_->to_worker.data(), count);
    wire_->to_worker.erase(0, count);
    return {Status::moved, count};
  }

  [[nodiscard]] net::Transfer send(const char* bytes, size_t byte_count) override {
    using Status = net::Transfer::Status;
    if (wire_->is_reset) {
      return {Status::failed, 0};
    }
    const size_t room = Wire::room_max - std::min(Wire::room_max, wire_->to_client.size());
    if (room == 0) {
      return {Status::blocked, 0};
    }
    const size_t count = chance_.from_to(1, std::min(byte_count, room));
    wire_->to_client.append(bytes, count);
    return {Status::moved, count};
  }

  void shut_down_output() override { wire_->worker_ended = true; }
  [[nodiscard]] bool is_gone() const override { return wire_->client_ended || wire_->is_reset; }
  [[nodiscard]] bool is_broken() const override { return wire_->is_reset; }

 private:
  std::shared_ptr<Wire> wire_;
  int fd_;
  Chance& chance_;
};

/// Tells of some of the wires that are ready, in any order. While it waits, the world goes on.
class SimulatedPoller final : public net::Poller {
 public:
  /// `step` does one thing in the world, and returns false if there is nothing left to do.
  SimulatedPoller(Chance& chance, ManualClock& clock, std::function<bool()> step)
      : chance_(chance), clock_(clock), step_(std::move(step)) {}

  void add(int fd, std::shared_ptr<const Wire> wire) { wires_[fd] = std::move(wire); }

  [[nodiscard]] bool change(int fd, net::Interest current, net::Interest wanted, void* tag) override {
    if (current != wanted) {
      watched_[fd] = {wanted, tag};
    }
    return true;
  }

  [[nodiscard]] std::span<const Event> wait(int timeout_ms) override {
    const uint64_t until_ms =
        timeout_ms == forever ? UINT64_MAX : clock_.now_ms() + static_cast<uint64_t>(timeout_ms);
    events_.clear();
    bool goes_on = true;
    do {
      for (size_t steps = chance_.below(4); steps > 0 && goes_on; --steps) {
        goes_on = step_();
      }
      collect();
      if (events_.empty() && timeout_ms != 0) {
        clock_.advance_us(chance_.from_to(1, 2000));
      }
    } while (events_.empty() && goes_on && clock_.now_ms() < until_ms);
    return events_;
  }

 private:
  struct Watched {
    net::Interest interest;
    void* tag;
  };

  void collect() {
    for (const auto& [fd, watched] : watched_) {
      const auto wire = wires_.find(fd);
      if (wire == wires_.end()) {  // the inbox's
        events_.push_back({watched.tag, true, false});
      } else if (watched.interest != net::Interest::none && !wire->second->worker_ended) {
        const bool readable = wire->second->is_readable() && watched.interest == net::Interest::input;
        const bool writable = wire->second->is_writable() && watched.interest == net::Interest::output;
        if (readable || writable || wire->second->is_reset) {
          events_.push_back(
              {watched.tag, readable || wire->second->is_reset, writable || wire->second->is_reset});
        }
      }
    }
    for (size_t left = events_.size(); left > 1; --left) {
      std::swap(events_[left - 1], events_[chance_.below(left)]);
    }
    events_.resize(chance_.below(events_.size() + 1));
  }

  Chance& chance_;
  ManualClock& clock_;
  std::function<bool()> step_;
  std::map<int, std::shared_ptr<const Wire>> wires_;
  std::map<int, Watched> watched_;
  std::vector<Event> events_;
};

}  // namespace rowsocket::server
