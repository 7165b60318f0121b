// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "mariadb/code_traits.h"

namespace rowsocket::mariadb {

namespace {

/// What the text of an sp_head says, in those of its flags that the server leaves alone. Each write with
/// triggers opens its tables, and asks anew; what is kept in the object goes with it. Nobody else uses the
/// object: it is in the session's cache of routines, or belongs to a table that the session has open.
enum Flag : uint {
  is_read = 1U << 31,
  has_savepoints = 1U << 30,
  has_files = 1U << 29,
  has_unique_checks = 1U << 28,
  has_bulk_load = 1U << 27
};

uint flags_of(std::string_view body) {
  std::string text(body);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char letter) { return my_tolower(&my_charset_latin1, letter); });
  const auto names = [&text](std::string_view word) {
    return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
  };
  uint flags = is_read;
  flags |= names("savepoint") || names("rocksdb_") ? has_savepoints : 0U;
  flags |= names("outfile") || names("dumpfile") ? has_files : 0U;
  flags |= names("unique_checks") ? has_unique_checks : 0U;
  flags |= names("rocksdb_bulk_load") ? has_bulk_load : 0U;
  return flags;
}

}  // namespace

CodeTraits traits_of(sp_head& code) {
  if ((code.m_flags & is_read) == 0) {
    code.m_flags |= flags_of({code.m_body.str, code.m_body.length});
  }
  CodeTraits traits{.savepoints = (code.m_flags & has_savepoints) != 0,
                    .files = (code.m_flags & has_files) != 0};
  if ((code.m_flags & has_unique_checks) != 0) {
    traits.refused = "unique_checks";
  } else if ((code.m_flags & has_bulk_load) != 0) {
    traits.refused = "rocksdb_bulk_load";
  }
  if (code.m_parent != nullptr) {
    traits.add(traits_of(*code.m_parent));
  }
  return traits;
}

}  // namespace rowsocket::mariadb
