// SPDX-License-Identifier: GPL-2.0-only
#include "bench/run.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "bench/printable.h"
#include "bench/tls.h"

namespace rowsocket::bench {

namespace {

constexpr uint64_t wait_max_ns = 20'000'000;
/// A timer this short comes too late; the open loop spins instead. It has a core of its own.
constexpr uint64_t spin_ns = 100'000;
constexpr size_t events_per_poll = 256;

template <typename Clock>
uint64_t ns_of() {
  const auto time = Clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}
uint64_t now_ns() { return ns_of<std::chrono::steady_clock>(); }

uint64_t nanoseconds(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

/// The run time of all threads of a process, those that ended included; 0 of process 0.
uint64_t process_cpu_ns(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (pid == 0) {
    return 0;
  }
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    throw std::runtime_error("cannot read the CPU time of process " + std::to_string(pid));
  }
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// Nine digits, beyond the ticks of earlier runs.
uint64_t first_tick() {
  return ns_of<std::chrono::system_clock>() / 1'000'000 % 800'000 * 1000 + 100'000'000;
}

}  // namespace

Run::Run(const Job& job)
    : job_(job),
      open_loop_(job.rate_per_s > 0),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      keys_(job.keys, job.seed),
      random_(~job.seed),
      tick_(first_tick()),
      free_(job.connections.size()) {
  for (const Exchange& exchange : job.exchanges) {
    weights_summed_.push_back(exchange.weight + (weights_summed_.empty() ? 0 : weights_summed_.back()));
  }
  connect();
  measured_.answered.resize(job.exchanges.size());
  measured_.answered_in_all.resize(job.exchanges.size());
}

Run::~Run() { ::close(epoll_); }

void Run::connect() {
  const bool is_inside_tls = !job_.tls.authority.empty();
  const auto context =
      is_inside_tls ? std::make_unique<TlsContext>(job_.tls.authority, job_.tls.version) : nullptr;
  for (const auto& [descriptor, number] : job_.connections) {
    std::unique_ptr<TlsSession> tls;
    if (is_inside_tls) {
      tls = std::make_unique<TlsSession>(*context, descriptor);
      tls->exchange(job_.tls.opening, job_.tls.opening_reply);
      measured_.encryption = tls->encryption();
    }
    connections_.push_back(std::make_unique<Connection>(descriptor, number, job_.in_flight, std::move(tls)));
    watch(*connections_.back(), EPOLL_CTL_ADD, EPOLLIN);
  }
}

void Run::watch(Connection& connection, int operation, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &connection;
  if (::epoll_ctl(epoll_, operation, connection.descriptor(), &event) != 0) {
    throw std::runtime_error(std::string("epoll_ctl: ") + std::strerror(errno));
  }
}

Measurement Run::execute() {
  if (job_.requests == 0) {
    begin_load();
    drive_until(now_ns() + nanoseconds(job_.warm_up_s));
  }
  measure();
  drain();
  measured_.next_key = keys_.unused();
  return measured_;
}

void Run::measure() {
  const auto sum = [this](uint64_t (Connection::*total_of)() const) {
    uint64_t total = 0;
    for (const auto& connection : connections_) {
      total += ((*connection).*total_of)();
    }
    return total;
  };
  const uint64_t sent_before = sum(&Connection::bytes_sent);
  const uint64_t received_before = sum(&Connection::bytes_received);
  const uint64_t server_start_ns = process_cpu_ns(job_.server_pid);
  const uint64_t generator_start_ns = process_cpu_ns(::getpid());

  measured_from_ns_ = now_ns();
  measuring_ = true;
  if (job_.requests != 0) {
    begin_load();
    drive_until(UINT64_MAX);
    drain();
  } else {
    measured_to_ns_ = measured_from_ns_ + nanoseconds(job_.seconds);
    drive_until(measured_to_ns_);
  }
  measuring_ = false;
  measured_.seconds = static_cast<double>(now_ns() - measured_from_ns_) / 1e9;

  measured_.server_cpu_ns = process_cpu_ns(job_.server_pid) - server_start_ns;
  measured_.generator_cpu_ns = process_cpu_ns(::getpid()) - generator_start_ns;
  measured_.bytes_sent = sum(&Connection::bytes_sent) - sent_before;
  measured_.bytes_received = sum(&Connection::bytes_received) - received_before;
}

void Run::begin_load() {
  load_start_ns_ = last_answer_ns_ = now_ns();
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
  // What an open loop had to send in the measured time and could not is sent now: its wait is what the run is
  // to tell.
  draining_ = true;
  while (!nothing_under_way() || (open_loop_ && !all_begun() && due_ns() < measured_to_ns_)) {
    turn();
  }
}

void Run::turn() {
  if (open_loop_) {
    dispatch_due();
  }
  std::array<epoll_event, events_per_poll> events;
  const timespec timeout{0, static_cast<long>(wait_ns())};
  const int ready = ::epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  for (int i = 0; i < ready; ++i) {
    serve(*static_cast<Connection*>(events[i].data.ptr), events[i].events);
  }
  const uint64_t now = now_ns();
  if (now > last_answer_ns_ + nanoseconds(job_.silence_s)) {
    if (!nothing_under_way()) {
      throw std::runtime_error("no answer for too long");
    }
    last_answer_ns_ = now;  // a slow open loop: nothing was asked
  }
}

bool Run::nothing_under_way() const {
  const auto idle = [](const auto& connection) { return connection->pending().empty(); };
  return std::all_of(connections_.begin(), connections_.end(), idle);
}

uint64_t Run::due_ns() const {
  return load_start_ns_ + static_cast<uint64_t>(static_cast<double>(begun_) / job_.rate_per_s * 1e9);
}

uint64_t Run::backlog(uint64_t now_ns) const {
  const auto due =
      static_cast<uint64_t>(static_cast<double>(now_ns - load_start_ns_) * job_.rate_per_s / 1e9) + 1;
  return due > begun_ ? due - begun_ : 0;
}

uint64_t Run::wait_ns() const {
  if (!open_loop_ || free_.empty()) {
    return wait_max_ns;
  }
  const uint64_t due = due_ns();
  const uint64_t now = now_ns();
  return due <= now + spin_ns ? 0 : std::min(due - now - spin_ns, wait_max_ns);
}

void Run::serve(Connection& connection, uint32_t events) {
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) {
    do {
      check(connection, connection.receive(received_));
    } while (connection.holds_input());
    take_up_work(connection);
  }
  flush(connection);
}

void Run::check(Connection& connection, std::string_view received) {
  const uint64_t received_ns = now_ns();
  while (!received.empty()) {
    if (connection.pending().empty()) {
      throw std::runtime_error("an answer without a request: " + printable(received));
    }
    Pending& oldest = connection.pending().front();
    const Form& reply = job_.exchanges[oldest.exchange].reply;
    const Numbers numbers{oldest.keys, oldest.tick, connection.number()};
    const std::string_view begin = received;
    const size_t right_before = oldest.reply.position;
    if (!reply.take(numbers, received, oldest.reply)) {
      std::string right;
      reply.write(numbers, right);
      throw std::runtime_error("wrong answer " + printable(begin) + " where " +
                               printable(right.substr(right_before)) + " is right");
    }
    if (reply.is_whole(oldest.reply)) {
      count(oldest, received_ns);
      connection.pending().pop();
    }
  }
}

void Run::count(const Pending& answered, uint64_t received_ns) {
  last_answer_ns_ = received_ns;
  ++measured_.answered_in_all[answered.exchange];
  measured_.answered[answered.exchange] += measuring_ ? 1 : 0;
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
  if (measuring_ && due_ns() <= now) {
    const uint64_t waiting = backlog(now);
    measured_.backlog_max =
        std::max(measured_.backlog_max, waiting - std::min<uint64_t>(waiting, free_.size()));
  }
  for (uint64_t due = due_ns();
       !free_.empty() && due <= now && !all_begun() && (!draining_ || due < measured_to_ns_);
       due = due_ns()) {
    Connection& connection = *free_.front();
    free_.pop();
    connection.is_queued = false;
    begin_request(connection, due);
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

size_t Run::draw_exchange() {
  if (weights_summed_.size() == 1) {
    return 0;
  }
  const double place = random_.fraction() * weights_summed_.back();
  const auto found = std::upper_bound(weights_summed_.begin(), weights_summed_.end(), place);
  return static_cast<size_t>(found - weights_summed_.begin());
}

void Run::begin_request(Connection& connection, uint64_t begun_ns) {
  Pending& pending = connection.pending().push();
  pending.exchange = draw_exchange();
  pending.tick = ++tick_;
  pending.begun_ns = begun_ns;
  pending.reply = {};
  keys_.next(pending.keys);
  const Form& request = job_.exchanges[pending.exchange].request;
  request.write({pending.keys, pending.tick, connection.number()}, connection.outgoing());
  ++begun_;
}

void Run::flush(Connection& connection) {
  // EPOLLOUT is asked for only while the socket refuses bytes, so the common case (all sent at once) is one
  // system call.
  const bool waits_to_send = !connection.send();
  if (waits_to_send != connection.waits_to_send) {
    connection.waits_to_send = waits_to_send;
    watch(connection, EPOLL_CTL_MOD, EPOLLIN | (waits_to_send ? static_cast<uint32_t>(EPOLLOUT) : 0u));
  }
}

}  // namespace rowsocket::bench
