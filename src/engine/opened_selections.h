// SPDX-License-Identifier: GPL-2.0-only
//
// The selections that clients have open: a list that sessions share, so that a client's requests can run in
// any of these sessions. Equal descriptions are one Selection. What a session resolves the names to is the
// session's own; it keeps that in a vector, at the selection's `slot`:
//
//   OpenedSelections ── of the sessions that serve the same clients
//     Selection ─────── a description; its slot is its own while a client has it open
//   SlotTable ───────── of one session: what the session remembers of each selection
//   KeptBytes ───────── of one session: how much memory that takes, as part of what all sessions keep
//
// A selection may outlive the list. Any thread may use the list and hold selections; a SlotTable and a
// KeptBytes belong to one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "engine/engine.h"

namespace rowsocket::engine {

class OpenedSelections : public std::enable_shared_from_this<OpenedSelections> {
 public:
  /// The selection of this description: the one that clients have open, or a new one. May throw
  /// std::bad_alloc.
  [[nodiscard]] std::shared_ptr<Selection> find_or_add(const SelectionDescription& description);

  /// How much memory they take together, each counted once, and with what sessions keep of them.
  [[nodiscard]] size_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }
  /// Above this, sessions forget what they keep of other selections before they keep something of one more.
  void set_held_bytes_max(size_t byte_count) { held_bytes_max_.store(byte_count, std::memory_order_relaxed); }
  [[nodiscard]] bool hold_too_much() const {
    return held_bytes() > held_bytes_max_.load(std::memory_order_relaxed);
  }
  /// Rises when a selection is gone: what sessions remember of it is of no use any more.
  [[nodiscard]] uint64_t gone_count() const { return gone_count_.load(std::memory_order_relaxed); }
  /// The serial of each selection, by its slot; 0 = the slot is free. May throw std::bad_alloc.
  [[nodiscard]] std::vector<uint64_t> serials() const;

 private:
  friend class Selection;
  friend class KeptBytes;
  void forget(const Selection& selection);
  void count_kept(size_t before, size_t after) {
    held_bytes_.fetch_add(after - before, std::memory_order_relaxed);  // less than 0 where it is less
  }

  struct Known {
    std::weak_ptr<Selection> selection;
    uint64_t serial = 0;
  };

  mutable Mutex mutex_;
  std::unordered_map<std::string, Known> by_key_ ROWSOCKET_GUARDED_BY(mutex_);
  std::vector<uint64_t> serials_ ROWSOCKET_GUARDED_BY(mutex_);
  std::vector<uint32_t> free_slots_ ROWSOCKET_GUARDED_BY(mutex_);  ///< has room for all slots
  uint64_t last_serial_ ROWSOCKET_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> held_bytes_{0};
  std::atomic<size_t> held_bytes_max_{static_cast<size_t>(-1)};
  std::atomic<uint64_t> gone_count_{0};
};

/// How much memory one session keeps of selections.
class KeptBytes {
 public:
  /// The list outlives it.
  explicit KeptBytes(OpenedSelections& opened) : opened_(opened) {}
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes&) = delete;

  [[nodiscard]] size_t total() const { return total_; }

  /// What is kept of one selection. It is not counted any more when it is destroyed.
  class Part {
   public:
    Part() = default;
    ~Part() { set(0); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    void count_in(KeptBytes& whole) { whole_ = &whole; }
    /// It is counted in something.
    void set(size_t byte_count) {
      if (whole_ != nullptr && byte_count != bytes_) {
        whole_->opened_.count_kept(bytes_, byte_count);
        whole_->total_ += byte_count - bytes_;
        bytes_ = byte_count;
      }
    }

   private:
    KeptBytes* whole_ = nullptr;
    size_t bytes_ = 0;
  };

 private:
  OpenedSelections& opened_;
  size_t total_ = 0;
};

/// The list that a session is to have.
[[nodiscard]] inline std::shared_ptr<OpenedSelections> selections_for(const SessionOptions& options) {
  return options.selections != nullptr ? options.selections : std::make_shared<OpenedSelections>();
}

/// What one session remembers of the selections in a list. `Entry` is made by default.
template <typename Entry>
class SlotTable {
 public:
  /// nullptr if nothing is remembered of it.
  [[nodiscard]] Entry* find(const Selection& selection) {
    if (selection.slot() >= slots_.size()) {
      return nullptr;
    }
    Slot& slot = slots_[selection.slot()];
    return slot.serial == selection.serial() ? slot.entry.get() : nullptr;
  }
  /// A new entry for it, in the place of a selection that is gone. May throw std::bad_alloc; then nothing has
  /// changed.
  Entry& add(const Selection& selection) {
    auto entry = std::make_unique<Entry>();
    if (selection.slot() >= slots_.size()) {
      slots_.resize(selection.slot() + 1);
    }
    Slot& slot = slots_[selection.slot()];
    slot = {selection.serial(), std::move(entry)};
    return *slot.entry;
  }
  /// Forget all but this selection's, if one is given.
  void forget_others(const Selection* wanted) {
    for (size_t number = 0; number < slots_.size(); ++number) {
      if (wanted == nullptr || number != wanted->slot()) {
        slots_[number] = {};
      }
    }
  }
  /// Forget what is remembered of selections that are gone. May throw std::bad_alloc; then nothing has
  /// changed.
  void forget_gone(const OpenedSelections& opened) {
    const uint64_t gone_count = opened.gone_count();
    if (gone_count == gone_count_seen_) {
      return;
    }
    const std::vector<uint64_t> serials = opened.serials();
    gone_count_seen_ = gone_count;
    for (size_t number = 0; number < slots_.size(); ++number) {
      Slot& slot = slots_[number];
      if (slot.entry != nullptr && (number >= serials.size() || serials[number] != slot.serial)) {
        slot = {};
      }
    }
  }

 private:
  struct Slot {
    uint64_t serial = 0;
    std::unique_ptr<Entry> entry;
  };
  std::vector<Slot> slots_;
  uint64_t gone_count_seen_ = 0;
};

}  // namespace rowsocket::engine
