// SPDX-License-Identifier: GPL-2.0-only
#include "bench/run.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

constexpr uint64_t stall_ns = 10'000'000'000;
constexpr uint64_t wait_max_ns = 20'000'000;
/// A timer this short comes too late; the open loop spins instead. It has a core of its own.
constexpr uint64_t spin_ns = 100'000;
constexpr size_t events_per_poll = 256;

uint64_t now_ns() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count());
}

uint64_t nanoseconds(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

}  // namespace

Run::Run(const Options& options, const Workload& workload, Protocol& protocol)
    : options_(options),
      workload_(workload),
      protocol_(protocol),
      operations_(options, workload),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      open_loop_(options.rate_per_s > 0),
      free_(options.connections) {
  if (epoll_.number() < 0) {
    throw std::runtime_error(std::string("epoll_create1: ") + std::strerror(errno));
  }
}

Measurement Run::execute() {
  connect_all();
  const bool warms_up = options_.requests == 0;
  if (warms_up) {
    begin_load();
    drive_until(now_ns() + nanoseconds(options_.warm_up_s));
  }
  measure();
  drain();
  measured_.next_key = operations_.unused_key();
  return measured_;
}

void Run::measure() {
  const auto server_cpu_ns = [this] { return options_.server_pid == 0 ? 0 : process_cpu_ns(options_.server_pid); };
  const auto facts = [this] { return options_.server_pid == 0 ? ProcessFacts{} : process_facts(options_.server_pid); };
  const auto sum = [this](uint64_t (Connection::*total_of)() const) {
    uint64_t total = 0;
    for (const auto& connection : connections_) {
      total += ((*connection).*total_of)();
    }
    return total;
  };
  measured_.server_before = facts();
  const uint64_t sent_before = sum(&Connection::bytes_sent);
  const uint64_t received_before = sum(&Connection::bytes_received);
  const uint64_t server_start_ns = server_cpu_ns();
  const uint64_t generator_start_ns = process_cpu_ns(::getpid());

  measured_from_ns_ = now_ns();
  measuring_ = true;
  if (options_.requests != 0) {
    begin_load();
    drive_until(UINT64_MAX);
    drain();
  } else {
    measured_to_ns_ = measured_from_ns_ + nanoseconds(options_.seconds);
    drive_until(measured_to_ns_);
  }
  measuring_ = false;
  measured_.seconds = static_cast<double>(now_ns() - measured_from_ns_) / 1e9;

  measured_.server_cpu_ns = server_cpu_ns() - server_start_ns;
  measured_.generator_cpu_ns = process_cpu_ns(::getpid()) - generator_start_ns;
  measured_.bytes_sent = sum(&Connection::bytes_sent) - sent_before;
  measured_.bytes_received = sum(&Connection::bytes_received) - received_before;
  measured_.server_after = facts();
}

void Run::connect_all() {
  for (uint32_t i = 0; i < options_.connections; ++i) {
    auto& connection =
        connections_.emplace_back(std::make_unique<Connection>(protocol_.connect(options_.endpoint), options_.in_flight));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection.get();
    if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, connection->descriptor(), &event) != 0) {
      throw std::runtime_error(std::string("epoll_ctl: ") + std::strerror(errno));
    }
  }
}

void Run::begin_load() {
  last_answer_ns_ = now_ns();
  if (open_loop_) {
    schedule_ = Schedule(options_.rate_per_s, last_answer_ns_);
  }
  for (const auto& connection : connections_) {
    take_up_work(*connection);
    flush(*connection);
  }
}

void Run::drive_until(uint64_t deadline_ns) {
  while (now_ns() < deadline_ns && !all_begun()) {
    turn();
  }
}

void Run::drain() {
  // What an open loop had to send in the measured time and could not is sent now: its wait is what the run is to tell.
  draining_ = true;
  const auto idle = [](const auto& connection) { return connection->pending().empty(); };
  while (!std::all_of(connections_.begin(), connections_.end(), idle) ||
         (open_loop_ && !all_begun() && schedule_.due_ns() < measured_to_ns_)) {
    turn();
  }
}

