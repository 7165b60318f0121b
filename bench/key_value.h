// SPDX-License-Identifier: GPL-2.0-only
//
// What memcached and Redis have in common: a request is words, a row is one value, and a word that names the key stands once for
// every key of the request (`get user:{k}` becomes `get user:3 user:5`).
#pragma once

#include <string>
#include <vector>

#include "bench/protocol.h"

namespace rowsocket::bench {

/// A request's words, parsed.
struct Words {
  std::string command;  ///< the first, a constant
  std::vector<RequestText> words;

  /// Which of the words names the key; throws std::runtime_error if none does.
  [[nodiscard]] const RequestText& key_word() const;
};

/// For each of the workload's requests. Throws std::runtime_error if one has no such text.
[[nodiscard]] std::vector<Words> parse_words(const Workload& workload, std::string_view protocol);

}  // namespace rowsocket::bench
