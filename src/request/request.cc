// SPDX-License-Identifier: GPL-2.0-only
#include "request/request.h"

#include <algorithm>

namespace rowsocket {

bool writes(const Request& request) {
  switch (request.kind) {
    case RequestKind::find:
      return static_cast<const Find&>(request).change.kind != Change::Kind::none;
    case RequestKind::insert:
      return true;
    case RequestKind::group: {
      const auto& members = static_cast<const Group&>(request).members;
      return std::any_of(members.begin(), members.end(), [](const Request* member) { return writes(*member); });
    }
    case RequestKind::refused:
    case RequestKind::nothing:
    case RequestKind::open:
    case RequestKind::authenticate:
      return false;
  }
  return false;
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
