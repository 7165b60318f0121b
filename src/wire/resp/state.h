// SPDX-License-Identifier: GPL-2.0-only
//
// What is remembered of one connection between its requests. Replies write it, behind an authenticate or
// Request::changes_state only: no request is parsed again behind such a change. Such a reply may be told more
// than once, and writes the same then. Two are written otherwise, and no parsing depends on when: `executes`
// is by the parser, and parsing again writes the same; `own_scan_places` is by the replies of scans.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/buffer.h"
#include "request/protocol.h"
#include "wire/resp/scan_places.h"

namespace rowsocket::wire::resp {

struct State final : WireState {
  State() {
    static std::atomic<uint64_t> last_id{0};
    id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  uint64_t id = 0;
  uint32_t version = 2;       ///< of RESP: 2 or 3
  bool is_over = false;       ///< its stream could not be followed, and it was told so
  std::string database = {};  ///< of keys that name none; empty = those are of containers
  std::string name = {};      ///< that it gave itself
  ScanPlaces::Own own_scan_places = {};

  // Between MULTI and EXEC.
  bool collects = false;
  bool is_broken = false;  ///< a command was refused: nothing will be done
  bool executes = false;   ///< EXEC was parsed up to its last byte, which ends the collecting
  /// The commands, as they were sent. A buffer gives large memory back to the system at once, where the
  /// allocator would keep it from client to client, and it would not be counted.
  Buffer collected = {};
  uint32_t collected_count = 0;

  void forget_collected() {
    collects = is_broken = executes = false;
    collected.release();
    collected_count = 0;
  }

  [[nodiscard]] size_t held_bytes() const override {
    return bytes_of(database) + bytes_of(name) + collected.capacity();
  }

 private:
  /// Short texts stand in the string itself.
  static size_t bytes_of(const std::string& text) {
    return text.capacity() > sizeof(std::string) ? text.capacity() : 0;
  }
};

}  // namespace rowsocket::wire::resp
