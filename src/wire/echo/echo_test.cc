// SPDX-License-Identifier: GPL-2.0-only
//
// That a protocol is a folder: its own lines, its own state of a connection, bytes that ask for nothing,
// requests without an answer, keys that are echoed, lengths that are known late.
#include "wire/echo/echo.h"

#include <gtest/gtest.h>

#include <string>

namespace rowsocket::wire::echo {
namespace {

class EchoTest : public testing::Test {
 protected:
  /// What all of `input` is read as, where it arrives in pieces of this size.
  std::string read(const std::string& input, size_t piece_bytes = 1000) {
    const auto state = protocol.new_state();
    std::string words;
    size_t begin = 0;
    size_t scanned_bytes = 0;
    for (size_t end = std::min(piece_bytes, input.size());; end = std::min(end + piece_bytes, input.size())) {
      while (begin < end) {
        const Parsed parsed =
            parse(std::string_view(input).substr(begin, end - begin), *state, scanned_bytes);
        if (parsed.status == Parsed::Status::need_more) {
          break;
        }
        scanned_bytes = 0;
        begin += parsed.consumed_bytes;
        words += words_of(parsed);
        if (parsed.status == Parsed::Status::fatal || parsed.status == Parsed::Status::hang_up) {
          return words;
        }
      }
      if (end == input.size()) {
        return words;
      }
    }
  }

  Parsed parse(std::string_view input, WireState& state, size_t& scanned_bytes) {
    return protocol.parse(
        input,
        {.settings = settings, .arena = arena, .out = out, .state = &state, .scanned_bytes = scanned_bytes});
  }

  /// The one request of a line.
  const Request& request_of(const std::string& line) {
    State state;
    size_t scanned_bytes = 0;
    const Parsed parsed = parse(line, state, scanned_bytes);
    EXPECT_EQ(parsed.status, Parsed::Status::request);
    EXPECT_EQ(parsed.consumed_bytes, line.size());
    return *parsed.request;
  }

  static std::string words_of(const Parsed& parsed) {
    switch (parsed.status) {
      case Parsed::Status::request:
        return words_of(*parsed.request);
      case Parsed::Status::fatal:
        return "fatal: " + std::string(error_name(parsed.error));
      case Parsed::Status::hang_up:
        return "hang up";
      default:
        return "";
    }
  }

  static std::string words_of(const Request& request) {
    if (request.mistake != ErrorCode::none) {
      return std::string(error_name(request.mistake)) + "; ";
    }
    if (request.kind == RequestKind::open) {
      const auto& open = static_cast<const Open&>(request);
      return "open " + std::to_string(open.id) + " " + std::string(open.names.table) + "; ";
    }
    const auto& find = static_cast<const Find&>(request);
    std::string words = find.change.kind == Change::Kind::remove ? "remove " : "find ";
    words += std::to_string(find.selection.id);
    for (const Value& key : find.list.is_given ? find.list.values : find.range.key) {
      words += " " + std::string(key.view());
    }
    return words + "; ";
  }

  /// Tells a reply of two rows, and that the key between them has none.
  static void tell_two_rows(Reply& reply) {
    ValueWriter values(reply.out(), reply.value_format(), reply.per_column());
    reply.begin_rows(2);
    for (const size_t key_number : {0, 1, 2}) {
      if (key_number == 1) {
        if (reply.tells_misses()) {
          reply.missed(key_number);
        }
      } else if (reply.tells_rows()) {
        reply.row_begins(key_number);
        values.begin_row();
        values.text(key_number == 0 ? "Ann" : "a longer name");
        values.null();
        reply.row_ends();
      }
    }
    reply.end_rows();
  }

