// SPDX-License-Identifier: GPL-2.0-only
#include "wire/resp/container_rows.h"

#include <algorithm>

namespace rowsocket::wire::resp {

bool fill_row(const Scope& scope, const Key& key, std::string_view value, uint64_t expires_s,
              std::span<Value> row) {
  const Container& container = *key.container();
  std::copy(key.parts.begin(), key.parts.end(), row.begin());
  split_value(value, row.subspan(container.key_part_count, container.value_count));
  size_t at = container.key_part_count + container.value_count;
  bool is_whole = true;
  const auto add_number = [&](uint64_t number) {
    row[at] = number_value(scope, static_cast<int64_t>(number));
    is_whole = is_whole && !row[at++].is_null();
  };
  if (container.has_flags) {
    add_number(0);
  }
  if (RowShape(container).writes_cas) {
    add_number(scope.parsing.numbers == nullptr ? 1 : scope.parsing.numbers->next());
  }
  if (container.has_expiry) {
    add_number(expires_s);
  }
  return is_whole;
}

namespace {

/// Setting all columns behind the key, but perhaps the last, which is the expiry.
std::span<const DuplicateChange> set_all(const Scope& scope, const Container& container, bool but_expiry) {
  const RowShape shape(container);
  const uint32_t end = shape.size - (but_expiry && container.has_expiry ? 1 : 0);
  const auto changes = scope.arena().array<DuplicateChange>(end - shape.key_parts);
  for (uint32_t number = 0; number < changes.size(); ++number) {
    changes[number] = {.position = shape.key_parts + number};
  }
  return changes;
}

std::span<const DuplicateChange> combine(const Scope& scope, const Container& container,
                                         Operation operation) {
  const auto changes = scope.arena().array<DuplicateChange>(2);
  if (changes.empty()) {
    return {};
  }
  changes[0] = {.position = container.key_part_count, .operation = operation};
  changes[1] = {.position = container.cas_in_whole};
  return changes.first(RowShape(container).writes_cas ? 2 : 1);
}

/// What the insert does where the row is there. False where memory is refused.
bool set_duplicates(const Scope& scope, const Container& container, Existing existing, Operation operation,
                    Insert& insert) {
  if (existing == Existing::keep && !container.has_expiry) {
    insert.on_duplicate = OnDuplicate::keep;
    return true;
  }
  insert.on_duplicate = OnDuplicate::change;
  const auto all = set_all(scope, container, false);
  if (existing == Existing::keep) {
    insert.duplicate_changes = all;
    insert.duplicate_filters = expired(scope, container);
    return !all.empty() && !insert.duplicate_filters.empty();
  }
  insert.duplicate_changes = existing == Existing::replace   ? all
                             : existing == Existing::combine ? combine(scope, container, operation)
                                                             : set_all(scope, container, true);
  if (existing != Existing::replace && container.has_expiry) {
    insert.duplicate_filters = unexpired(scope, container);
    insert.mismatch_changes = all;
    if (insert.duplicate_filters.empty()) {
      return false;
    }
  }
  return !all.empty() && !insert.duplicate_changes.empty();
}

}  // namespace

Insert* make_insert(const Scope& scope, const Container& container, std::span<const Value> values,
                    Existing existing, Operation operation) {
  auto* const insert = scope.arena().make<Insert>();
  if (insert == nullptr || !set_duplicates(scope, container, existing, operation, *insert)) {
    return nullptr;
  }
  insert->selection.names = &container.whole;
  insert->names_row = true;
  insert->values = values;
  // A row has a key and a value at least. NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
  insert->row_count = static_cast<uint32_t>(values.size() / RowShape(container).size);
  return insert;
}

std::span<const Value> make_row(const Scope& scope, const Key& key, std::string_view value,
                                uint64_t expires_s) {
  const auto row = scope.arena().array<Value>(RowShape(*key.container()).size);
  return row.empty() || !fill_row(scope, key, value, expires_s, row) ? std::span<Value>() : row;
}

}  // namespace rowsocket::wire::resp
