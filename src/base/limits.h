// SPDX-License-Identifier: GPL-2.0-only
//
// The limits of RowSocket, with the relations between them checked at compile time (invariant 3: everything
// is bounded). Each file has those of one thing. The `*_default` ones are system variables (rowsocket_*); the
// others are fixed.
//
// A limit whose value has a reason says the reason. "Not measured" means: the order of magnitude is meant,
// and no other value was tried.
#pragma once

#include "base/limits/connection.h"
#include "base/limits/logins.h"
#include "base/limits/protocols.h"
#include "base/limits/request.h"
#include "base/limits/server.h"
#include "base/limits/turn.h"
#include "base/limits/units.h"
#include "base/limits/waiting.h"
