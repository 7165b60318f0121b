// SPDX-License-Identifier: GPL-2.0-only
#include "bench/run.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "bench/process_cpu.h"

namespace rowsocket::bench {

namespace {

constexpr uint64_t stall_ns = 10'000'000'000;
constexpr int poll_ms = 20;
constexpr size_t events_per_poll = 256;

uint64_t now_ns() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count());
}

uint64_t nanoseconds(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

}  // namespace

Run::Run(const Options& options, const Protocol& protocol)
    : options_(options),
      protocol_(protocol),
      keys_(options.rows, options.zipf_exponent, options.seed),
      next_insert_key_(options.first_key),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_.number() < 0) {
    throw std::runtime_error(std::string("epoll_create1: ") + std::strerror(errno));
  }
}

Measurement Run::execute() {
  const auto server_cpu_ns = [this] { return options_.server_pid == 0 ? 0 : process_cpu_ns(options_.server_pid); };
  connect_all();
  drive_until(now_ns() + nanoseconds(options_.warm_up_s));

  const uint64_t start_ns = now_ns();
  const uint64_t server_start_ns = server_cpu_ns();
  const uint64_t generator_start_ns = process_cpu_ns(::getpid());
  measuring_ = true;
  drive_until(start_ns + nanoseconds(options_.seconds));
  measuring_ = false;
  measured_.server_cpu_ns = server_cpu_ns() - server_start_ns;
  measured_.generator_cpu_ns = process_cpu_ns(::getpid()) - generator_start_ns;
  measured_.seconds = static_cast<double>(now_ns() - start_ns) / 1e9;

  drain();
  return measured_;
}

void Run::connect_all() {
  const std::vector<Exchange> opening = protocol_.opening(options_.target);
  for (uint32_t i = 0; i < options_.connections; ++i) {
    auto& connection = connections_.emplace_back(std::make_unique<Connection>(options_.endpoint, opening, options_.in_flight));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection.get();
    if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, connection->descriptor(), &event) != 0) {
      throw std::runtime_error(std::string("epoll_ctl: ") + std::strerror(errno));
    }
  }
  last_answer_ns_ = now_ns();
  for (const auto& connection : connections_) {
    refill(*connection);
    flush(*connection);
  }
}

void Run::drive_until(uint64_t deadline_ns) {
  while (now_ns() < deadline_ns) {
    turn();
  }
}

void Run::drain() {
  draining_ = true;
  const auto idle = [](const auto& connection) { return connection->in_flight() == 0; };
  while (!std::all_of(connections_.begin(), connections_.end(), idle)) {
    turn();
  }
}

void Run::turn() {
  std::array<epoll_event, events_per_poll> events;
  const int ready = ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), poll_ms);
  for (int i = 0; i < ready; ++i) {
    serve(*static_cast<Connection*>(events[i].data.ptr), events[i].events);
  }
  if (now_ns() - last_answer_ns_ > stall_ns) {
    throw std::runtime_error("no answer for " + std::to_string(stall_ns / 1'000'000'000) + " s");
  }
}

void Run::serve(Connection& connection, uint32_t events) {
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) {
    connection.receive();
    check_replies(connection);
    refill(connection);
  }
  flush(connection);
}

void Run::check_replies(Connection& connection) {
  const uint64_t received_ns = now_ns();
  while (connection.in_flight() > 0) {
    const Pending& oldest = connection.oldest();
    right_reply_.clear();
    protocol_.write_right_reply(oldest.operation, right_reply_);
    const std::string_view right = right_reply_.view();
    const std::string_view received = connection.incoming().view().substr(0, right.size());
    if (!right.starts_with(received)) {
      throw std::runtime_error("wrong answer " + printable(connection.incoming().view()) + " where " + printable(right) +
                               " is right");
    }
    if (received.size() < right.size()) {
      return;
    }
    connection.incoming().consume(right.size());
    last_answer_ns_ = received_ns;
    ++measured_.requests_in_all;
    if (measuring_) {
      ++measured_.requests;
      measured_.keys += oldest.operation.keys.size();
      measured_.latency_ns.record(received_ns - oldest.sent_ns);
    }
    connection.pop();
  }
  if (!connection.incoming().empty()) {
    throw std::runtime_error("an answer without a request: " + printable(connection.incoming().view()));
  }
}

void Run::refill(Connection& connection) {
  if (draining_) {
    return;
  }
  const uint64_t sent_ns = now_ns();
  while (connection.can_take_more()) {
    Pending& pending = connection.push();
    next_operation(pending.operation);
    pending.sent_ns = sent_ns;
    protocol_.write_request(pending.operation, connection.outgoing());
  }
}

void Run::next_operation(Operation& operation) {
  operation.workload = options_.target.workload;
  operation.keys.resize(operation.workload == Workload::in_list ? options_.keys_per_request : 1);
  if (operation.workload == Workload::insert) {
    operation.keys.front() = next_insert_key_++;
    return;
  }
  for (uint32_t& key : operation.keys) {
    key = keys_.next();
  }
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
