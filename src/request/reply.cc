// SPDX-License-Identifier: GPL-2.0-only
#include "request/reply.h"

#include "base/invariant.h"

namespace rowsocket {

void Reply::unexpected() {
  if (!invariant(false, "a reply is told only what its kind of request can come to")) {
    out_->fail();  // costs the connection
  }
}

void Reply::done() { unexpected(); }
void Reply::opened(std::span<const std::string_view>) { unexpected(); }
void Reply::begin_rows(size_t) { unexpected(); }
void Reply::key_shape(uint64_t) { unexpected(); }
void Reply::row_begins(size_t) {}
void Reply::row_ends() {}
void Reply::missed(size_t) {}
void Reply::end_rows() { unexpected(); }
void Reply::counted(uint64_t) { unexpected(); }
void Reply::changed(const Changes&) { unexpected(); }
void Reply::begin_outcomes() { unexpected(); }
void Reply::inserted(const RowOutcome&) { unexpected(); }
void Reply::end_outcomes() { unexpected(); }
void Reply::group_begins() { unexpected(); }
void Reply::group_ends() { unexpected(); }
void Reply::group_failed(size_t, const Error&) { unexpected(); }
void Reply::committed(Buffer&, std::string_view) { unexpected(); }
void Reply::count() { unexpected(); }

}  // namespace rowsocket
