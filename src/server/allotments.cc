// SPDX-License-Identifier: GPL-2.0-only
#include "server/allotments.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace rowsocket::server {

using State = ClientConnection::State;

// ---- one account

Allotment::Allotment(Allotments& all, std::shared_ptr<AccountLoad> of_account,
                     std::shared_ptr<AccountLoad> joined, Inbox& worker, std::atomic<bool>& must_close)
    : all_(all), load_(std::move(of_account)), joined_(std::move(joined)), part_(worker, must_close) {
  load_->add_part(part_);
}

Allotment::~Allotment() {
  load_->remove_part(part_);
  load_->stop_waiting(part_.inbox);
  load_->add_bytes(0, published_bytes_);
  load_->give_back_requests(taken_);
}

bool Allotment::let_in(ClientConnection& connection, uint32_t count_max) {
  connection.membership.seat = (joined_ == nullptr ? load_ : joined_)->take_seat(count_max);
  if (connection.membership.seat.load() == nullptr) {
    return false;
  }
  all_.follow_account(connection);  // outsiders without the last of them are gone then
  return true;
}

bool Allotment::has_place(ClientConnection& connection, uint32_t count_max) {
  if (joined_ != nullptr) [[unlikely]] {
    return true;  // of an outsider, what is asked is refused
  }
  if (connection.membership.asked_count == connection.membership.place_count) {
    if (first_waiting_ != nullptr || !take_place(count_max)) {
      return false;
    }
    ++connection.membership.place_count;
  }
  ++connection.membership.asked_count;
  return true;
}

bool Allotment::take_place(uint32_t count_max) {
  if (used_ == taken_ && !take_some(count_max)) {
    return false;
  }
  ++used_;
  return true;
}

/// Of the requests that all workers have together.
bool Allotment::take_some(uint32_t count_max) {
  try {
    const uint32_t count = load_->take_requests(count_max, part_.inbox);
    taken_ += count;
    waits_for_others_ = count == 0;
    return count > 0;
  } catch (const std::exception&) {
    return false;  // no memory to wait in line: it is tried again in the next turn
  }
}

void Allotment::free_places(ClientConnection& connection, uint32_t kept) {
  const uint32_t count = std::min(kept, connection.membership.place_count);
  used_ -= connection.membership.place_count - count;
  connection.membership.place_count = count;
}

/// What the turn did not need is the other workers'. True if a connection that waits may go on: some are left
/// for it then, if the other workers do not come first.
bool Allotment::end_turn(uint32_t count_max) {
  if (const uint32_t spare = taken_ - used_; spare > 0) {
    taken_ = used_;
    load_->give_back_requests(spare);
  }
  if (first_waiting_ != nullptr) {
    return count_max == 0 || take_some(count_max);
  }
  if (std::exchange(waits_for_others_, false)) {
    load_->stop_waiting(part_.inbox);
  }
  return false;
}

/// Behind those that wait already.
void Allotment::hold_back(ClientConnection& connection) {
  connection.membership.waits_before = last_waiting_;
  connection.membership.waits_behind = nullptr;
  (last_waiting_ != nullptr ? last_waiting_->membership.waits_behind : first_waiting_) = &connection;
  last_waiting_ = &connection;
  connection.membership.is_held_back = true;
}

void Allotment::let_go(ClientConnection& connection) {
  ClientConnection* const before = connection.membership.waits_before;
  ClientConnection* const behind = connection.membership.waits_behind;
  (before != nullptr ? before->membership.waits_behind : first_waiting_) = behind;
  (behind != nullptr ? behind->membership.waits_before : last_waiting_) = before;
  if (next_looked_at_ == &connection) {
    next_looked_at_ = behind;
  }
  connection.membership.is_held_back = false;
}

void Allotment::publish_bytes() {
  const Holder* const largest = holders_.largest();
  const size_t largest_bytes = largest == nullptr ? 0 : largest->ranked_bytes;
  // Another worker that sees more bytes in the sum has to see who holds them, or it closes one of its own.
  if (largest_bytes > part_.largest_bytes.load(std::memory_order_relaxed)) {
    part_.largest_bytes.store(largest_bytes, std::memory_order_relaxed);
  }
  load_->add_bytes(held_bytes_, std::exchange(published_bytes_, held_bytes_));
  part_.largest_bytes.store(largest_bytes, std::memory_order_release);
}

// ---- whose a connection is

