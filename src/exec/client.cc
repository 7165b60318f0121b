// SPDX-License-Identifier: GPL-2.0-only
#include "exec/client.h"

#include <utility>

namespace rowsocket::exec {

void Client::set_index(uint32_t id, std::shared_ptr<engine::Index> index) {
  if (id >= indexes_.size()) {
    indexes_.resize(size_t{id} + 1);
  }
  indexes_[id] = std::move(index);
}

}  // namespace rowsocket::exec
