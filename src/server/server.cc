// SPDX-License-Identifier: GPL-2.0-only
//
// Composition: endpoints, workers and the acceptor between them.
//
// Locking: `lifecycle_` makes start and stop exclude each other. The workers and the acceptor are made before
// start returns and destroyed with the server, so that counters can be read at any time between.
#include "server/server.h"

#include <algorithm>
#include <exception>
#include <random>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "net/send_ring.h"
#include "request/protocol.h"
#include "server/acceptor.h"
#include "server/container_watch.h"
#include "server/endpoints.h"
#include "server/handshakes.h"
#include "server/lifelines.h"
#include "server/logins.h"
#include "server/settings_board.h"
#include "server/ticker.h"
#include "server/worker.h"

namespace rowsocket::server {
namespace {

using engine::Intent;

uint32_t thread_count(uint32_t configured, uint32_t by_default) {
  return std::clamp<uint32_t>(configured != 0 ? configured : by_default, 1, limits::threads_max);
}

/// The turn of a worker is one commit. Two workers that commit in turn have half of the rows each: so the
/// fewer write workers, the more rows share an fsync. One write worker on four cores leaves room for reads,
/// SQL and the threads of InnoDB. A port that serves everything needs all cores.
uint32_t default_write_threads(bool reads_have_a_port, uint32_t cores) {
  return reads_have_a_port ? cores / 4 : cores;
}

/// Threads that are kept for a wide spread: no more than a quarter of all, nor than what is left to
/// stand-ins.
uint32_t spread_threads(uint32_t threads_max, uint32_t read_threads, uint32_t write_threads) {
  const uint32_t workers = read_threads + write_threads;
  const uint32_t left = threads_max - std::min(threads_max, workers);
  return std::min({limits::spread_workers - read_threads, threads_max / 4, left / 2});
}

uint64_t random_bits() {
  std::random_device random;
  return (uint64_t{random()} << 32) | random();
}

}  // namespace

class Server::Impl final : public ServerFigures {
 public:
  Impl(engine::Engine& engine, Log& log, Clock& clock, tls::Sessions* tls_sessions)
      : engine_(engine),
        log_(log),
        clock_(clock),
        started_us_(clock.now_us()),
        logins_(engine, log, clock),
        handshakes_(tls_sessions, log, clock, &lifelines_) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() override { stop(); }

  bool start(const Config& config, std::string& failure) {
    const MutexLock lock(lifecycle_);
    try {
      if (start_all(config, failure)) {
        return true;
      }
    } catch (const std::exception& error) {
      failure = error.what();
    }
    stop_all();
    workers_.clear();
    container_watch_.reset();
    acceptor_.reset();
    doors_.clear();
    return false;
  }

  void stop() {
    const MutexLock lock(lifecycle_);
    stop_all();
  }

  void reconfigure(const Settings& settings) {
    try {
      settings_board_.publish_all_but_containers(reconciled(settings));
    } catch (const std::exception&) {
      log_.write(LogLevel::error, "rowsocket: the new configuration is not in force: no memory");
      return;
    }
    wake_workers();
  }

  [[nodiscard]] uint32_t port(std::string_view name) const {
    const auto door = std::find_if(doors_.begin(), doors_.end(),
                                   [name](const Door& served) { return served.name == name; });
    return door == doors_.end() ? 0 : door->port;
  }

  [[nodiscard]] uint64_t counter(Counter counter) const override {
    uint64_t sum = acceptor_ == nullptr ? 0 : acceptor_->counters().read(counter);
    sum += logins_.count(counter) + handshakes_.count(counter);
    for (const auto& worker : workers_) {
      sum += worker->count(counter);
    }
    return sum;
  }

  [[nodiscard]] uint64_t connections() const override {
    return connections(Intent::read) + connections(Intent::write);
  }
  [[nodiscard]] uint32_t workers() const override {
    return static_cast<uint32_t>(sum([](const Worker& worker) { return worker.serves() ? 1 : 0; }));
  }
  [[nodiscard]] uint64_t uptime_s() const override { return (clock_.now_us() - started_us_) / 1'000'000; }

