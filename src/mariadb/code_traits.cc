// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "mariadb/code_traits.h"

namespace rowsocket::mariadb {

CodeTraits traits_of(const sp_head& code) {
  std::string text(code.m_body.str, code.m_body.length);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char letter) { return my_tolower(&my_charset_latin1, letter); });
  // memmem: each write with triggers opens its tables, and so comes here.
  const auto names = [&text](std::string_view word) {
    return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
  };
  CodeTraits traits{.savepoints = names("savepoint") || names("rocksdb_"),
                    .files = names("outfile") || names("dumpfile")};
  for (const char* variable : {"unique_checks", "rocksdb_bulk_load"}) {
    if (names(variable)) {
      traits.refused = variable;
    }
  }
  if (code.m_parent != nullptr) {
    traits.add(traits_of(*code.m_parent));
  }
  return traits;
}

}  // namespace rowsocket::mariadb
