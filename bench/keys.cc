// SPDX-License-Identifier: GPL-2.0-only
#include "bench/keys.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

std::vector<uint32_t> read_list(const std::string& path) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(path, failure);
  std::vector<uint32_t> list(failure ? 0 : bytes / sizeof(uint32_t));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(list.data()), static_cast<long>(list.size() * sizeof(uint32_t)));
  if (!file || list.empty()) {
    throw std::runtime_error("cannot read the list of keys " + path);
  }
  return list;
}

}  // namespace

KeySource::KeySource(const KeyRange& range, uint64_t seed)
    : range_(range), random_(seed), unused_(range.least) {
  if (!range.list.empty()) {
    list_ = read_list(range.list);
  }
  if (!range.next && (range.most < range.least || range.most - range.least + uint64_t{1} < range.count)) {
    throw std::runtime_error("there are no " + std::to_string(range.count) + " different keys from " +
                             std::to_string(range.least) + " to " + std::to_string(range.most));
  }
}

void KeySource::next(std::vector<uint32_t>& keys) {
  keys.resize(range_.count);
  if (range_.next) {
    std::iota(keys.begin(), keys.end(), unused_);
    unused_ += static_cast<uint32_t>(range_.count);
    return;
  }
  std::generate(keys.begin(), keys.end(), [this] { return draw(); });
  if (keys.size() > 1) {
    make_different(keys);
  }
}

uint32_t KeySource::draw() {
  return list_.empty() ? range_.least + random_.below(range_.most - range_.least + uint64_t{1})
                       : list_[random_.below(list_.size())];
}

/// SQL gives the rows of an IN list in the order of the index, each once. So that all protocols are asked the
/// same, the keys of a request differ and ascend. Where drawing again finds no new key for long, the next
/// free one will do.
void KeySource::make_different(std::vector<uint32_t>& keys) {
  constexpr int redraws_max = 32;
  for (int redraws = 0;; ++redraws) {
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin == keys.end()) {
      return;
    }
    if (redraws < redraws_max) {
      *twin = draw();
      continue;
    }
    do {
      *twin = *twin == range_.most ? range_.least : *twin + 1;
    } while (std::count(keys.begin(), keys.end(), *twin) > 1);
  }
}

}  // namespace rowsocket::bench