  [[nodiscard]] uint64_t connections(Intent intent) const {
    uint64_t count = 0;
    for (const auto& worker : workers_) {
      count += worker->intent() == intent ? worker->inbox().connection_count() : 0;
    }
    return count;
  }

  [[nodiscard]] uint64_t connections_tls() const { return handshakes_.open_connections(); }

  [[nodiscard]] uint64_t threads() const {
    return sum([](const Worker& worker) { return worker.thread_count(); });
  }
  [[nodiscard]] uint64_t idle_threads() const {
    return sum([](const Worker& worker) { return worker.idle_thread_count(); });
  }

  [[nodiscard]] bool read_connections(ConnectionsRead& read, std::vector<ConnectionFigures>& figures) const {
    while (figures.empty() && read.worker < workers_.size()) {
      const bool some_are_left =
          workers_[read.worker]->copy_connections(read.behind, limits::connections_per_look, figures);
      if (some_are_left) {
        read.behind = figures.back().number;
      } else {
        read = {.worker = read.worker + 1};
      }
    }
    for (ConnectionFigures& one : figures) {
      one.protocol_name = name_of(*one.protocol);
    }
    return !figures.empty();
  }
  [[nodiscard]] exec::TableStatistics& statistics() { return statistics_; }

  [[nodiscard]] bool has_connection(uint64_t number) const { return lifelines_.has(number); }
  /// Nobody is waited for: whoever has the connection closes it.
  bool kill_connection(uint64_t number) {
    if (!lifelines_.kill(number)) {
      return false;
    }
    for (const auto& worker : workers_) {
      worker->look_for_killed();
    }
    handshakes_.look_for_killed();
    bell_.ring_if_armed();
    return true;
  }

 private:
  [[nodiscard]] std::string_view name_of(const Protocol& protocol) const {
    const auto door = std::find_if(doors_.begin(), doors_.end(),
                                   [&](const Door& one) { return one.protocol == &protocol; });
    return door == doors_.end() ? "" : door->protocol_name;
  }

  template <typename Of>
  [[nodiscard]] uint64_t sum(Of of) const {
    uint64_t all = 0;
    for (const auto& worker : workers_) {
      all += of(*worker);
    }
    return all;
  }

  bool start_all(const Config& config, std::string& failure) ROWSOCKET_REQUIRES(lifecycle_) {
    settings_board_.publish(reconciled(config.settings));
    Endpoints endpoints;
    if (!open_endpoints(config, endpoints, failure)) {
      return false;
    }
    doors_ = config.doors;
    for (size_t i = 0; i < doors_.size(); ++i) {
      doors_[i].port = endpoints.ports[i];
    }
    tell(endpoints);
    thread_limit_.set(config.threads_max);
    const uint32_t cores = std::thread::hardware_concurrency();
    const bool serves_reads = endpoints.serve(Intent::read);
    const uint32_t read_threads = serves_reads ? thread_count(config.threads_read, cores) : 0;
    const uint32_t write_threads =
        endpoints.serve(Intent::write)
            ? thread_count(config.threads_write, default_write_threads(serves_reads, cores))
            : 0;
    is_drill_ = config.is_drill;
    has_send_rings_ = config.may_use_io_uring && has_send_rings();
    has_stand_ins_ = config.threads_max > read_threads + write_threads;
    const bool may_spread = serves_reads && config.threads_read == 0 && read_threads < limits::spread_workers;
    const uint32_t more_threads =
        may_spread ? spread_threads(config.threads_max, read_threads, write_threads) : 0;
    read_spread_ = more_threads > 0 && has_stand_ins_ ? std::make_unique<Spread>(read_threads) : nullptr;
    if (!start_workers(Intent::read, read_threads, more_threads, read_spread_.get(), failure) ||
        !start_workers(Intent::write, write_threads, 0, nullptr, failure) || !logins_.start(failure) ||
        !handshakes_.start(failure) || !watch_containers(config.containers, failure) ||
        (has_stand_ins_ && !ticker_.start(failure))) {
      return false;
    }
    acceptor_ = std::make_unique<Acceptor>(std::move(endpoints.all), workers_, settings_board_, lifelines_,
                                           log_, clock_);
    return acceptor_->start(failure);
  }

