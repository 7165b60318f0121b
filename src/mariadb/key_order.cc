// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>

#include "mariadb/diagnostics.h"
#include "mariadb/key_order.h"
#include "mariadb/key_part.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {
namespace {

/// Of a part in a key image, NULL's byte in front included: a text takes no more than it has.
size_t used_bytes(const KeyPart& part, const uchar* image) {
  const size_t null_bytes = part.is_nullable ? HA_KEY_NULL_LENGTH : 0;
  if ((part.info->key_part_flag & (HA_VAR_LENGTH_PART | HA_BLOB_PART)) == 0) {
    return part.info->store_length;
  }
  return null_bytes + HA_KEY_BLOB_LENGTH + uint2korr(image + null_bytes);
}

/// The parts of keys, one right behind the other.
class Keys {
 public:
  /// The first parts of the binding's index, as many as the rows give values for.
  Keys(THD* thd, const Binding& binding, size_t value_count) : thd_(thd) {
    parts_ = std::span(binding.key_parts).first(std::min(binding.key_parts.size(), value_count));
    while (!parts_.empty() && (parts_.back().field->flags & VERS_ROW_END) != 0) {
      parts_ = parts_.first(parts_.size() - 1);  // the server added it
    }
  }

  /// nullptr: no row can have such a key, or memory is refused.
  [[nodiscard]] const uchar* make(TABLE* table, const KEY* key, std::span<const Value> values, bool raw,
                                  uchar* image) const {
    size_t bytes = 0;
    for (size_t number = 0; number < parts_.size(); ++number) {
      Error error;
      uchar* const place = image + parts_[number].key_offset;
      if (write_key_part(thd_, table, key, parts_[number], values[number], raw, place, error) !=
              sql_values::Fit::exact ||
          !error.ok()) {
        return nullptr;
      }
      bytes += used_bytes(parts_[number], place);
    }
    uchar* const made = allocate_bytes(thd_, bytes);
    uchar* to = made;
    for (size_t number = 0; made != nullptr && number < parts_.size(); ++number) {
      const uchar* const place = image + parts_[number].key_offset;
      const size_t used = used_bytes(parts_[number], place);
      std::memcpy(to, place, used);
      to += used;
    }
    return made;
  }

  [[nodiscard]] bool is_less(const uchar* left, const uchar* right) const {
    for (const KeyPart& part : parts_) {
      const bool is_null = part.is_nullable && *left != 0;
      if (part.is_nullable && *left != *right) {
        return is_null;
      }
      const size_t null_bytes = part.is_nullable ? HA_KEY_NULL_LENGTH : 0;
      const int order = is_null ? 0 : part.info->field->key_cmp(left + null_bytes, right + null_bytes);
      if (order != 0) {
        return (order < 0) != part.is_descending;
      }
      left += used_bytes(part, left);
      right += used_bytes(part, right);
    }
    return false;
  }

 private:
  THD* thd_;
  std::span<const KeyPart> parts_;
};

}  // namespace

void order_by_key(THD* thd, const Binding& binding, TABLE* table, std::span<const Value> values,
                  size_t value_count, bool raw, std::span<uint32_t> order) {
  if (binding.key->algorithm == HA_KEY_ALG_LONG_HASH) {
    return;  // its order is that of hashes
  }
  const Keys keys(thd, binding, value_count);
  auto* const image = allocate_bytes(thd, binding.key->key_length + 8);  // as much as a bound of a walk has
  auto** const made = reinterpret_cast<const uchar**>(allocate_bytes(thd, order.size() * sizeof(uchar*)));
  if (image == nullptr || made == nullptr) {
    return;
  }
  for (size_t row = 0; row < order.size(); ++row) {
    made[row] = keys.make(table, binding.key, values.subspan(row * value_count, value_count), raw, image);
    if (made[row] == nullptr) {
      clear_diagnostics(thd);  // the row says it when it is inserted
      return;
    }
  }
  std::stable_sort(order.begin(), order.end(), [&keys, made](uint32_t left, uint32_t right) {
    return keys.is_less(made[left], made[right]);
  });
}

}  // namespace rowsocket::mariadb
