// SPDX-License-Identifier: GPL-2.0-only
//
// The server's private headers, in the order that they need. Included first by every file of this folder, and
// by nothing outside it. What differs between server versions is in server_differences.h.
#pragma once

#include <my_global.h>
// my_global.h comes first.
#include <mysql/plugin.h>
#include <mysql_version.h>
#include <mysqld_error.h>

#include "sql_class.h"
//
#include "key.h"
#include "lock.h"
#include "log.h"
#include "scheduler.h"
#include "set_var.h"
#include "sp_cache.h"
#include "sp_head.h"
#include "sp_rcontext.h"
#include "sql_audit.h"
#include "sql_base.h"
#include "sql_cache.h"
#include "sql_db.h"
#include "sql_insert.h"
#include "sql_lex.h"
#include "sql_partition.h"
#include "sql_show.h"
#include "sql_trigger.h"
#include "sql_type.h"
#include "sql_update.h"
#include "sys_vars_shared.h"
#include "table.h"
#include "table_cache.h"
#include "transaction.h"
#include "tztime.h"