  /// Tells why not.
  [[nodiscard]] bool has_send_rings() {
    net::SendRing tried;
    if (!tried.open()) {
      log_.write(LogLevel::note,
                 "rowsocket: goes on without io_uring: " + std::generic_category().message(tried.error()));
    }
    return tried.is_usable();
  }

  /// `later_count` workers more that only serve while the spread is wide. Their threads count from now on.
  bool start_workers(Intent intent, uint32_t count, uint32_t later_count, Spread* spread,
                     std::string& failure) ROWSOCKET_REQUIRES(lifecycle_) {
    const uint32_t count_max = spread == nullptr ? count : count + later_count;
    for (uint32_t number = 0; number < count_max; ++number) {
      workers_.push_back(std::make_unique<Worker>(
          Worker::Surroundings{engine_, log_, clock_, settings_board_, this, thread_limit_, walks_,
                               has_stand_ins_, statistics_, long_requests_, account_loads_, &logins_,
                               &handshakes_, spread, is_drill_, &bell_, &lifelines_, has_send_rings_},
          intent, number));
      if (spread != nullptr) {
        spread->add(workers_.back()->inbox());
      }
      if (number >= count) {
        thread_limit_.take_anyway();
      }
    }
    const auto first = workers_.end() - count_max;
    return std::all_of(first, first + count, [&](const auto& worker) { return worker->start(failure); });
  }

  /// For the ticker, whose thread catches nothing. True while it is wide.
  bool look_at_spread() {
    try {
      if (read_spread_ != nullptr) {
        adapt_spread();
      }
    } catch (const std::exception&) {
      return true;  // no memory: the next look comes soon
    }
    return read_spread_ != nullptr && read_spread_->is_wide();
  }

  /// Workers that only serve while the spread is wide start when they are needed first, and count when they
  /// serve.
  void adapt_spread() {
    uint32_t count = read_spread_->narrow_count();
    switch (read_spread_->look(clock_.now_ms())) {
      case Spread::Wish::stay:
        return;
      case Spread::Wish::widen:
        count = start_later_workers(count);
        if (count == read_spread_->narrow_count()) {
          return;
        }
        break;
      case Spread::Wish::narrow:
        break;
    }
    read_spread_->set(count, clock_.now_ms());
    wake_workers();
  }

  /// Behind the first `count` read workers. Returns how many serve then; none more while some are starting.
  uint32_t start_later_workers(uint32_t count) {
    const uint32_t narrow_count = count;
    bool some_are_starting = false;
    for (uint32_t number = count; number < read_spread_->size(); ++number) {
      Worker& worker = *workers_[number];  // the read workers come first
      const bool serves = worker.start_later();
      some_are_starting |= worker.is_starting();
      count += serves && number == count ? 1 : 0;
    }
    return some_are_starting ? narrow_count : count;
  }

  bool watch_containers(const std::string& table, std::string& failure) ROWSOCKET_REQUIRES(lifecycle_) {
    if (table.empty()) {
      return true;
    }
    container_watch_ = std::make_unique<ContainerWatch>(
        ContainerWatch::Surroundings{engine_, log_, clock_, settings_board_, [this] { wake_workers(); }},
        table);
    return container_watch_->start(failure);
  }

  /// They look at the settings in their next turn.
  void wake_workers() {
    for (const auto& worker : workers_) {
      worker->inbox().wake();
    }
  }

