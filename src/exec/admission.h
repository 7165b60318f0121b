// SPDX-License-Identifier: GPL-2.0-only
//
// What a request must pass before the engine hears of it. Pure functions over the request, the client and the policy. The order
// of the checks is part of the protocol's contract: who may not know a thing is not told whether it exists.
#pragma once

#include "exec/executor.h"

namespace rowsocket::exec {

/// Whether the client may do what a find or an insert asks, on the index that it names.
[[nodiscard]] ErrorCode check_access(const Client& client, const Request& request);
/// Check a find or an insert against the index that it is to run on.
[[nodiscard]] ErrorCode check_against(const engine::Index& index, const Request& request);

/// Check an open_index.
[[nodiscard]] ErrorCode check_open_index(const Client& client, const Request& request, const Policy& policy);

/// Check an authentication and grant what its secret is good for. A wrong secret takes back what an earlier one granted.
[[nodiscard]] ErrorCode authenticate(Client& client, const Request& request, const Policy& policy);

/// One line for people about an error that is decided here; empty where the code says it all.
[[nodiscard]] std::string_view explanation(ErrorCode code);

}  // namespace rowsocket::exec
