// SPDX-License-Identifier: GPL-2.0-only
//
// What the series of MariaDB say in different ways: 10.11, and 11.8. The other files of this folder know no
// versions.
#pragma once

#include <cstring>
#include <string>

#include "mariadb/server_headers.h"
// The server's headers come first.
#include <mysys_err.h>

#include "sql_acl.h"
#include "sql_connect.h"

namespace rowsocket::mariadb {

inline LEX_CSTRING lex_string(const std::string& text) { return {text.c_str(), text.size()}; }

/// Memory of the statement. Null where there is none.
inline uchar* allocate_bytes(THD* thd, size_t byte_count) {
  void* const bytes = thd->alloc(byte_count);
  return static_cast<uchar*>(bytes);
}

#if MYSQL_VERSION_ID < 110800

/// From here on RocksDB numbers its errors; HA_ERR_ROCKSDB_FIRST is in no header that is installed.
inline constexpr int rocksdb_errors_begin = HA_ERR_LAST;

/// Of an ENUM or SET.
inline const TYPELIB* members_of(const Field* field) { return field->get_typelib(); }

inline bool is_spatial(const KEY& key) { return (key.flags & HA_SPATIAL) != 0; }
inline bool is_fulltext(const KEY& key) { return (key.flags & HA_FULLTEXT) != 0; }

/// Of a stored routine or package.
inline Database_qualified_name qualified_name(const MDL_key& key) {
  return {LEX_CSTRING{key.db_name(), key.db_name_length()}, LEX_CSTRING{key.name(), key.name_length()}};
}

/// An index that is no list of rows in an order.
inline bool has_no_order(const KEY& key) {
  return key.algorithm == HA_KEY_ALG_FULLTEXT || key.algorithm == HA_KEY_ALG_RTREE ||
         key.algorithm == HA_KEY_ALG_LONG_HASH || (key.flags & (HA_FULLTEXT | HA_SPATIAL)) != 0;
}

/// An index that is a table of its own, and of which only the SQL layer knows.
inline bool has_vector_index(const TABLE*) { return false; }

inline bool is_invalid_table_name(const std::string& name) {
  return check_table_name(name.c_str(), name.size(), false) != 0;
}

/// Of the rows that the handler was told to write, change or delete.
inline ulonglong rows_changed(const handler* file) { return file->rows_changed; }

inline int prepare_lookups_of_duplicates(TABLE* table) { return table->file->prepare_for_insert(true); }

/// When FLUSH STATUS set the counters of all sessions to 0, or the server began.
inline time_t time_of_flush_status_s() { return flush_status_time; }

/// A session, or all of them, would have more on the disk than they may. No such bound is known.
inline constexpr bool is_about_temporary_space(int) { return false; }

/// AFTER UPDATE triggers, where an upsert meets a row that has the values already.
inline constexpr bool upserts_run_triggers_after_same_rows = true;

/// The columns that an update names. No trigger asks.
class NamedColumns {
 public:
  NamedColumns(THD*, TABLE*) {}
  [[nodiscard]] static bool ok() { return true; }
};

/// True if it failed. `skips` tells that the row is to be left as it is. `named` is of an update.
inline bool run_table_triggers(THD* thd, TABLE* table, trg_event_type event, trg_action_time_type time,
                               bool old_row_is_second, bool& skips, NamedColumns*) {
  skips = false;
  return table->triggers->process_triggers(thd, event, time, old_row_is_second);
}

/// After `plugin_thdvar_init`, under the same lock.
inline void take_over_default_connection(THD* thd) {
  strmake(thd->default_master_connection_buff, global_system_variables.default_master_connection.str,
          thd->variables.default_master_connection.length);
  thd->variables.default_master_connection.str = thd->default_master_connection_buff;
}

/// True if there is no such account.
inline bool take_privileges(Security_context& context, const std::string& user, const char* host,
                            const char* ip) {
  return acl_getroot(&context, user.c_str(), host, ip, "");
}

/// Exactly this one.
inline bool is_account(const std::string& user, const std::string& host) {
  return is_acl_user(host.c_str(), user.c_str());
}

/// Of the account that the THD acts as, without a role. True if the server finds none.
inline bool look_up_global_privileges(THD* thd, privilege_t& access) {
  return acl_check_setrole(thd, "NONE", &access) != 0;
}

/// True if the role is not granted.
inline bool take_role_of_account(THD* thd, const std::string& role) {
  privilege_t access(NO_ACL);
  if (acl_check_setrole(thd, role.c_str(), &access) != 0) {
    return true;
  }
  acl_setrole(thd, role.c_str(), access);
  return false;
}

inline privilege_t column_privileges(THD* thd, GRANT_INFO& grant, const std::string& database,
                                     const std::string& table, const Field* field) {
  return get_column_grant(thd, &grant, database.c_str(), table.c_str(), field->field_name.str);
}

inline ulonglong slow_after_us(const system_variables& variables) { return variables.long_query_time; }

/// SESSION_USER() is USER().
inline void set_session_user(THD*, const char*, const char*) {}

/// A table with history whose current rows end at another time than this server's do.
inline bool is_of_older_versioning(const TABLE*) { return false; }

/// Between two statements on a table that stays open.
inline void forget_online_alter(TABLE*) {}

/// ALTER TABLE may copy a table while others write to it: then it is told what they did.
inline constexpr bool alters_collect_changes = false;
/// What the statement under way does in the table is collected for such an ALTER.
inline bool is_collected_for_alter(const TABLE*) { return false; }

inline void add_examined_rows(THD* thd, ha_rows count) { thd->inc_examined_row_count(count); }

#else

inline constexpr int rocksdb_errors_begin = 500;

inline bool is_spatial(const KEY& key) { return key.algorithm == HA_KEY_ALG_RTREE; }
inline bool is_fulltext(const KEY& key) { return key.algorithm == HA_KEY_ALG_FULLTEXT; }

inline Database_qualified_name qualified_name(const MDL_key& key) {
  return {Lex_ident_db(LEX_CSTRING{key.db_name(), key.db_name_length()}),
          LEX_CSTRING{key.name(), key.name_length()}};
}

inline bool has_no_order(const KEY& key) {
  return key.algorithm == HA_KEY_ALG_FULLTEXT || key.algorithm == HA_KEY_ALG_RTREE ||
         key.algorithm == HA_KEY_ALG_LONG_HASH || key.algorithm == HA_KEY_ALG_VECTOR;
}

inline bool has_vector_index(const TABLE* table) { return table->s->hlindexes() > 0; }

inline bool is_invalid_table_name(const std::string& name) {
  return Lex_ident_table::check_name(lex_string(name), false);
}

inline const TYPELIB* members_of(const Field* field) {
  return static_cast<const Field_enum*>(field)->typelib();
}

inline ulonglong rows_changed(const handler* file) {
  return file->rows_stats.inserted + file->rows_stats.updated + file->rows_stats.deleted;
}

inline int prepare_lookups_of_duplicates(TABLE* table) { return table->file->prepare_for_modify(true, true); }

inline time_t time_of_flush_status_s() { return global_status_var.flush_status_time; }

/// What SESSION_USER() says.
inline void set_session_user(THD* thd, const char* user, const char* host) {
  strmake_buf(thd->main_security_ctx.priv_user, user);
  strmake_buf(thd->main_security_ctx.priv_host, host);
}

inline constexpr bool upserts_run_triggers_after_same_rows = false;

/// A session, or all of them, would have more on the disk than they may (max_tmp_session_space_usage).
inline constexpr bool is_about_temporary_space(int error_number) {
  return error_number == EE_LOCAL_TMP_SPACE_FULL || error_number == EE_GLOBAL_TMP_SPACE_FULL;
}

/// The columns that an update names, where a trigger of the table asks for some (UPDATE OF). Made before any
/// trigger runs, since triggers give values, too.
class NamedColumns {
 public:
  NamedColumns(THD* thd, TABLE* table) : arena_(&root_, Query_arena::STMT_CONVENTIONAL_EXECUTION) {
    if (!asks_for_columns(table)) [[likely]] {
      return;
    }
    init_alloc_root(PSI_NOT_INSTRUMENTED, &root_, 1024, 0, MYF(0));
    is_made_ = true;
    Query_arena backup;
    thd->set_n_backup_active_arena(&arena_, &backup);
    for (Field** field = table->field; *field != nullptr && ok_; ++field) {
      ok_ = !(*field)->has_explicit_value() || add(thd, table, *field);
    }
    thd->restore_active_arena(&arena_, &backup);
  }
  ~NamedColumns() {
    if (is_made_) [[unlikely]] {
      arena_.free_items();
      free_root(&root_, MYF(0));
    }
  }
  NamedColumns(const NamedColumns&) = delete;
  NamedColumns& operator=(const NamedColumns&) = delete;

