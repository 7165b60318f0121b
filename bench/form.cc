// SPDX-License-Identifier: GPL-2.0-only
#include "bench/form.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace rowsocket::bench {

namespace {

constexpr size_t decimal_width_max = 20;
constexpr size_t binary_width_max = 8;

uint64_t number_of(const Field& field, const Numbers& numbers) {
  const uint64_t source = field.of == Source::key    ? numbers.keys[field.key]
                          : field.of == Source::tick ? numbers.tick
                                                     : numbers.connection;
  uint64_t number = source * field.multiply + field.add;
  number = field.divide == 1 ? number : number / field.divide;
  return field.modulo == 0 ? number : number % field.modulo;
}

/// Writes `field.width` bytes.
void put(const Field& field, const Numbers& numbers, char* out) {
  uint64_t number = number_of(field, numbers);
  if (field.binary) {
    for (size_t i = 0; i < field.width; ++i, number >>= 8) {
      out[i] = static_cast<char>(number);
    }
    return;
  }
  for (size_t i = field.width; i > 0; --i, number /= 10) {
    out[i - 1] = static_cast<char>('0' + number % 10);
  }
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

}  // namespace

Form::Form(std::string bytes, std::vector<Field> fields)
    : bytes_(std::move(bytes)), fields_(std::move(fields)) {
  size_t end = 0;
  for (const Field& field : fields_) {
    const size_t width_max = field.binary ? binary_width_max : decimal_width_max;
    if (field.at < end || field.at + field.width > bytes_.size() || field.width > width_max ||
        field.divide == 0) {
      throw std::runtime_error("a field at byte " + std::to_string(field.at) + " does not fit into its form");
    }
    end = field.at + field.width;
  }
}

void Form::write(const Numbers& numbers, std::string& out) const {
  const size_t begin = out.size();
  out += bytes_;
  for (const Field& field : fields_) {
    put(field, numbers, out.data() + begin + field.at);
  }
}

bool Form::take(const Numbers& numbers, std::string_view& received, Progress& progress) const {
  std::array<char, decimal_width_max> digits;
  while (progress.position < bytes_.size() && !received.empty()) {
    const Field* const field = progress.field < fields_.size() ? &fields_[progress.field] : nullptr;
    if (field != nullptr && field->of == Source::digits && progress.position == field->at) {
      if (is_digit(received.front())) {
        progress.saw_digit = true;
        received.remove_prefix(1);
        continue;
      }
      if (!progress.saw_digit) {
        return false;
      }
      ++progress.field;
      continue;
    }
    const bool in_field = field != nullptr && progress.position >= field->at;
    const char* right = bytes_.data() + progress.position;
    size_t size = (field == nullptr ? bytes_.size() : field->at) - progress.position;
    if (in_field) {
      const size_t done = progress.position - field->at;
      put(*field, numbers, digits.data());
      right = digits.data() + done;
      size = field->width - done;
    }
    const size_t arrived = std::min(size, received.size());
    if (std::memcmp(received.data(), right, arrived) != 0) {
      return false;
    }
    received.remove_prefix(arrived);
    progress.position += arrived;
    progress.field += in_field && arrived == size ? 1 : 0;
  }
  return true;
}

}  // namespace rowsocket::bench
