// SPDX-License-Identifier: GPL-2.0-only
//
// Connections that have requests for a later turn, whatever comes in meanwhile:
//
//   unreached ... the turn had no room for them: they come first in the next one
//   cut ......... they had their share of the turn: they come behind those
//   parked ...... their first request waits for a lock: they come when it is to be tried again, the one that
//                 is due first at first
//   resting ..... they come when their rest is over
//   behind_commit they come when a commit is over that goes on beside the loop
//
// One owner, one thread. Allocates in `reserve` only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/client_connection.h"

namespace rowsocket::server {

class CarriedOver {
 public:
  /// From now on there is room for so many. May throw std::bad_alloc.
  void reserve(size_t connection_count) {
    for (List* list : {&unreached_, &cut_, &behind_commit_, &parked_}) {
      list->reserve(connection_count);
    }
  }

  /// By its state, which is one of the five.
  void add(ClientConnection& connection) {
    switch (connection.state) {
      case ClientConnection::State::unreached:
        unreached_.push_back(&connection);
        break;
      case ClientConnection::State::cut:
        cut_.push_back(&connection);
        break;
      case ClientConnection::State::behind_commit:
        behind_commit_.push_back(&connection);
        break;
      case ClientConnection::State::parked:
      case ClientConnection::State::resting:
        park(connection);
        break;
      default:
        break;
    }
  }

  /// Some go on in the next turn.
  [[nodiscard]] bool some_go_on() const { return !unreached_.empty() || !cut_.empty(); }
  /// Calls `go_on` for them. They are not carried over any more. Of those that were cut, those for which
  /// `may_go_on` is false stay, and come first the next time.
  template <typename GoOn, typename MayGoOn>
  void take_ready(const GoOn& go_on, const MayGoOn& may_go_on) {
    std::for_each(unreached_.begin(), unreached_.end(), [&go_on](ClientConnection* one) { go_on(*one); });
    unreached_.clear();
    auto stays = cut_.begin();
    for (ClientConnection* const one : cut_) {
      if (may_go_on(std::as_const(*one))) {
        go_on(*one);
      } else {
        *stays++ = one;
      }
    }
    cut_.erase(stays, cut_.end());
  }

  [[nodiscard]] bool some_wait_for_commit() const { return !behind_commit_.empty(); }
  /// Those of them for which `is_over` is true are not carried over any more.
  template <typename IsOver>
  void drop_behind_commit(const IsOver& is_over) {
    std::erase_if(behind_commit_, [&is_over](ClientConnection* one) { return is_over(*one); });
  }
  /// Calls `go_on` for them. They are not carried over any more.
  template <typename GoOn>
  void take_behind_commit(const GoOn& go_on) {
    std::for_each(behind_commit_.begin(), behind_commit_.end(),
                  [&go_on](ClientConnection* one) { go_on(*one); });
    behind_commit_.clear();
  }

  /// When the next parked or resting one is due; UINT64_MAX if there is none.
  [[nodiscard]] uint64_t due_ms() const {
    return parked_.empty() ? UINT64_MAX : parked_.front()->retry_at_ms;
  }
  /// Calls `retry` for those of them that are due. They are not carried over any more.
  template <typename Retry>
  void take_due(uint64_t now_ms, const Retry& retry) {
    if (due_ms() > now_ms) [[likely]] {
      return;
    }
    const auto end = std::find_if(parked_.begin(), parked_.end(),
                                  [now_ms](const auto* one) { return one->retry_at_ms > now_ms; });
    std::for_each(parked_.begin(), end, [&retry](ClientConnection* one) { retry(*one); });
    parked_.erase(parked_.begin(), end);
  }

  void forget_closed() {
    for (List* list : {&unreached_, &cut_, &behind_commit_, &parked_}) {
      std::erase_if(*list, [](const ClientConnection* one) { return one->is_closed(); });
    }
  }
  /// One that is not parked.
  void forget(ClientConnection& connection) {
    for (List* list : {&unreached_, &cut_}) {
      std::erase(*list, &connection);
    }
  }

 private:
  using List = std::vector<ClientConnection*>;

  /// A connection that another thread had may be due before others.
  void park(ClientConnection& connection) {
    const auto behind = std::upper_bound(
        parked_.begin(), parked_.end(), connection.retry_at_ms,
        [](uint64_t at_ms, const ClientConnection* one) { return at_ms < one->retry_at_ms; });
    parked_.insert(behind, &connection);
  }

  List unreached_;
  List cut_;
  List behind_commit_;
  List parked_;  ///< in the order in which they are due
};

}  // namespace rowsocket::server
