// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "mariadb/history_partitions.h"

namespace rowsocket::mariadb {
namespace {

/// How many partitions an opened table needs that are not there. (The server's question sets where history
/// goes, too, which the opening has done already.)
uint missing_partitions(THD* thd, const TABLE_LIST* list) {
  const TABLE* const table = list->table;
  if (table == nullptr || list->lock_type < TL_FIRST_WRITE || !keeps_history_in_steps(table) ||
      !table->part_info->vers_info->auto_hist) {
    return 0;
  }
  uint count = 0;
  return table->part_info->vers_set_hist_part(thd, &count) ? 0 : count;
}

/// The server's sign on a table that a session is about to add a partition to it.
bool is_claimed(const TABLE* table) {
  mysql_mutex_lock(&table->s->LOCK_share);
  const bool claimed = table->s->vers_skip_auto_create;
  mysql_mutex_unlock(&table->s->LOCK_share);
  return claimed;
}

/// The server's context of an opening, which takes its patience from the THD's variable.
Open_table_context context_with_patience(THD* thd, ulong patience_s) {
  const ulong before_s = std::exchange(thd->variables.lock_wait_timeout, patience_s);
  Open_table_context context(thd, 0);
  thd->variables.lock_wait_timeout = before_s;
  return context;
}

bool claim_table(const TABLE* table) {
  mysql_mutex_lock(&table->s->LOCK_share);
  const bool is_ours = !std::exchange(table->s->vers_skip_auto_create, true);
  mysql_mutex_unlock(&table->s->LOCK_share);
  return is_ours;
}

}  // namespace

bool keeps_history_in_steps(const TABLE* table) {
  const partition_info* const partitions = table->part_info;
  return partitions != nullptr && partitions->part_type == VERSIONING_PARTITION &&
         (partitions->vers_info->limit > 0 || partitions->vers_info->interval.is_set());
}

void put_off_new_partitions(THD* thd, TABLE_LIST* first) {
  for (TABLE_LIST* list = first; list != nullptr; list = list->next_global) {
    list->vers_skip_create = thd->query_id;
  }
}

bool needs_new_partition(THD* thd, TABLE_LIST* first) {
  for (const TABLE_LIST* list = first; list != nullptr; list = list->next_global) {
    if (missing_partitions(thd, list) > 0 && !is_claimed(list->table)) {
      return true;
    }
  }
  return false;
}

void FixedPartitions::fix(TABLE_LIST* first) {
  size_t count = 0;
  for (const TABLE_LIST* list = first; list != nullptr; list = list->next_global) {
    ++count;
  }
  fixed_.reserve(count);
  for (TABLE_LIST* list = first; list != nullptr; list = list->next_global) {
    const TABLE* const table = list->table;
    if (table != nullptr && keeps_history_in_steps(table) && table->part_info->vers_info->auto_hist) {
      fixed_.push_back(table->part_info->vers_info);
      table->part_info->vers_info->auto_hist = false;
    }
  }
}

void FixedPartitions::release() {
  for (Vers_part_info* const info : fixed_) {
    info->auto_hist = true;
  }
  fixed_.clear();
}

NewPartitions::NewPartitions(THD* thd, ulong patience_s)
    : thd_(thd), context_(context_with_patience(thd, patience_s)) {}

bool NewPartitions::claim(TABLE_LIST* first) {
  for (TABLE_LIST* list = first; list != nullptr; list = list->next_global) {
    const uint count = missing_partitions(thd_, list);
    if (count > 0 && claim_table(list->table)) {
      context_.vers_create_count = count;
      return !context_.request_backoff_action(Open_table_context::OT_ADD_HISTORY_PARTITION, list);
    }
  }
  return false;
}

/// Nothing of the ALTER goes to the binlog. The server notes all the same that the transaction must be
/// written there, even when it is rolled back. In SQL the statement that follows mostly ends the transaction.
bool NewPartitions::add() {
  constexpr ulonglong notes = OPTION_BINLOG_THIS;
  ulonglong& bits = thd_->variables.option_bits;
  const ulonglong before = bits & notes;
  const bool failed = context_.recover_from_failed_open();
  bits = (bits & ~notes) | before;
  return !failed;
}

}  // namespace rowsocket::mariadb
