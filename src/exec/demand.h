// SPDX-License-Identifier: GPL-2.0-only
//
// What a find or an insert does with the columns of its selection, in the words of engine::Demand. The engine
// compares that with what the account of the client may do. Pure.
#pragma once

#include "engine/engine.h"
#include "request/request.h"

namespace rowsocket::exec {

[[nodiscard]] engine::Demand demand_of(const Request& request);

}  // namespace rowsocket::exec
