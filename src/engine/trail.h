// SPDX-License-Identifier: GPL-2.0-only
//
// What a host's own logs and audit plugins are told of requests: that they came, what tables they used, and
// how they ended. The host decides what it wants to know, and `src/exec` says it in words that a person reads
// (exec/request_text.h).
//
//   received ..... once per request, whatever becomes of it
//   follow ....... what the session does from here on is done for this request; nullptr: for none
//   ended ........ once, when the answer is final. A request that is put back, or runs again, ends later
//
// An entry lives as long as its request, over turns where that has to wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "request/error.h"

namespace rowsocket::engine {

class Identity;

/// Made only where the host wants to have the text, which may throw std::bad_alloc.
using TextMaker = std::function<std::string()>;

/// What a request does, as far as hosts sort requests by it.
enum class Deed : uint8_t { reads, updates, inserts, deletes, other };

/// A request in the host's logs.
class TrailEntry {
 public:
  virtual ~TrailEntry() = default;
};

/// Who asks, and what.
struct Asked {
  const std::shared_ptr<Identity>& client;
  std::string_view database;  ///< of its table; empty = it names none, or several
  Deed deed;
};

/// What came of it.
struct Ended {
  const Error& error;
  uint64_t rows_examined;
  uint64_t rows_told;
  uint64_t rows_changed;
  uint64_t reply_bytes;
  bool hides_values;  ///< no value is to be shown, also not in what is said of an error
};

/// Of one session, on its thread. Nothing here fails a request: what can not be written is not.
class Trail {
 public:
  virtual ~Trail() = default;

  /// A client that has named no account is known from here on, by its numeric address (empty: it came through
  /// a unix socket), until the identity goes. May throw std::bad_alloc.
  [[nodiscard]] virtual std::shared_ptr<Identity> introduce(const std::string& address) = 0;

  /// May throw std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<TrailEntry> received(const Asked& asked, const TextMaker& text) = 0;
  virtual void follow(TrailEntry* entry) = 0;
  /// May throw std::bad_alloc.
  virtual void ended(TrailEntry& entry, const Asked& asked, const Ended& end, const TextMaker& text) = 0;

  /// Nothing is told until the next turn.
  virtual void end_turn() = 0;
};

}  // namespace rowsocket::engine