  /// Else memory was refused.
  [[nodiscard]] bool ok() const { return ok_; }
  /// nullptr = no trigger asks.
  [[nodiscard]] List<Item>* list() { return is_made_ ? &fields_ : nullptr; }

 private:
  template <typename Matches>
  [[nodiscard]] static bool any_asked_for(TABLE* table, const Matches& matches) {
    for (const trg_action_time_type time : {TRG_ACTION_BEFORE, TRG_ACTION_AFTER}) {
      for (Trigger* one = table->triggers->get_trigger(TRG_EVENT_UPDATE, time); one != nullptr;
           one = one->next) {
        if (one->updatable_columns == nullptr) {
          continue;
        }
        List_iterator_fast<LEX_CSTRING> names(*one->updatable_columns);
        while (const LEX_CSTRING* const name = names++) {
          if (matches(*name)) {
            return true;
          }
        }
      }
    }
    return false;
  }
  [[nodiscard]] static bool asks_for_columns(TABLE* table) {
    return table->triggers != nullptr && any_asked_for(table, [](const LEX_CSTRING&) { return true; });
  }
  /// The server looks at the first one of the list only (seen on 11.8.6): so one that is asked for stands
  /// first.
  [[nodiscard]] bool add(THD* thd, TABLE* table, Field* field) {
    auto* const item = new (thd->mem_root) Item_field(thd, field);
    const auto is_field = [field](const LEX_CSTRING& name) { return field->field_name.streq(name); };
    return item != nullptr && !(any_asked_for(table, is_field) ? fields_.push_front(item, thd->mem_root)
                                                               : fields_.push_back(item, thd->mem_root));
  }

