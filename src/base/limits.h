// SPDX-License-Identifier: GPL-2.0-only
//
// Every limit of RowSocket, with the relations between them checked at compile time (invariant 3: everything
// is bounded). The `*_default` ones are system variables (rowsocket_*); the others are fixed.
//
// A limit whose value has a reason says the reason. "Not measured" means: the order of magnitude is meant,
// and no other value was tried.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rowsocket::limits {

inline constexpr size_t kibibyte = 1024;
inline constexpr size_t mebibyte = 1024 * kibibyte;

// ---- one request

/// rowsocket_max_line_bytes. 16 MiB is what the server takes as max_allowed_packet by default, so a value
/// that SQL could send fits.
inline constexpr size_t line_bytes_default = 16 * mebibyte;
inline constexpr size_t line_bytes_min = 4 * kibibyte;
inline constexpr size_t line_bytes_max = 1024 * mebibyte;  ///< what max_allowed_packet may be at most
/// Values of one insert, update or key. No table of the server has more columns.
inline constexpr uint32_t value_count_max = 4096;
inline constexpr uint32_t in_list_default = 10'000;  ///< rowsocket_max_in_values; not measured
inline constexpr uint32_t in_list_max = 1'000'000;
/// Values of all kinds of one request, or of all requests of one group. Without it a line of separators, each
/// of which is an empty value of 16 bytes, could ask for sixteen times its size in every clause. The next
/// power of two beyond the longest list of keys.
inline constexpr size_t request_values_max = 1'048'576;
inline constexpr uint32_t filter_count_max = 256;  ///< not measured
/// rowsocket_max_rows_examined: most of a minute, where all rows are in memory. Not measured.
inline constexpr uint64_t rows_examined_default = 100'000'000;
inline constexpr uint64_t rows_examined_max = 1'000'000'000'000;
/// rowsocket_max_request_ms. Longer than any read that a client waits for with ordinary time-outs.
inline constexpr uint64_t request_ms_default = 300'000;
inline constexpr uint64_t request_ms_max = 31'536'000'000;
/// How often a walk looks at the clock: so seldom that rows are not slower for it.
inline constexpr uint32_t rows_per_question = 64;
/// How often a walk, or a request that waits for a lock, looks whether its client is still there.
inline constexpr uint32_t presence_ms = 20;
/// rowsocket_max_indexes: ids of a connection are below this. The list of ids grows with the largest, and is
/// counted as held memory. Not measured.
inline constexpr uint32_t index_id_default = 4096;
inline constexpr uint32_t index_id_max = 1'000'000;
/// Rows of one insert. As many as a transaction changes before it is committed.
inline constexpr uint32_t insert_rows_max = 10'000;
/// Requests of one group that is done. As many as one connection may ask in a turn.
inline constexpr uint32_t group_requests_max = 1024;
/// Requests of one group that is answered line by line, be it with errors. Not measured.
inline constexpr uint32_t group_lines_max = 16'384;
/// Column lists of single requests that an opened index remembers. They are looked for one by one with each
/// such request, so the list is short. Not measured.
inline constexpr uint32_t column_lists_per_index = 8;
/// Selections that requests name in full, and a connection remembers. Looked for one by one, too. Not
/// measured.
inline constexpr uint32_t selections_per_client = 16;
/// Database, table, index and column names: 64 characters of 4 bytes.
inline constexpr size_t name_bytes_max = 64 * 4;
/// Of a longer value the bytes to escape are counted before room is made for them. A shorter one is given
/// twice its size, so that the loop over it needs no check. Not measured.
inline constexpr size_t value_bytes_measured = 4 * kibibyte;

// ---- a request as text, for the host's logs

/// rowsocket_log_value_bytes. Enough to tell keys apart; not measured.
inline constexpr uint32_t logged_value_bytes_default = 64;
inline constexpr uint32_t logged_value_bytes_max = 4096;
/// Behind so much text of one request no further values and columns are named, but counted.
inline constexpr size_t logged_text_bytes = 8 * kibibyte;

// ---- one request of RESP

