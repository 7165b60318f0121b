// SPDX-License-Identifier: GPL-2.0-only
//
// Threads inside the server's process. Signals are the server's, so each of our threads blocks all signals,
// from its first instruction.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace rowsocket::server {

/// Run `body` on a new thread called `name` (at most 15 bytes). `body` must not throw.
[[nodiscard]] bool start_thread(std::thread& thread, const std::string& name, std::function<void()> body,
                                std::string& failure);

/// True on a thread that `start_thread` has started.
[[nodiscard]] bool is_own_thread();

}  // namespace rowsocket::server
