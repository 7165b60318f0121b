// SPDX-License-Identifier: GPL-2.0-only
#include "request/error.h"

#include <array>
#include <new>

namespace rowsocket {
namespace {

struct Row {
  std::string_view name;
  std::string_view explanation;
};

constexpr std::array<Row, static_cast<size_t>(ErrorCode::count_)> rows = {{{"none", {}},
#define ROWSOCKET_ERROR(name, counter, explanation) {#name, explanation},
                                                                           ROWSOCKET_ERRORS
#undef ROWSOCKET_ERROR
}};

constexpr std::string_view before_object = " for ";

}  // namespace

Error::Error(ErrorCode error_code, int error_number, std::string_view detail) noexcept
    : code(error_code), number(error_number) {
  set_detail(detail);
}

Error::Error(const Error& other) noexcept : code(other.code), reason(other.reason), number(other.number) {
  set_detail(other.detail());
}

Error& Error::operator=(const Error& other) noexcept {
  Error copy(other);
  return *this = std::move(copy);
}

void Error::set_detail(std::string_view text) noexcept {
  try {
    detail_ = text.empty() ? nullptr : std::make_unique<const std::string>(text);
  } catch (const std::bad_alloc&) {
    detail_ = nullptr;
  }
}

Error denied(int number, std::string_view what, std::string_view object) noexcept {
  std::string detail;
  try {
    detail.append(what).append(before_object).append(object);
  } catch (const std::bad_alloc&) {
    detail.clear();
  }
  return Error(ErrorCode::sql, number, detail).because(Reason::denied);
}

/// A name in front of the object may hold the same word: then less is told, never more.
std::string_view detail_without_object(const Error& error) {
  const std::string_view detail = error.detail();
  return error.reason == Reason::denied ? detail.substr(0, detail.find(before_object)) : detail;
}

std::string_view error_name(ErrorCode code) { return rows[static_cast<size_t>(code)].name; }

std::string_view explanation(ErrorCode code) { return rows[static_cast<size_t>(code)].explanation; }

}  // namespace rowsocket
