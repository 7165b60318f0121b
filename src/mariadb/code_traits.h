// SPDX-License-Identifier: GPL-2.0-only
//
// What the text of a trigger or stored routine says about how its requests are to run.
#pragma once

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

struct CodeTraits {
  /// It names this variable, and can not be served; nullptr = it names none. A trigger that switches
  /// unique_checks off has its rows kept in a buffer by InnoDB (see `ServerThread::take_over_settings`). The
  /// setting lasts as long as the trigger runs. In a transaction of several statements the rows are lost
  /// then, in SQL, too. Those of a bulk load come into the table when the session ends: ours does not.
  const char* refused = nullptr;
  /// It names SAVEPOINT, or a variable of RocksDB. Behind a savepoint, InnoDB undoes a statement only to
  /// there, and RocksDB can not go back to one beside other changes. Variables let RocksDB commit within a
  /// statement, or log nothing.
  bool savepoints = false;
  /// It names OUTFILE or DUMPFILE: no rollback takes a file back, and a file is not written twice.
  bool files = false;

  void add(const CodeTraits& other) {
    refused = refused != nullptr ? refused : other.refused;
    savepoints |= other.savepoints;
    files |= other.files;
  }
};

/// Of a trigger or routine, and the package that it is of. A comment counts as code. (SQL in a string is not
/// to be had in triggers and functions.) Throws std::bad_alloc.
[[nodiscard]] CodeTraits traits_of(sp_head& code);

}  // namespace rowsocket::mariadb