/// A command that is a line of words. Redis's own limit.
inline constexpr size_t resp_line_bytes_max = 64 * kibibyte;
/// The head of an array or a string. No number of 64 bits is longer.
inline constexpr size_t resp_length_bytes_max = 32;
/// A request of which less has come is read from its beginning again when more comes. Not measured.
inline constexpr size_t resp_bytes_read_again = 4 * kibibyte;
/// Longer than any command's name.
inline constexpr size_t resp_name_bytes_max = 32;
/// What is repeated of a command that there is none of. As much as Redis does.
inline constexpr size_t resp_told_bytes_max = 128;
/// Values of a key. No index of the server has more.
inline constexpr size_t resp_key_parts_max = 32;
/// Rows that one SCAN looks at, whatever its COUNT. Not measured.
inline constexpr uint32_t scan_rows_max = 10'000;
inline constexpr uint32_t scan_rows_default = 10;  ///< as in Redis
/// Of SCAN's pattern. Each key may be compared with all of it, from each of the key's bytes on: at most 3
/// million steps for a key of 3072 bytes. Not measured.
inline constexpr size_t scan_pattern_bytes_max = kibibyte;
/// Places of scans that are remembered, of all clients together; each step of a scan is one. An index of
/// InnoDB has keys of 3072 bytes, so they come to 12 MiB at most. Not measured.
inline constexpr uint32_t scan_places_max = 4096;
/// Of them, those of one connection: so that a client that begins scans and ends none ends its own. Clients
/// take one step behind the other. Not measured.
inline constexpr uint32_t scan_places_per_connection = 16;
/// Of a place whose key is longer, nothing is remembered: the scan fails.
inline constexpr size_t scan_place_bytes_max = 16 * kibibyte;

// ---- one request of memcached

inline constexpr size_t memcached_key_bytes_max = 250;  ///< with `@@container.` where it is there
/// What memcached takes as the size of a value. With a line end behind it, it still fits 31 bits.
inline constexpr size_t memcached_value_bytes_max = 2'147'483'645;
/// An expiry beyond a month is a time since 1970, and no time from now.
inline constexpr int64_t memcached_relative_expiry_s_max = 60 * 60 * 24 * 30;
inline constexpr size_t memcached_opaque_bytes_max = 32;  ///< the token of a meta command's O
/// More than there are flags. Each may stand once.
inline constexpr size_t memcached_flag_count_max = 24;
/// Longer than the line of any meta command's reply: each flag stands in it once at most, and key and opaque
/// token are bounded.
inline constexpr size_t memcached_meta_line_bytes_max = 1024;
/// Rows that one step of a flush_all deletes. The lock on them lasts as long as a step. Not measured.
inline constexpr uint32_t flush_rows_per_step = 1000;

// ---- the table of containers

/// Rows of it that are taken. Not measured.
inline constexpr size_t containers_max = 1024;
/// Longest field, on average over a row. The table's shape allows 250 characters, of up to four bytes.
inline constexpr size_t container_field_bytes_max = 4 * kibibyte;
inline constexpr size_t container_columns_max = 64;  ///< of one container, of all kinds; not measured
/// How often it is looked at: what an administrator changes is in force while they watch.
inline constexpr uint32_t containers_interval_ms = 1000;

// ---- one reply

/// Text of an error that clients of RESP and memcached are told: one line, and readable.
inline constexpr size_t error_text_bytes_max = 512;

/// rowsocket_max_reply_bytes. A turn's replies are kept until its commit. Not measured.
inline constexpr size_t reply_bytes_default = 64 * mebibyte;
inline constexpr size_t reply_bytes_min = 64 * kibibyte;
inline constexpr size_t reply_bytes_max = 1024 * mebibyte;
/// Room beyond the largest reply, since room for a value is estimated: twice a value that is not measured,
/// and what stands around it.
inline constexpr size_t reply_slack_bytes = 16 * kibibyte;

// ---- one connection

/// The most that one recv takes. A turn spends one call on a connection, whatever else waits there. Not
/// measured.
inline constexpr size_t receive_bytes = 64 * kibibyte;
/// Room made for a recv while a connection sends little. With it the buffer of an ordinary client stays at
/// its first 4 KiB.
inline constexpr size_t receive_bytes_first = 2 * kibibyte;
/// What a turn receives of all connections that send little. After that they get `receive_bytes_first` each:
/// the turn could not execute more. Not measured.
inline constexpr size_t receive_bytes_per_turn = mebibyte;
/// A connection that has sent so much of a request that is not complete yet sends a large one. Not measured.
inline constexpr size_t large_request_bytes = 16 * kibibyte;
/// A turn receives of one large sender, and goes on with the next ones for this part of the time that all
/// else has taken since. So large senders leave the others most of the worker. Not measured.
inline constexpr uint32_t large_senders_share = 8;
/// ... until it has received this much of them: a thread that gets no processor takes long for little.
inline constexpr size_t large_bytes_per_turn = 2 * receive_bytes;
/// Pooled buffers larger than this are given back to the allocator: one full recv is worth keeping.
inline constexpr size_t buffer_bytes_kept = 64 * kibibyte;
/// How long a client that is cut off for a bad stream may go on sending. If its bytes were not taken until
/// then, the system would reset the connection, and our last reply would be lost. Not measured.
inline constexpr uint32_t linger_ms = 2000;
/// Larger pieces of memory come from the system, and go back there at once. Smaller ones are the allocator's,
/// which may keep them for the next burst: its own threshold for this moves up with what is freed. Not
/// measured.
inline constexpr size_t mapped_bytes_min = 256 * kibibyte;

