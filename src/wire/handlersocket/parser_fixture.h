// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: reads each line three ways - whole, one byte more at a time, and ending at a page that may not
// be touched - and checks that the outcome is the same. The notation of lines and requests is that of
// test_vocabulary.h.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/limits.h"
#include "wire/handlersocket/parser.h"
#include "wire/handlersocket/test_vocabulary.h"

namespace rowsocket::wire::handlersocket::test {

/// Bytes whose last one stands right before a page that traps every access.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::string_view bytes) {
    const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t payload_bytes = (bytes.size() + page_bytes) / page_bytes * page_bytes;
    map_bytes_ = payload_bytes + page_bytes;
    map_ = static_cast<char*>(
        mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(map_, MAP_FAILED);
    EXPECT_EQ(mprotect(map_ + payload_bytes, page_bytes, PROT_NONE), 0);
    view_ = {map_ + payload_bytes - bytes.size(), bytes.size()};
    bytes.copy(map_ + payload_bytes - bytes.size(), bytes.size());
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(map_, map_bytes_); }

  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  char* map_;
  size_t map_bytes_;
  std::string_view view_;
};

class ParserTest : public testing::Test {
 protected:
  /// The request of one readable line, without its `$`.
  std::string read(std::string_view readable) { return read_bytes(bytes_of(readable) + "\n"); }

  /// The request of one line, read in all three ways.
  std::string read_bytes(const std::string& line) {
    const std::string whole = parse_once(line, line.size());
    size_t scanned_bytes = 0;
    for (size_t size = 0; size < line.size(); ++size) {
      const GuardedBytes prefix(std::string_view(line).substr(0, size));
      EXPECT_EQ(parse(prefix.view(), scanned_bytes).status, Parsed::Status::need_more)
          << size << " bytes of " << printable(line);
      EXPECT_EQ(scanned_bytes, size);
    }
    const GuardedBytes guarded(line);
    EXPECT_EQ(parse_once(guarded.view(), line.size(), scanned_bytes), whole);
    EXPECT_EQ(parse_once(line + "5 = 1 surplus\n\n", line.size()), whole) << "another request follows";
    return whole;
  }

  std::string parse_once(std::string_view input, size_t line_bytes, size_t scanned_bytes = 0) {
    const Parsed parsed = parse(input, scanned_bytes);
    EXPECT_EQ(parsed.status, Parsed::Status::request);
    EXPECT_EQ(parsed.consumed_bytes, line_bytes);
    EXPECT_EQ(scanned_bytes, 0U) << "a new request begins";
    return parsed.request == nullptr ? "no request" : words_of(*parsed.request);
  }

  Parsed parse(std::string_view input, size_t& scanned_bytes) {
    return parse_request(
        input,
        {.settings = settings, .arena = arena, .out = out, .state = nullptr, .scanned_bytes = scanned_bytes});
  }
  /// For bytes of which none were looked at before.
  Parsed parse(std::string_view input) {
    size_t scanned_bytes = 0;
    return parse(input, scanned_bytes);
  }

  Settings settings{.line_bytes_max = limits::line_bytes_default, .in_values_max = 100, .id_max = 64};
  Arena arena;
  Buffer out;
};

}  // namespace rowsocket::wire::handlersocket::test
