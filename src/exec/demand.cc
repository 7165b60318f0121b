// SPDX-License-Identifier: GPL-2.0-only
#include "exec/demand.h"

#include <algorithm>

namespace rowsocket::exec {
namespace {

using engine::Demand;

Demand demand_of_insert(const Insert& insert) {
  Demand demand{.kinds = Demand::inserts,
                .inserted_column_count = static_cast<uint32_t>(insert.values.size() / insert.row_count)};
  if (insert.tells_rows) {
    demand.kinds |= Demand::reads_columns;
  }
  switch (insert.on_duplicate) {
    case OnDuplicate::fail:
      break;
    case OnDuplicate::keep:
      demand.kinds |= Demand::tells_kept_id;
      break;
    case OnDuplicate::replace:
      demand.kinds |= Demand::deletes;
      break;
    case OnDuplicate::change:
      // SQL asks for all of them, whatever is done.
      demand.kinds |= Demand::updates | Demand::updates_inserted | Demand::reads_changed;
      for (const auto& changes : {insert.duplicate_changes, insert.mismatch_changes}) {
        for (const DuplicateChange& change : changes) {
          demand.add_changed(change.position);
        }
      }
      if (!insert.duplicate_filters.empty()) {
        demand.kinds |= Demand::reads_filters;
      }
      break;
  }
  return demand;
}

/// What a find demands that inserts a row where it finds none, whether it comes to that or not: as an upsert
/// of SQL. Where another session was faster with the row, the insert changes it in the way that the find
/// does. So the columns of the key, which only the insert names, need no UPDATE.
void add_otherwise(Demand& demand, const Insert& insert) {
  constexpr uint32_t of_race = Demand::updates_inserted | Demand::reads_changed;
  const Demand inserting = demand_of_insert(insert);
  demand.kinds |= inserting.kinds & ~of_race;
  demand.changed_columns |= inserting.changed_columns;
  demand.changed_column_end = std::max(demand.changed_column_end, inserting.changed_column_end);
  demand.inserted_column_count = inserting.inserted_column_count;
}

Demand demand_of_find(const Find& find) {
  Demand demand{.kinds = Demand::reads_key};
  if (!find.filters.empty()) {
    demand.kinds |= Demand::reads_filters;
  }
  if (find.tell != Tell::count) {
    demand.kinds |= Demand::reads_columns;
  }
  if (find.change.kind == Change::Kind::remove) {
    demand.kinds |= Demand::deletes;
  }
  if (find.change.kind == Change::Kind::assign) {
    demand.kinds |= Demand::updates;
    for (const Assignment& assignment : find.change.assignments) {
      demand.add_changed(assignment.column);
      demand.kinds |= assignment.operation == Operation::set ? 0U : uint32_t{Demand::reads_changed};
    }
  }
  if (find.otherwise != nullptr) {
    add_otherwise(demand, *find.otherwise);
  }
  return demand;
}

}  // namespace

Demand demand_of(const Request& request) {
  return request.kind == RequestKind::insert ? demand_of_insert(static_cast<const Insert&>(request))
                                             : demand_of_find(static_cast<const Find&>(request));
}

}  // namespace rowsocket::exec
