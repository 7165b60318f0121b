// SPDX-License-Identifier: GPL-2.0-only
//
// For tests of protocols: containers without a server.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "request/containers.h"

namespace rowsocket::test {

/// all: key k, value v, and everything else. bare: key and value only. wide: two key parts, two values, and a
/// cas that its table keeps. broken: names no table.
[[nodiscard]] inline std::shared_ptr<const Containers> some_containers() {
  const std::vector<ContainerFields> rows = {
      {"all", "d", "t", "k", "v", "f", "c", "e", "PRIMARY"},
      {"bare", "d", "bare", "k", "v", "0", "0", "0", "by_k"},
      {"broken", "d", "", "k", "v", "", "", "", "PRIMARY"},
      {"wide", "d", "wide", "a|b", "x|y", "", "=c", "e", "PRIMARY"},
  };
  std::vector<std::unique_ptr<const Container>> all;
  all.reserve(rows.size());
  for (const ContainerFields& fields : rows) {
    all.push_back(std::make_unique<const Container>(fields));
  }
  return std::make_shared<const Containers>(std::move(all));
}

}  // namespace rowsocket::test
