// SPDX-License-Identifier: GPL-2.0-only
//
// What a session makes of a selection, the names that a client opened: the table, open or not, and the names
// resolved against it. It belongs to the session (shelf.h); the selection itself does not (engine.h).
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/opened_selections.h"
#include "mariadb/binding.h"
#include "mariadb/open_table.h"
#include "mariadb/rights.h"

namespace rowsocket::mariadb {

/// The selection as one session uses it: for reads, and for writes.
struct BoundSelection {
  struct Side {
    std::shared_ptr<OpenTable> open;  ///< nullptr until a request has needed it
    Binding binding;                  ///< good while its generation is that of `open`
    Allowed allowed;                  ///< what the selection's account may do with it, in this turn
  };
  [[nodiscard]] Side& side(engine::Intent intent) { return intent == engine::Intent::read ? read : write; }

  Side read;
  Side write;
  engine::KeptBytes::Part kept;  ///< the memory of both

  /// After a side has changed.
  void count_kept_bytes();
};

/// Write database and table as the server does where names have no case. False if one of them is no name.
[[nodiscard]] bool follow_naming_rules(engine::SelectionDescription& description);

}  // namespace rowsocket::mariadb
