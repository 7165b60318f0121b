// SPDX-License-Identifier: GPL-2.0-only
//
// What takes long: requests that wait for locks or are tried again, and threads that stand in for them.
#pragma once

#include <cstdint>

namespace rowsocket::limits {

// ---- a request that waits, or is tried again

/// How soon a request that waits for a lock is tried again. It is what epoll can wait for at least.
inline constexpr uint32_t parked_retry_us = 1000;
/// ... at first. It is tried the less often the longer it waits: when this part of its waiting time is over
/// again ...
inline constexpr uint32_t parked_retry_share = 8;
/// ... and at least so often.
inline constexpr uint32_t parked_retry_ms_max = 50;
/// A request that has been tried for so long waits on a thread of its own, in the server's queue. A shorter
/// wait ends with the commit of another turn, and the tries of one turn have one commit.
inline constexpr uint32_t waiting_room_after_ms = 20;
/// A request that waits in place for a table gives back what it holds after so long, and tries again:
/// another session may wait for that. The shortest that the server's time-out can say.
inline constexpr uint32_t table_wait_ms = 1000;
/// So many requests of a worker wait like that at a time. Not measured.
inline constexpr uint32_t waiting_room_places = 10;
/// ... and of one account. The rest is for the others, whatever locks that one waits for. Not measured.
inline constexpr uint32_t waiting_room_places_of_account = 8;
/// How often again for a request that loses its own transaction, too. A deadlock seldom comes twice, and each
/// try holds up the worker. Not measured.
inline constexpr uint32_t replay_retries = 3;

/// A request that loses its transaction that often is tried in later turns, for so long. Deadlocks under load
/// are over by then; a conflict that is not will not be. Not measured.
inline constexpr uint32_t conflict_ms = 2000;
/// The same as replay_retries, on a thread of the request's own, where it holds up no other. Not measured.
inline constexpr uint32_t patient_replay_retries = 100;

/// How often workers are looked at for requests that take long. A request that takes a slice is long: other
/// clients notice a millisecond.
inline constexpr uint32_t tick_ms = 1;
/// Where so many ticks in a row found no request under way, workers are looked at less often.
inline constexpr uint32_t idle_ticks = 500;
inline constexpr uint32_t idle_tick_ms = 20;
/// Where so many did, and all workers wait for clients, only a worker that goes on ends the sleep: it should
/// cost an idle server nothing that can be seen. The second is how long it sleeps even so.
inline constexpr uint32_t resting_ticks = idle_ticks + 25;
inline constexpr uint32_t resting_tick_ms = 60'000;
/// After such a sleep so many ticks come soon: it takes two to see that a request takes long.
inline constexpr uint32_t ticks_after_ring = 3;
/// A thread that was not needed for so long ends, and then one more each time this is over. Not measured.
inline constexpr uint32_t stand_in_idle_ms = 3000;
inline constexpr uint32_t stand_in_ends_ms = 200;
/// Where the server refuses a thread's session, when the next one is tried, and when the log says it again.
inline constexpr uint32_t stand_in_retry_ms = 1000;
inline constexpr uint32_t stand_in_complaint_ms = 60'000;
/// Processor time of a request before a stand-in takes over. Below a tick, so that two ticks see it.
inline constexpr uint32_t slice_us = 700;
/// While another thread of the worker commits, writes wait for so long, and share one commit then.
inline constexpr uint32_t behind_commit_ms = 20;
/// So many ticks see the same commit before a stand-in comes, where nobody reads: writes wait for it anyway.
inline constexpr uint32_t unhurried_ticks = 10;
/// Who read so long ago is expected to read again. Not measured.
inline constexpr uint32_t readers_stay_ms = 20;
/// Of a worker: where so many threads commit, writes wait until one of them is through.
inline constexpr uint32_t commits_beside_max = 4;
/// A walk from which a stand-in has taken the loop is given up after so much time, if the turn has changed
/// something before it: the replies to others, and the rows that they have locked, wait for its end.
inline constexpr uint32_t kept_waiting_us = 10'000;
/// A write that takes so long by itself, while another thread goes on with the loop, is a long one: a few
/// commits where a disk is fast. With one of less beside 16 writers of the same table, commits for each made
/// the writers two to three times slower.
inline constexpr uint32_t long_write_us_min = 4'000;
/// The same where none does. A busy machine explains less than that: others have had the processor.
inline constexpr uint32_t long_write_us_min_unseen = 100'000;
/// The writes behind it have commits before them, until these have taken as long; but no longer than this. A
/// machine that has stood still looks like a write that takes long.
inline constexpr uint32_t commits_behind_us_max = 1'000'000;
/// A commit that changes something counts for so much at least: they cost others more than they take. Not
/// measured.
inline constexpr uint32_t long_write_us_per_commit = 1'000;
/// Any commit counts for so much at least, so that it ends.
inline constexpr uint32_t commit_behind_us_min = 10;

/// Where no thread is free for a request, it begins again later, and each time it has twice the time: so many
/// times. A request of five milliseconds so comes to its end even then, and no turn takes much longer.
inline constexpr uint32_t slices_doubled_max = 3;

// A walk that a stand-in has replaced leaves the processors to others (server/pacing.h).

/// It runs at least so long before it rests: longer than what a rest costs, and shorter than what people see.
inline constexpr uint32_t walk_burst_us = 4000;
/// Its first burst is so long, and each further one twice as long as the one before: else many walks that are
/// new would take all processors.
inline constexpr uint32_t walk_burst_us_first = 500;
/// It rests if the thread of its loop waited for a processor for this part of the time ...
inline constexpr uint32_t walk_waited_share = 10;
/// ... or, where it is new, if another walk saw that so lately ...
inline constexpr uint32_t walk_waits_us = 20'000;
/// ... until all walks together have this part of the processors: the others then have more than half ...
inline constexpr uint32_t walks_share = 3;
/// ... It rests in parts that are no longer than this: between them it looks for its client.
inline constexpr uint32_t walk_rest_us_max = 50'000;
/// What a request owes in the end that could not rest is no longer than this: its client waits meanwhile.
inline constexpr uint32_t owed_rest_us_max = 1'000'000;

// ---- one session in MariaDB: how long it waits in place. A stand-in takes its worker meanwhile; without
// stand-ins all clients of the worker wait with it.

/// Without stand-ins: after a row was kept for a second, no client waits for rows in place for so long. So a
/// row that stays locked costs the worker's other clients one second in six (decision 0004). Not measured.
inline constexpr uint32_t impatience_ms = 5000;
/// For tables, after the cluster aborted a transaction. The DDL that mostly was the reason runs in total
/// order and is waited for by the whole cluster. Not measured.
inline constexpr uint32_t cluster_replay_patience_s = 10;
/// For a table that needs a new partition for its history. The shortest that the server's time-out can say.
inline constexpr uint32_t new_history_patience_s = 1;
/// So many times a table is opened whose triggers an interrupted session has left behind as malformed. Each
/// time one copy of the table leaves the server's cache. Not measured.
inline constexpr uint32_t malformed_triggers_tries = 4;
/// If that took longer than half of it, a client keeps the table in use ...
inline constexpr uint32_t new_history_long_ms = 500;
/// ... and no new partition is tried for so long: one second in six, as with rows. Not measured.
inline constexpr uint32_t new_history_pause_ms = 5000;
/// At shutdown: what a session has before it is interrupted. Most turns are over long before. Not measured.
inline constexpr uint32_t last_turn_ms = 300;
/// How often the variables of other plugins are looked at. It is done under a lock of the server, which not
/// every turn should take.
inline constexpr uint32_t plugin_variables_interval_us = 100'000;
/// Names of tables remembered before those not in use are dropped. Below it their memory is not worth a look
/// at all of them.
inline constexpr uint32_t names_cleared_min = 256;
/// One of so many statements renews tables whose expressions take memory with each statement. A prime, so
/// that tables that take turns all come by.
inline constexpr uint32_t statements_per_renewal = 251;
/// The same for packages whose variables have the types of columns: they take memory each time, but to parse
/// them is dear. Not measured.
inline constexpr uint32_t statements_per_package_renewal = 61;
/// Tables whose triggers call routines, which are remembered. Where they are more, all are forgotten, and
/// their routines are parsed anew.
inline constexpr uint32_t tables_of_routines_max = 10'000;
/// Parents of foreign keys whose children are remembered. Where more are written to, those are forgotten that
/// nobody has written to since as many others were.
inline constexpr uint32_t foreign_parents_max = 50'000;
/// How often it is looked whether another session waits for what a guest of the waiting room holds. Each look
/// passes over all metadata locks of the server. Not measured.
inline constexpr uint32_t give_way_ms = 200;

}  // namespace rowsocket::limits