  void stop_all() ROWSOCKET_REQUIRES(lifecycle_) {
    if (acceptor_ != nullptr) {
      acceptor_->stop();
    }
    if (container_watch_ != nullptr) {
      container_watch_->request_stop();
    }
    ticker_.stop();
    logins_.request_stop();
    for (const auto& worker : workers_) {
      worker->request_stop();
    }
    engine_.interrupt_sessions();
    if (container_watch_ != nullptr) {
      container_watch_->join();
    }
    for (const auto& worker : workers_) {
      worker->join();
    }
    handshakes_.stop();  // workers add to them as long as they run
    logins_.join();
  }

  void tell(const Endpoints& endpoints) {
    for (const Endpoint& endpoint : endpoints.all) {
      const std::string verb =
          endpoint.intent == Intent::read ? "serves reads on " : "serves reads and writes on ";
      log_.write(LogLevel::note, "rowsocket: " + verb + endpoint.listener.name() + ", protocol " +
                                     std::string(endpoint.protocol_name));
    }
    if (!endpoints.notes.empty()) {
      log_.write(LogLevel::note, "rowsocket: " + endpoints.notes);
    }
    if (endpoints.all.empty()) {
      log_.write(LogLevel::warning,
                 "rowsocket: serves nobody: rowsocket_address is empty, and neither socket has a path");
    }
  }

  engine::Engine& engine_;
  Log& log_;
  Clock& clock_;
  Mutex lifecycle_;
  SettingsBoard settings_board_;
  std::vector<Door> doors_;  ///< as they are served
  const uint64_t started_us_;
  ThreadLimit thread_limit_;
  AllWalks walks_{std::max(1U, std::thread::hardware_concurrency())};
  bool has_stand_ins_ = false;
  bool is_drill_ = false;
  bool has_send_rings_ = false;
  exec::TableStatistics statistics_;
  exec::LongRequests long_requests_{random_bits()};
  AccountLoads account_loads_;
  Lifelines lifelines_;  ///< of all connections: outlives whatever has one
  Bell bell_;
  Logins logins_;
  Handshakes handshakes_;
  Acceptor::Workers workers_;
  std::unique_ptr<Spread> read_spread_;  ///< nullptr: the number of read workers stays as it is
  Ticker ticker_{workers_, bell_, [this] { return look_at_spread(); }};
  std::unique_ptr<ContainerWatch> container_watch_;  ///< nullptr where there are no containers
  std::unique_ptr<Acceptor> acceptor_;
};

Server::Server(engine::Engine& engine, Log& log, Clock& clock, tls::Sessions* tls_sessions)
    : impl_(std::make_unique<Impl>(engine, log, clock, tls_sessions)) {}
Server::~Server() = default;
bool Server::start(const Config& config, std::string& failure) { return impl_->start(config, failure); }
void Server::stop() { impl_->stop(); }
void Server::reconfigure(const Settings& settings) { impl_->reconfigure(settings); }
uint32_t Server::port(std::string_view door) const { return impl_->port(door); }
uint64_t Server::counter(Counter counter) const { return impl_->counter(counter); }
uint64_t Server::connections_read() const { return impl_->connections(Intent::read); }
uint64_t Server::connections_write() const { return impl_->connections(Intent::write); }
uint64_t Server::connections_tls() const { return impl_->connections_tls(); }
uint64_t Server::threads() const { return impl_->threads(); }
uint64_t Server::idle_threads() const { return impl_->idle_threads(); }
bool Server::read_connections(ConnectionsRead& read, std::vector<ConnectionFigures>& figures) const {
  return impl_->read_connections(read, figures);
}
exec::TableStatistics& Server::statistics() const { return impl_->statistics(); }
bool Server::has_connection(uint64_t number) const { return impl_->has_connection(number); }
bool Server::kill_connection(uint64_t number) { return impl_->kill_connection(number); }

}  // namespace rowsocket::server