// ---- one worker and turn

// How long a turn may become: its replies wait for its end, and so does DDL on its tables.

/// Over all connections of the turn. Where finds come 16 at a time, one takes 1.2 µs (docs/benchmarks), so
/// that a full turn of them takes about 10 ms. No other value was measured.
inline constexpr uint32_t requests_per_turn = 8192;
/// An eighth of the turn, so that one connection with a full pipeline leaves room for others.
inline constexpr uint32_t requests_per_connection_turn = 1024;
/// Beside others a connection has so many requests for each of them. Requests that come in a row cost about a
/// fifth of one that comes alone, so the others keep half of the turn.
inline constexpr uint32_t requests_per_other = 4;
/// ... and at least so many. Not measured.
inline constexpr uint32_t requests_beside_others_min = 64;
/// A turn takes no further request once it has staged this much. Together with the arena the memory that a
/// worker holds beside rowsocket_max_held_bytes stays in the tens of MiB. Not measured.
inline constexpr size_t reply_bytes_per_turn = 8 * mebibyte;
/// The same of what staged requests were parsed into. A request of a few bytes can name thousands of empty
/// values, and while writes are staged none of them is given back. Twice the replies; not measured.
inline constexpr size_t arena_bytes_per_turn = 16 * mebibyte;

// How long a transaction may become: others wait for the rows that it has locked.

/// A turn commits before its end once it has changed this many rows ... Not measured.
inline constexpr uint32_t rows_per_transaction = 10'000;
/// ... or its transaction has lasted this long: a turn that waits for others' locks holds its own for as
/// long. A tenth of the second that a row is waited for. Not measured.
inline constexpr uint32_t transaction_ms = 100;

inline constexpr uint32_t events_per_poll = 1024;  ///< more show up with the next poll; not measured
/// Free buffers that a worker keeps between turns ... 256 of those that one recv fills. Not measured.
inline constexpr size_t pool_bytes_busy = 16 * mebibyte;
/// ... and while it sleeps. Not measured.
inline constexpr size_t pool_bytes_idle = 256 * kibibyte;
/// rowsocket_max_held_bytes. More than twice the longest request with the largest reply, and else not
/// measured.
inline constexpr size_t held_bytes_default = 256 * mebibyte;
inline constexpr size_t held_bytes_min = 1 * mebibyte;
inline constexpr size_t held_bytes_max = size_t{1024} * 1024 * mebibyte;
/// When the connections of a worker hold too much, a session that keeps less than this of what they have open
/// goes on keeping it.
inline constexpr size_t kept_bytes_min = 1 * mebibyte;
/// Connections of an account that has too much under way: so many are looked at each `presence_ms`.
inline constexpr uint32_t waiting_per_look = 16;
inline constexpr uint32_t sweep_interval_ms = 100;      ///< how exactly time-outs are kept
inline constexpr uint32_t activity_interval_ms = 1000;  ///< how often SHOW PROCESSLIST may change
/// Metadata locks are given back before a worker blocks longer than this. Opening a table costs more than a
/// lookup, so a busy worker should not do it between two turns. Not measured.
inline constexpr uint32_t hold_tables_us = 1000;

// After a commit that flushed, a turn waits a moment for the clients that the commit answered: decision 0012,
// and docs/benchmarks/findings.md for what it gave. Other values than these were not measured.

/// It waits this part of what the commit took ...
inline constexpr uint32_t return_wait_share = 8;
/// ... not at all if that is less than this: then the commit did not flush ...
inline constexpr uint32_t return_wait_us_min = 20;
/// ... and never longer than this.
inline constexpr uint32_t return_wait_us_max = 200;
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
/// somebody may wait for that. The shortest that the server's time-out can say.
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
/// The same as replay_retries, on a thread of the request's own, where it holds up nobody. Not measured.
inline constexpr uint32_t patient_replay_retries = 100;