bool Allotments::use_settings(const Settings& settings) {
  const bool has_other_bytes = settings.account_bytes_max != 0 && settings.account_bytes_max != bytes_max_;
  requests_max_ = settings.account_requests_max;
  bytes_max_ = settings.account_bytes_max;
  const bool is_another = anonymous_account_ != settings.anonymous_account;
  if (is_another) {
    anonymous_account_ = settings.anonymous_account;
    anonymous_ = nullptr;
    outsiders_ = nullptr;
  }
  for (const auto& [name, allotment] : all_) {
    if (has_other_bytes) {
      note_bytes(*allotment);
    }
  }
  some_may_go_on_ = some_wait();
  return is_another;
}

Allotment& Allotments::of(const std::string& account) {
  const auto known = all_.find(account);
  return known != all_.end() ? *known->second : add(account, nullptr);
}

Allotment& Allotments::add(const std::string& name, std::shared_ptr<AccountLoad> joined) {
  const size_t room = 2 * (all_.size() + 1);
  holders_.reserve(room);
  busy_.reserve(room);
  changed_.reserve(room);
  auto allotment =
      std::make_unique<Allotment>(*this, loads_.of(name), std::move(joined), worker_, some_must_close_);
  return *all_.emplace(name, std::move(allotment)).first->second;
}

/// In the list, outsiders have a name that no account has.
Allotment& Allotments::of_nameless(const ClientConnection& connection) {
  if (outsiders_ == nullptr) {
    outsiders_ = &add(std::string(1, '\0') + anonymous_account_, loads_.of(anonymous_account_));
  }
  if (connection.membership.seat.load() != outsiders_->joined_.get()) {
    return *outsiders_;
  }
  if (anonymous_ == nullptr) {
    anonymous_ = &of(anonymous_account_);
  }
  return *anonymous_;
}

void Allotments::place(ClientConnection& connection) {
  const auto& identity = connection.client.account.identity();
  Allotment& allotment = identity == nullptr ? of_nameless(connection) : of(identity->account_name());
  if (connection.membership.allotment != &allotment) {
    allotment.holders_.make_room(allotment.connection_count_ + 1);
    move(connection, allotment);
    connection.client.account.set_barred(false);  // that was another account's
  }
  connection.membership.placed_as = connection.client.account.number();
  if (connection.membership.seat.load() != &allotment.load()) {
    connection.membership.seat = Seat();
  }
}

void Allotments::move(ClientConnection& connection, Allotment& to) {
  const size_t bytes = connection.shown.held_bytes;
  const bool waits = connection.membership.is_held_back;
  if (Allotment* const before = connection.membership.allotment; before != nullptr) {
    rank(connection, 0);
    before->free_places(connection, 0);
    stop_waiting(connection);
    if (--before->connection_count_ == 0) {
      forget(*before);
    }
  }
  connection.membership.allotment = &to;
  ++to.connection_count_;
  if (bytes > 0) {
    rank(connection, bytes);
  }
  if (waits) {
    hold_back(connection);
  }
}

void Allotments::end_turn_of(ClientConnection& connection) {
  if (connection.membership.place_count > 0 || connection.state == State::held_back) [[unlikely]] {
    note_use(connection);
    // Behind replies that are not read nothing goes on, for as long as the client likes.
    const bool goes_on = (connection.state == State::parked || connection.state == State::unreached) &&
                         !connection.stream.has_output();
    connection.membership.allotment->free_places(connection, goes_on ? 1 : 0);
  }
  follow_account(connection);
}

void Allotments::follow_account(ClientConnection& connection) {
  const Allotment* const nameless = connection.membership.seat.load() == nullptr ? outsiders_ : anonymous_;
  const bool is_placed =
      connection.membership.placed_as == connection.client.account.number() &&
      (connection.client.account.identity() != nullptr || connection.membership.allotment == nameless);
  if (!is_placed) [[unlikely]] {
    try {
      place(connection);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // No memory: it is of the account that it was of, until its next turn is over.
    }
  }
}

void Allotments::close(ClientConnection& connection) {
  note_use(connection);
  rank(connection, 0);
  stop_waiting(connection);
  connection.membership.allotment->free_places(connection, 0);
}

void Allotments::remove(ClientConnection& connection) {
  Allotment* const allotment = std::exchange(connection.membership.allotment, nullptr);
  if (--allotment->connection_count_ == 0) {
    forget(*allotment);
  }
}

/// The last of its connections is gone.
void Allotments::forget(Allotment& allotment) {
  if (&allotment == anonymous_) {
    anonymous_ = nullptr;
  }
  if (&allotment == outsiders_) {
    outsiders_ = nullptr;
  }
  holders_.rank(allotment, 0);
  std::erase(busy_, &allotment);
  std::erase(changed_, &allotment);
  std::erase_if(all_, [&](const auto& entry) { return entry.second.get() == &allotment; });
}

