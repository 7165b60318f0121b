// SPDX-License-Identifier: GPL-2.0-only
//
// Logins of clients: threads, guesses, and what is remembered of them.
#pragma once

#include <cstdint>

namespace rowsocket::limits {

// ---- logins
/// Threads that log clients in. Each can wait for long: for a name server, or for a PAM module. Some of them
/// are never busy with clients that the server has no reason to trust (login_queue.h). Not measured.
inline constexpr uint32_t login_threads = 8;
inline constexpr uint32_t login_threads_for_unproven = 6;
inline constexpr uint32_t login_threads_for_strange = 4;
/// Logins of others that may come before those of a lane, while it waits.
inline constexpr uint32_t login_lane_passed_over_max = 8;
/// Guesses at one account from one address: so many at once, and then one per interval.
inline constexpr uint32_t guesses_at_once = 5;
inline constexpr uint32_t guess_interval_ms = 1000;
/// The same at all accounts from one address. An application that has one wrong password, and tries on, does
/// not slow down the others of its host.
inline constexpr uint32_t party_guesses_at_once = 20;
inline constexpr uint32_t party_guess_interval_ms = 250;
/// The same over all addresses together.
inline constexpr uint32_t all_guesses_at_once = 200;
inline constexpr uint32_t all_guess_interval_ms = 20;
/// After a wrong guess for it, an account's logins from other addresses stand behind those of other accounts.
inline constexpr uint32_t account_suspected_ms = 10'000;
/// Logins of one address for one account that wait while it has guessed too often; others are refused
/// untried.
inline constexpr uint32_t slowed_logins_waiting_max = 16;
/// A login that has waited for so long is refused untried: no login waits for ever, and a slowed party's last
/// one is tried before. They are looked for at this interval.
inline constexpr uint32_t login_wait_ms = 20'000;
inline constexpr uint32_t login_overdue_interval_ms = 1000;
/// What is remembered: accounts as claimed from an address, in all and of one address (so many that were
/// right, and so many others); accounts that a client has logged in with. How often there may be a look at
/// all of them. Not measured.
inline constexpr uint32_t login_claims_max = 16'384;
inline constexpr uint32_t login_claims_per_party_max = 256;
inline constexpr uint32_t login_accounts_max = 4096;
inline constexpr uint32_t login_forget_interval_ms = 100;
/// What an account can have, and more than any client sends. Tickets of Kerberos are the longest passwords:
/// up to 12,000 bytes, in base64.
inline constexpr uint32_t login_user_bytes_max = 384;
inline constexpr uint32_t login_password_bytes_max = 16 * 1024;
/// What the plugins of an account may ask of a client, one question behind the other.
inline constexpr uint32_t login_questions_max = 16;
/// How often an account may double the 1,024 rounds that make a key of a password (parsec). So many take
/// about a second.
inline constexpr uint32_t login_round_doublings_max = 10;

}  // namespace rowsocket::limits