  MEM_ROOT root_;
  Query_arena arena_;
  List<Item> fields_;
  bool is_made_ = false;
  bool ok_ = true;
};

inline bool run_table_triggers(THD* thd, TABLE* table, trg_event_type event, trg_action_time_type time,
                               bool old_row_is_second, bool& skips, NamedColumns* named) {
  skips = false;
  bool* const may_skip = time == TRG_ACTION_BEFORE ? &skips : nullptr;
  List<Item>* const fields = named != nullptr ? named->list() : nullptr;
  return table->triggers->process_triggers(thd, event, time, old_row_is_second, may_skip, fields);
}

/// `plugin_thdvar_init` has done it.
inline void take_over_default_connection(THD*) {}

inline bool take_privileges(Security_context& context, const std::string& user, const char* host,
                            const char* ip) {
  return acl_getroot(&context, lex_string(user), {host, std::strlen(host)}, {ip, std::strlen(ip)},
                     LEX_CSTRING{"", 0});
}

inline bool is_account(const std::string& user, const std::string& host) {
  return is_acl_user(lex_string(host), lex_string(user));
}

inline bool look_up_global_privileges(THD* thd, privilege_t& access) {
  return acl_check_setrole(thd, LEX_CSTRING{STRING_WITH_LEN("NONE")}, &access) != 0;
}

inline bool take_role_of_account(THD* thd, const std::string& role) {
  privilege_t access(NO_ACL);
  if (acl_check_setrole(thd, lex_string(role), &access) != 0) {
    return true;
  }
  acl_setrole(thd, lex_string(role), access);
  return false;
}

inline privilege_t column_privileges(THD* thd, GRANT_INFO& grant, const std::string& database,
                                     const std::string& table, const Field* field) {
  return get_column_grant(thd, &grant, database.c_str(), table.c_str(), field->field_name);
}

inline ulonglong slow_after_us(const system_variables& variables) { return variables.log_slow_query_time; }

/// A table with history whose current rows end at another time than this server's do (in 2038).
inline bool is_of_older_versioning(const TABLE* table) {
  return table->file->check_versioned_compatibility() != 0;
}

/// Between two statements on a table that stays open. While an ALTER goes on online, a table points at what
/// its transaction collects for it. That is freed with the transaction; the server resets the pointer only
/// where it opens a table.
inline void forget_online_alter(TABLE* table) { table->online_alter_cache = nullptr; }

/// ALTER TABLE may copy a table while others write to it: then it is told what they did.
inline constexpr bool alters_collect_changes = true;
/// What the statement under way does in the table is collected for such an ALTER.
inline bool is_collected_for_alter(const TABLE* table) { return table->online_alter_cache != nullptr; }

inline void add_examined_rows(THD* thd, ha_rows count) { thd->inc_examined_row_count_fast(count); }

#endif

}  // namespace rowsocket::mariadb