// ---- requests

/// Of a connection that another thread has, nothing may be read that this one writes.
void Allotments::note_use(ClientConnection& connection) {
  Allotment& allotment = *connection.membership.allotment;
  if (!std::exchange(allotment.is_busy_, true)) {
    busy_.push_back(&allotment);
  }
}

void Allotments::hold_back(ClientConnection& connection) {
  note_use(connection);
  connection.membership.allotment->hold_back(connection);
  ++waiting_count_;
  counters_.add(Counter::requests_held_back);
}

void Allotments::stop_waiting(ClientConnection& connection) {
  if (connection.membership.is_held_back) {
    connection.membership.allotment->let_go(connection);
    --waiting_count_;
  }
}

/// With the place that it will use first.
ClientConnection* Allotments::next_with_place() {
  for (Allotment* const allotment : busy_) {
    ClientConnection* const first = allotment->first_waiting_;
    if (first == nullptr || (requests_max_ != 0 && !allotment->take_place(requests_max_))) {
      continue;
    }
    stop_waiting(*first);
    first->membership.place_count += requests_max_ != 0 ? 1 : 0;
    return first;
  }
  return nullptr;
}

void Allotments::end_turn() {
  for (size_t number = busy_.size(); number-- > 0;) {
    Allotment& allotment = *busy_[number];
    some_may_go_on_ |= allotment.end_turn(requests_max_);
    if (allotment.taken_ == 0 && allotment.first_waiting_ == nullptr) {
      allotment.is_busy_ = false;
      busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(number));
    }
  }
}

ClientConnection* Allotments::next_to_look_at(Allotment& allotment) {
  ClientConnection* const next =
      allotment.next_looked_at_ != nullptr ? allotment.next_looked_at_ : allotment.first_waiting_;
  if (next != nullptr) {
    allotment.next_looked_at_ = next->membership.waits_behind;
  }
  return next;
}

// ---- bytes

void Allotments::rank(ClientConnection& connection, size_t bytes) {
  Allotment& allotment = *connection.membership.allotment;
  allotment.held_bytes_ += bytes - connection.ranked_bytes;
  connection.shown.held_bytes = bytes;
  allotment.holders_.rank(connection, bytes);
  rank(allotment);
  note_bytes(allotment);
}

void Allotments::pass_over(ClientConnection& connection) {
  Allotment& allotment = *connection.membership.allotment;
  allotment.held_bytes_ -= connection.ranked_bytes;
  allotment.holders_.rank(connection, 0);
  rank(allotment);
  note_bytes(allotment);
}

void Allotments::note_bytes(Allotment& allotment) {
  if (bytes_max_ != 0 && allotment.joined_ == nullptr) [[unlikely]] {
    note_change(allotment);
  }
}

void Allotments::rank(Allotment& allotment) {
  const Holder* const largest = allotment.holders_.largest();
  holders_.rank(allotment, largest == nullptr ? 0 : largest->ranked_bytes);
}

ClientConnection* Allotments::largest_holder() const {
  const auto* const allotment = static_cast<const Allotment*>(holders_.largest());
  return allotment == nullptr ? nullptr : static_cast<ClientConnection*>(allotment->holders_.largest());
}

void Allotments::note_change(Allotment& allotment) {
  if (!std::exchange(allotment.has_changed_, true)) {
    changed_.push_back(&allotment);
  }
}

/// Connections that other threads have are looked at again when they are back.
ClientConnection* Allotments::holder_of_too_much() {
  if (some_must_close_.load(std::memory_order_relaxed)) [[unlikely]] {
    some_must_close_.store(false);
    for (const auto& [name, allotment] : all_) {
      if (allotment->part_.must_close.exchange(false)) {
        note_change(*allotment);
      }
    }
  }
  while (!changed_.empty()) {
    Allotment& allotment = *changed_.back();
    allotment.publish_bytes();
    const auto is_too_much = [&] { return bytes_max_ != 0 && allotment.load().holds_more_than(bytes_max_); };
    // Again, since another worker's largest may just have gone, and its bytes with it.
    if (is_too_much() && allotment.load().has_largest(allotment.part_) && is_too_much()) {
      auto* const largest = static_cast<ClientConnection*>(allotment.holders_.largest());
      if (largest != nullptr && !largest->is_away) {
        return largest;
      }
      if (largest != nullptr) {
        pass_over(*largest);
        continue;
      }
    }
    allotment.has_changed_ = false;
    changed_.pop_back();
  }
  return nullptr;
}

}  // namespace rowsocket::server
