// SPDX-License-Identifier: GPL-2.0-only
//
// What clients of a session have named: an index of a table, and columns. Two clients that name the same
// share one selection. A selection belongs to the thread of its session. It may outlive the session, since
// clients hold it too.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/engine.h"
#include "mariadb/binding.h"
#include "mariadb/open_table.h"

namespace rowsocket::mariadb {

class Selection;

/// The selections that clients of a session have open, by name.
struct OpenedSelections {
  std::unordered_map<std::string, std::weak_ptr<Selection>> by_name;
  size_t held_bytes = 0;  ///< of all of them together

  /// nullptr if no client has one of this name open.
  [[nodiscard]] std::shared_ptr<Selection> find(const std::string& name) const;
};

/// A description with its bindings to the tables of the session: one for reads, one for writes.
class Selection final : public engine::Selection {
 public:
  explicit Selection(engine::SelectionDescription description) : engine::Selection(std::move(description)) {}
  ~Selection() override;
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  [[nodiscard]] bool column_types(engine::ColumnTypes& types, size_t bytes_max) const override {
    return read_.binding.column_types(types, bytes_max);
  }

  /// From here on `opened` knows the selection under this name, until no client has it open.
  static void enter(const std::shared_ptr<Selection>& selection,
                    const std::shared_ptr<OpenedSelections>& opened, std::string name);

  /// The selection as a request with one intent uses it.
  struct Side {
    std::shared_ptr<OpenTable> open;  ///< nullptr until a request has needed it
    Binding binding;                  ///< good while its generation is that of `open`
  };
  [[nodiscard]] Side& side(engine::Intent intent) { return intent == engine::Intent::read ? read_ : write_; }

 private:
  Side read_;
  Side write_;
  std::shared_ptr<OpenedSelections> opened_;
  const std::string* name_ = nullptr;  ///< in `opened_`
};

/// Write database and table as the server does where names have no case. False if one of them is no name.
[[nodiscard]] bool follow_naming_rules(engine::SelectionDescription& description);

/// Equal for equal descriptions only.
[[nodiscard]] std::string unique_name(const engine::SelectionDescription& description);

}  // namespace rowsocket::mariadb