/// How often workers are looked at for requests that take long. A request that takes a slice is long: other
/// clients notice a millisecond.
inline constexpr uint32_t tick_ms = 1;
/// Where so many ticks in a row found no request under way, workers are looked at less often: it should cost
/// an idle server nothing that can be seen.
inline constexpr uint32_t idle_ticks = 500;
inline constexpr uint32_t idle_tick_ms = 20;
/// A thread that was not needed for so long ends, and then one more each time this is over. Not measured.
inline constexpr uint32_t stand_in_idle_ms = 3000;
inline constexpr uint32_t stand_in_ends_ms = 200;
/// Where the server refuses a thread's session, when the next one is tried, and when the log says it again.
inline constexpr uint32_t stand_in_retry_ms = 1000;
inline constexpr uint32_t stand_in_complaint_ms = 60'000;
/// Processor time of a request before a stand-in takes over. Below a tick, so that two ticks see it.
inline constexpr uint32_t slice_us = 700;

// A walk that a stand-in has replaced leaves the processors to others (server/pacing.h).

/// It runs at least so long before it rests: longer than what a rest costs, and shorter than what people see.
inline constexpr uint32_t walk_burst_us = 4000;
/// It rests if the thread of its loop waited for a processor for this part of the time ...
inline constexpr uint32_t walk_waited_share = 10;
/// ... until all walks together have this part of the processors: the others then have more than half ...
inline constexpr uint32_t walks_share = 3;
/// ... and never longer than this: it looks for its client, too.
inline constexpr uint32_t walk_rest_us_max = 50'000;

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

// ---- the server

inline constexpr uint32_t threads_max = 1024;
/// Read workers while requests wait for the disk all the time (server/spread.h), where there are fewer cores.
/// `./x bench cold` on one core: 8 workers serve 45,000 requests/s, 12 46,000, 24 44,000, 1 13,600.
inline constexpr uint32_t spread_workers = 12;
/// That is so where they wait this often, in so many looks one after the other. Not measured.
inline constexpr uint32_t spread_waits_per_s = 2000;
inline constexpr uint32_t spread_cold_looks = 4;
inline constexpr uint32_t spread_look_ms = 50;
/// It is over when they have waited less than a quarter as often for so long. Not measured.
inline constexpr uint32_t spread_rest_ms = 5000;
/// rowsocket_threads_max. As many requests can wait for a disk or a lock at a time, less the workers; a
/// thread that is not needed ends. The storage of the first HandlerSocket users was busy with 32.
inline constexpr uint32_t all_threads_default = 64;
inline constexpr uint32_t all_threads_max = 4096;
/// rowsocket_max_connections. An idle one owns no buffers, so the number costs little. Not measured beyond
/// the figures in docs/benchmarks.
inline constexpr uint32_t connections_default = 20'000;
inline constexpr uint32_t connections_max = 1'000'000;
/// rowsocket_max_account_requests and _bytes: beyond this there is no use for a limit.
inline constexpr uint32_t account_requests_max = 1'000'000;
inline constexpr uint32_t idle_timeout_s_default = 28'800;  ///< rowsocket_idle_timeout, as wait_timeout
/// What Linux allows at most by default (net.core.somaxconn).
inline constexpr uint32_t listen_backlog = 4096;
/// How often a port is picked that must be free on all addresses. One address takes a port away from another
/// seldom.
inline constexpr uint32_t port_picks_max = 32;
/// Before the next listener has its turn. Not measured.
inline constexpr uint32_t accepts_per_listener = 64;
/// Accepting rests this long when the process is out of descriptors: the listener stays readable, and would
/// keep the acceptor busy.
inline constexpr uint32_t accept_pause_ms = 100;

// ---- what is counted by table (exec/table_statistics.h)

/// Indexes that a thread counts for. With the histograms of two kinds of request one takes 4 KiB. One that
/// falls out costs about a microsecond when it comes again. Not measured beyond that.
inline constexpr size_t ledger_places_max = 256;
/// Indexes that are remembered by name beside those, over all threads.
inline constexpr size_t statistics_places_max = 4096;
/// Names of indexes, and records of them, that a reader copies in one go, whatever there is. A record with
/// the histograms of all kinds of requests takes 10 KiB. Meanwhile a thread that needs room for another index
/// waits. Not measured.
inline constexpr size_t statistics_places_per_look = 256;
inline constexpr size_t statistics_records_per_look = 16;

/// Connections that a reader looks at in one go. Meanwhile no connection of their worker comes or goes. Not
/// measured.
inline constexpr size_t connections_per_look = 256;

// ---- rights (mariadb/rights.h)