  const Protocol& protocol = echo_protocol();
  Settings settings{.line_bytes_max = 64, .in_values_max = 3, .id_max = 8};
  Arena arena;
  Buffer out;
};

// --- Lines

TEST_F(EchoTest, ALineIsARequest) {
  EXPECT_EQ(read("OPEN 5 shop item id,name\n"), "open 5 item; ");
  EXPECT_EQ(read("GET 5 a\nMISSES 6 a b\nDROP 7 a\nDROP 0 a noreply\n"),
            "find 5 a; find 6 a b; remove 7 a; remove 0 a; ");
}

TEST_F(EchoTest, ALineThatIsWrongIsARequestToo) {
  EXPECT_EQ(read("OPEN 8 shop item id\nOPEN x shop item id\nOPEN 5 shop item\nOPEN 5 shop item id name\n"),
            "unknown_id; syntax; syntax; syntax; ");
  EXPECT_EQ(read("PUT 5 a\nGET x a\nGET 8 a\nGET 5\nGET 5 a b c d\nDROP 5 a b\nSKIP x\n"),
            "unknown_command; syntax; unknown_id; no_key_values; bad_in_list; syntax; syntax; ");
}

TEST_F(EchoTest, BytesThatAreSkippedAskForNothing) {
  EXPECT_EQ(read("SKIP 9\nGET 1 a\n\nGET 2 b\n"), "find 2 b; ");
  EXPECT_EQ(read("\n\nSKIP 0\nGET 2 b\n"), "find 2 b; ");
}

TEST_F(EchoTest, NothingIsReadBehindTheEnd) {
  EXPECT_EQ(read("GET 1 a\nQUIT\nGET 2 b\n"), "find 1 a; hang up");
}

TEST_F(EchoTest, ALineThatIsTooLongEndsTheStream) {
  EXPECT_EQ(read("GET 5 " + std::string(58, 'k') + "\n").substr(0, 6), "find 5");
  EXPECT_EQ(read("GET 5 " + std::string(59, 'k') + "\n"), "fatal: line_too_long");
  EXPECT_EQ(read("GET 5 " + std::string(80, 'k')), "fatal: line_too_long");
}

TEST_F(EchoTest, HowTheInputIsCutMakesNoDifference) {
  const std::string input = "GET 5 a b\n\nSKIP 20\nGET 1 no\nGET 2 neither\n!DROP 7 a noreply\nQUIT\n";
  const std::string whole = read(input);
  for (size_t piece_bytes = 1; piece_bytes < input.size(); ++piece_bytes) {
    EXPECT_EQ(read(input, piece_bytes), whole) << piece_bytes;
  }
}

TEST_F(EchoTest, EachConnectionSkipsItsOwnBytes) {
  State one;
  State other;
  size_t scanned_bytes = 0;
  EXPECT_EQ(parse("SKIP 100\n", one, scanned_bytes).status, Parsed::Status::nothing);
  EXPECT_EQ(parse("GET 1 a\n", one, scanned_bytes).status, Parsed::Status::nothing);
  EXPECT_EQ(parse("GET 1 a\n", other, scanned_bytes).status, Parsed::Status::request);
}

// --- Replies

TEST_F(EchoTest, ARowHasItsKeyAndTheLengthOfItsValuesInFront) {
  tell_two_rows(*request_of("GET 5 a b c\n").reply);
  EXPECT_EQ(out.view(), "ROW a 0000000006\n Ann -\nMISS b\nROW c 0000000016\n a longer name -\nEND\n");
}

TEST_F(EchoTest, LengthsAreRightBehindWhatWasAnsweredBefore) {
  out.append("what the connection was told before, and what of it is sent already");
  out.consume(20);
  const std::string before(out.view());
  tell_two_rows(*request_of("GET 5 a b c\n").reply);
  EXPECT_EQ(out.view().substr(before.size(), 17), "ROW a 0000000006\n");
}

TEST_F(EchoTest, KeysThatMissedAreCounted) {
  Reply& reply = *request_of("MISSES 5 a b c\n").reply;
  EXPECT_TRUE(reply.tells_misses());
  EXPECT_FALSE(reply.tells_rows());
  tell_two_rows(reply);
  EXPECT_EQ(out.view(), "1\n");
}

TEST_F(EchoTest, ARequestThatRunsAgainIsToldAnew) {
  for (const std::string line : {"GET 5 a b c\n", "MISSES 5 a b c\n"}) {
    Reply& reply = *request_of(line).reply;
    out.clear();
    tell_two_rows(reply);
    const std::string once(out.view());
    out.truncate(0);
    tell_two_rows(reply);
    EXPECT_EQ(out.view(), once);
  }
}

TEST_F(EchoTest, AReplyWithoutMemoryFailsTheBufferAndWritesNowhereElse) {
  for (const size_t bytes_max : {5, 10, 17, 20}) {
    out = Buffer(bytes_max);
    tell_two_rows(*request_of("GET 5 a b c\n").reply);
    EXPECT_TRUE(out.failed());
    EXPECT_LE(out.size(), bytes_max);
  }
}

TEST_F(EchoTest, AChangeIsAnsweredUnlessItIsSilent) {
  request_of("DROP 5 a\n").reply->changed({.rows_found = 1, .rows_matched = 1, .rows_changed = 1});
  request_of("DROP 5 a\n").reply->failed(ErrorCode::read_only);
  EXPECT_EQ(out.view(), "1\nERROR read_only\n");
  out.clear();
  request_of("DROP 5 a noreply\n").reply->changed({.rows_found = 1, .rows_matched = 1, .rows_changed = 1});
  request_of("DROP 5 a noreply\n").reply->failed(ErrorCode::read_only);
  EXPECT_TRUE(out.empty());
}

TEST_F(EchoTest, AStreamThatCanNotBeFollowedIsToldWhy) {
  protocol.refuse_stream(out, ErrorCode::line_too_long, settings);
  EXPECT_EQ(out.view(), "ERROR line_too_long\n");
}

}  // namespace
}  // namespace rowsocket::wire::echo
