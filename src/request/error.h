// SPDX-License-Identifier: GPL-2.0-only
//
// What can go wrong with a request, in no protocol's words and no server's numbers. A protocol maps the code
// to its own reply; the detail is for people.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "request/error_codes.h"

namespace rowsocket {

enum class ErrorCode : uint8_t {
  none,
#define ROWSOCKET_ERROR(name, counter, explanation) name,
  ROWSOCKET_ERRORS
#undef ROWSOCKET_ERROR
      count_  ///< how many codes there are; not a code
};

/// Lower-case name of a code, for logs and tests.
[[nodiscard]] std::string_view error_name(ErrorCode code);
/// One line for people; empty where the code says it all.
[[nodiscard]] std::string_view explanation(ErrorCode code);

/// Why something failed, as far as the reason decides what is done next, or what a protocol answers. The
/// engine sets the reason. Numbers are for clients only.
enum class Reason : uint8_t {
  none,        ///< it fails again when it is tried again
  row_locked,  ///< another transaction has the row; trying again may help
  conflict,   ///< another transaction was preferred (a deadlock, a failed certification), or one on a table's
              ///< lock
  denied,     ///< the client's account has no grant for it
  too_large,  ///< the transaction grew beyond what the host allows; parts of it may not
  duplicate,  ///< a unique key has the row already
  out_of_range,    ///< a sum is more, or less, than its column can hold
  no_number,       ///< what is to be added, or what it is to be added to, is no number
  read_only,       ///< the host takes no changes now
  no_thread,       ///< it takes long, and keeps others waiting: it is to begin again later
  unknown_outcome  ///< it may have been done, and may have not: no error may be told, so there is no reply
};

/// It is about the request itself: the request fails again when it is tried again.
constexpr bool fails_again(Reason reason) {
  switch (reason) {
    case Reason::none:
    case Reason::denied:
    case Reason::duplicate:
    case Reason::out_of_range:
    case Reason::no_number:
    case Reason::read_only:
      return true;
    case Reason::row_locked:
    case Reason::conflict:
    case Reason::too_large:
    case Reason::no_thread:
    case Reason::unknown_outcome:
      return false;
  }
  return false;
}

/// The outcome of something that can fail. `code == none` is success.
///
/// Every request makes and moves some of these, and nearly all are successes. So the detail is apart: without
/// one an error takes no memory of its own. Where memory is refused an error has no detail: to say what went
/// wrong never fails itself.
class [[nodiscard]] Error {
 public:
  ErrorCode code = ErrorCode::none;
  Reason reason = Reason::none;
  int number = 0;  ///< for `engine` and `sql`: the host's own

  Error() = default;
  Error(ErrorCode error_code, int error_number = 0) : code(error_code), number(error_number) {}
  Error(ErrorCode error_code, std::string_view detail) noexcept : Error(error_code, 0, detail) {}
  Error(ErrorCode error_code, int error_number, std::string_view detail) noexcept;
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;
  Error(const Error& other) noexcept;
  Error& operator=(const Error& other) noexcept;
  ~Error() = default;

  /// One line for people; may be empty.
  [[nodiscard]] std::string_view detail() const { return detail_ == nullptr ? std::string_view() : *detail_; }
  void set_detail(std::string_view text) noexcept;

  /// The same error, for this reason.
  Error&& because(Reason why) && {
    reason = why;
    return std::move(*this);
  }

  [[nodiscard]] bool ok() const { return code == ErrorCode::none; }

 private:
  std::unique_ptr<const std::string> detail_;  ///< nullptr: empty
};

/// An account lacks a grant: `what` was denied to it, on `object` (a table of this name, a column of it).
[[nodiscard]] Error denied(int number, std::string_view what, std::string_view object) noexcept;
/// What a client is told of an error that named no table itself, where it may have no right on the table: the
/// detail without the object that was denied.
[[nodiscard]] std::string_view detail_without_object(const Error& error);

}  // namespace rowsocket