/// Accounts that a session has found lately. One more costs it the long way, as after a second.
inline constexpr size_t found_accounts = 256;
/// The long way is as long as the account has grants on databases. A thread that is busy for it goes it once
/// in so long. Not measured.
inline constexpr uint64_t account_found_us = 1'000'000;

// ---- logins
/// Threads that log clients in. Each can wait for long: for a name server, or for a PAM module. Some of them
/// are never busy with clients that the server has no reason to trust (login_queue.h). Not measured.
inline constexpr uint32_t login_threads = 8;
inline constexpr uint32_t login_threads_for_unproven = 6;
inline constexpr uint32_t login_threads_for_strange = 4;
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
/// A login that has waited for so long is refused untried: nobody waits for ever, and a slowed party's last
/// one is tried before. They are looked for at this interval.
inline constexpr uint32_t login_wait_ms = 20'000;
inline constexpr uint32_t login_overdue_interval_ms = 1000;
/// What is remembered: accounts as claimed from an address, in all and of one address (so many that were
/// right, and so many others); accounts that somebody has logged in with. How often there may be a look at
/// all of them. Not measured.
inline constexpr uint32_t login_claims_max = 16'384;
inline constexpr uint32_t login_claims_per_party_max = 256;
inline constexpr uint32_t login_accounts_max = 4096;
inline constexpr uint32_t login_forget_interval_ms = 100;
/// What an account can have, and more than any client sends.
inline constexpr uint32_t login_user_bytes_max = 384;
inline constexpr uint32_t login_password_bytes_max = 1024;

// ---- TLS

/// Handshakes that are under way. Where there are more, the party with the most loses its oldest.
inline constexpr uint32_t handshakes_max = 1024;
/// How long a handshake may take, as the server's connect_timeout by default.
inline constexpr uint32_t handshake_timeout_ms = 10'000;
/// What a session takes that is open and idle: 14 to 15 KB were measured, and 24 with a client's certificate.
inline constexpr size_t tls_session_bytes = 15 * kibibyte;
/// Each half of a record that was received or is still to be sent.
inline constexpr size_t tls_record_bytes = 17 * kibibyte;
/// A send encrypts about as much as sockets take at once, and leaves the rest for when there is room. Not
/// measured.
inline constexpr size_t tls_send_bytes = 256 * kibibyte;

/// What a client may send beside its bytes (mostly a new key, which costs time and brings nothing): so many
/// messages ...
inline constexpr uint32_t tls_messages_max = 16;
/// ... until it has sent or received so many bytes. Libraries change keys after gigabytes, people and tests
/// when they like. Not measured.
inline constexpr size_t tls_messages_per_bytes = 64 * kibibyte;
/// A receive goes on asking the socket while at least this part of what that gave was of use: else records of
/// a byte each, or of none, would take a turn for longer than requests do. A record takes 22 bytes beside its
/// contents, so requests of eight bytes are enough.
inline constexpr size_t tls_useful_share = 4;

/// Lines of each thread for what clients can cause: an operator reads them, and no client fills the disk.
inline constexpr uint32_t log_lines_per_interval = 10;
inline constexpr uint32_t log_interval_ms = 10'000;

static_assert(rows_examined_default <= rows_examined_max && request_ms_default <= request_ms_max);
static_assert(line_bytes_min <= line_bytes_default && line_bytes_default <= line_bytes_max);
static_assert(reply_bytes_min <= reply_bytes_default && reply_bytes_default <= reply_bytes_max);
static_assert(2 * value_bytes_measured + kibibyte <= reply_slack_bytes);
static_assert(in_list_default <= in_list_max && index_id_default <= index_id_max);
static_assert(in_list_max + 3 * value_count_max <= request_values_max,
              "key, other end, list and new values of a find");
static_assert(insert_rows_max <= rows_per_transaction && flush_rows_per_step <= rows_per_transaction);
static_assert(scan_rows_default <= scan_rows_max);
static_assert(group_requests_max <= requests_per_connection_turn && group_requests_max <= group_lines_max);
static_assert(requests_per_connection_turn <= requests_per_turn);
static_assert(buffer_bytes_kept >= receive_bytes, "a pooled buffer takes one full receive");
static_assert(receive_bytes <= receive_bytes_per_turn && large_request_bytes < line_bytes_default);
static_assert(receive_bytes_first <= receive_bytes && pool_bytes_idle <= pool_bytes_busy);
static_assert(held_bytes_min <= held_bytes_default && held_bytes_default <= held_bytes_max);
static_assert(buffer_bytes_kept < mapped_bytes_min, "pooled buffers are the allocator's");
static_assert(connections_default <= connections_max);

}  // namespace rowsocket::limits