void Run::turn() {
  if (open_loop_) {
    dispatch_due();
  }
  std::array<epoll_event, events_per_poll> events;
  const uint64_t timeout_ns = wait_ns();
  const timespec timeout{0, static_cast<long>(timeout_ns)};
  const int ready = ::epoll_pwait2(epoll_.number(), events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  for (int i = 0; i < ready; ++i) {
    serve(*static_cast<Connection*>(events[i].data.ptr), events[i].events);
  }
  const uint64_t now = now_ns();
  if (now > last_answer_ns_ + stall_ns) {
    if (!std::all_of(connections_.begin(), connections_.end(), [](const auto& one) { return one->pending().empty(); })) {
      throw std::runtime_error("no answer for " + std::to_string(stall_ns / 1'000'000'000) + " s");
    }
    last_answer_ns_ = now;  // a slow open loop: nothing was asked
  }
}

uint64_t Run::wait_ns() const {
  if (!open_loop_ || free_.empty()) {
    return wait_max_ns;
  }
  const uint64_t due_ns = schedule_.due_ns();
  const uint64_t now = now_ns();
  return due_ns <= now + spin_ns ? 0 : std::min(due_ns - now - spin_ns, wait_max_ns);
}

void Run::serve(Connection& connection, uint32_t events) {
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) {
    connection.receive();
    check_replies(connection);
    take_up_work(connection);
  }
  flush(connection);
}

void Run::check_replies(Connection& connection) {
  const uint64_t received_ns = now_ns();
  while (!connection.pending().empty()) {
    const Pending& oldest = connection.pending().front();
    const size_t reply_bytes = protocol_.check_reply(oldest.operation, connection.incoming().view());
    if (reply_bytes == 0) {
      return;
    }
    connection.incoming().consume(reply_bytes);
    count(oldest, received_ns);
    connection.pending().pop();
  }
  if (!connection.incoming().empty()) {
    throw std::runtime_error("an answer without a request: " + printable(connection.incoming().view()));
  }
}

void Run::count(const Pending& answered, uint64_t received_ns) {
  const Request& request = workload_.requests[answered.operation.request];
  last_answer_ns_ = received_ns;
  ++measured_.requests_in_all;
  measured_.writes_in_all += request.writes() ? 1 : 0;
  if (measuring_) {
    ++measured_.requests;
    measured_.keys += answered.operation.keys.size();
    measured_.rows += row_count(request.answer, answered.operation);
  }
  if (answered.begun_ns >= measured_from_ns_ && answered.begun_ns < measured_to_ns_) {
    measured_.latency_ns.record(received_ns - answered.begun_ns);
  }
}

void Run::take_up_work(Connection& connection) {
  if (open_loop_) {
    queue(connection);
    return;
  }
  const uint64_t begun_ns = now_ns();
  while (!draining_ && !connection.pending().full() && !all_begun()) {
    begin_request(connection, begun_ns);
  }
}

void Run::dispatch_due() {
  const uint64_t now = now_ns();
  if (measuring_ && schedule_.due_ns() <= now) {
    const uint64_t backlog = schedule_.backlog(now);
    measured_.backlog_max = std::max(measured_.backlog_max, backlog - std::min<uint64_t>(backlog, free_.size()));
  }
  while (!free_.empty() && schedule_.due_ns() <= now && !all_begun() && (!draining_ || schedule_.due_ns() < measured_to_ns_)) {
    Connection& connection = *free_.front();
    free_.pop();
    connection.is_queued = false;
    begin_request(connection, schedule_.due_ns());
    schedule_.take();
    flush(connection);
    queue(connection);
  }
}

void Run::queue(Connection& connection) {
  if (!connection.is_queued && !connection.pending().full()) {
    connection.is_queued = true;
    free_.push() = &connection;
  }
}

void Run::begin_request(Connection& connection, uint64_t begun_ns) {
  Pending& pending = connection.pending().push();
  operations_.next(pending.operation);
  pending.begun_ns = begun_ns;
  protocol_.write_request(connection.link(), pending.operation, connection.outgoing());
  ++begun_;
}

void Run::flush(Connection& connection) {
  // EPOLLOUT is asked for only while the socket refuses bytes, so the common case (all sent at once) is one system call.
  const bool waits_to_send = !connection.send();
  if (waits_to_send == connection.waits_to_send) {
    return;
  }
  connection.waits_to_send = waits_to_send;
  epoll_event event{};
  event.events = EPOLLIN | (waits_to_send ? static_cast<uint32_t>(EPOLLOUT) : 0u);
  event.data.ptr = &connection;
  (void)::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, connection.descriptor(), &event);
}

}  // namespace rowsocket::bench
