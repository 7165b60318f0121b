// SPDX-License-Identifier: GPL-2.0-only
#include "bench/key_value.h"

namespace rowsocket::bench {

const RequestText& Words::key_word() const {
  for (const RequestText& word : words) {
    if (word.names_key()) {
      return word;
    }
  }
  throw std::runtime_error("\"" + command + "\" names no key");
}

std::vector<Words> parse_words(const Workload& workload, std::string_view protocol) {
  std::vector<Words> requests;
  for (const Request& request : workload.requests) {
    auto [command, rest] = split_word(text_of(workload, request, protocol));
    Words& words = requests.emplace_back();
    words.command = command;
    while (!rest.empty()) {
      const auto [word, after] = split_word(rest);
      words.words.push_back(RequestText::parse(word, workload.table));
      rest = after;
    }
    (void)words.key_word();
  }
  return requests;
}

}  // namespace rowsocket::bench
