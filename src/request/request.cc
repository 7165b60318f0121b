// SPDX-License-Identifier: GPL-2.0-only
#include "request/request.h"

#include <algorithm>

namespace rowsocket {

bool detail::has_member_that_writes(const Group& group) {
  return std::any_of(group.members.begin(), group.members.end(),
                     [](const Request* member) { return writes(*member); });
}

bool changes_one_row(const Request& request) {
  if (request.kind == RequestKind::insert) {
    const auto& insert = static_cast<const Insert&>(request);
    return (insert.row_count == 1 || insert.rows_alone) && insert.on_duplicate != OnDuplicate::replace;
  }
  const auto& find = static_cast<const Find&>(request);
  return find.limit <= 1 && !find.list.is_given;
}

}  // namespace rowsocket
