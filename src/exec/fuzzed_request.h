// SPDX-License-Identifier: GPL-2.0-only
//
// For executor_fuzz.cc: any requests at all, as if a wire protocol checked next to nothing. Bytes become
// requests, alone and in groups, with wild ids, counts, key parts, ends, clauses and values. They lie in an
// arena with their replies.
//
// What every parser promises is kept, since exec relies on it: rows of an insert have as many values each, a
// list of whole keys holds whole keys, positions are in a row, a column is assigned once, an insert of many
// rows has a reply that tells as many outcomes, and a group holds no other group.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "exec/text_reply.h"
#include "request/request.h"

namespace rowsocket::exec {

/// Reads choices from the fuzzer's bytes; zeros when they are used up.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  uint8_t byte() {
    if (rest_.empty()) {
      return 0;
    }
    const auto first = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  /// Mostly small, sometimes the largest there is.
  uint64_t number() {
    const uint8_t choice = byte();
    return choice < 250 ? choice % 8 : UINT64_MAX - (choice - 250U);
  }
  bool coin() { return byte() % 2 == 1; }
  template <typename Enum>
  Enum choice(Enum last) {
    return static_cast<Enum>(byte() % (static_cast<int>(last) + 1));
  }
  template <typename Item, size_t count>
  Item one_of(const Item (&items)[count]) {
    return items[byte() % count];
  }
  Value value() {
    static constexpr std::string_view texts[] = {"0",
                                                 "1",
                                                 "2",
                                                 "3",
                                                 "-1",
                                                 "7",
                                                 "x",
                                                 "",
                                                 "9223372036854775807",
                                                 "-9223372036854775808",
                                                 "99999999999999999999",
                                                 "+3",
                                                 "-",
                                                 "a longer text than the column takes"};
    const uint8_t choice = byte();
    if (choice % 16 == 14) {
      return Value::now();
    }
    return choice % 16 == 15 ? Value() : Value(texts[choice % std::size(texts)]);
  }

 private:
  std::string_view rest_;
};

/// Makes requests of bytes, for one connection.
class Fuzzed {
 public:
  Fuzzed(Bytes& bytes, Arena& arena, Buffer& out) : bytes_(bytes), arena_(arena), out_(out) {}

  Request* request() {
    static constexpr RequestKind kinds[] = {
        RequestKind::refused,      RequestKind::open,  RequestKind::find,   RequestKind::insert,
        RequestKind::authenticate, RequestKind::group, RequestKind::nothing};
    return request(bytes_.one_of(kinds));
  }

 private:
  Request* request(RequestKind kind) {
    const ErrorCode mistake = bytes_.byte() == 255 ? ErrorCode::syntax : ErrorCode::none;
    Request* const made = make(kind);
    made->mistake = mistake;
    return made;
  }
  Request* make(RequestKind kind) {
    const auto id = static_cast<uint32_t>(bytes_.number());
    switch (kind) {
      case RequestKind::open:
        return open(id);
      case RequestKind::find:
        return find(id);
      case RequestKind::insert:
        return insert(id);
      case RequestKind::authenticate:
        return authenticate();
      case RequestKind::group:
        return group();
      case RequestKind::refused:
      case RequestKind::nothing:
        break;
    }
    auto* const request = arena_.make<Request>(kind);
    request->reply = arena_.make<TextLineReply>(out_);
    return request;
  }

  static constexpr std::string_view columns_[] = {"a,b,id", "id,a,b", "", "a", "b,b", ",", "missing", "a,"};

  SelectionNames names() {
    static constexpr std::string_view tables[] = {"t", "t", "t", "u", "missing", ""};
    static constexpr std::string_view indexes[] = {"", "by_a", "by_b", "0", "1", "9", "missing", "PRIMARY"};
    return {.database = "d",
            .table = bytes_.one_of(tables),
            .index = bytes_.one_of(indexes),
            .columns = bytes_.one_of(columns_),
            .filter_columns = bytes_.one_of(columns_)};
  }
  void choose_selection(SelectionName& selection) {
    const uint8_t choice = bytes_.byte();
    selection.has_columns = choice % 4 == 3;
    selection.columns = selection.has_columns ? bytes_.one_of(columns_) : "";
    if (choice % 8 == 4) {
      selection.names = arena_.make<SelectionNames>(names());
    }
  }
  std::span<const Value> values(size_t count) {
    const std::span<Value> all = arena_.array<Value>(count);
    for (Value& value : all) {
      value = bytes_.value();
    }
    return all;
  }
  std::span<const Filter> filters() {
    const std::span<Filter> all = arena_.array<Filter>(bytes_.byte() % 4);
    for (Filter& filter : all) {
      filter.mismatch = bytes_.choice(Mismatch::refuse);
      filter.comparison = bytes_.choice(Comparison::greater_or_unset);
      filter.filter_column = static_cast<uint32_t>(bytes_.number());
      filter.value = bytes_.value();
    }
    return all;
  }

  Request* open(uint32_t id) {
    auto* const open = arena_.make<Open>();
    open->id = id;
    open->names = names();
    open->reply = arena_.make<TextLineReply>(out_);
    return open;
  }

  Request* find(uint32_t id) {
    auto* const find = arena_.make<Find>();
    find->selection.id = id;
    choose_range(find->range);
    find->limit = bytes_.number();
    find->offset = bytes_.number();
    choose_list(find->list, find->range.key.size());
    find->filters = filters();
    choose_selection(find->selection);
    choose_change(find->change);
    find->tell = bytes_.choice(Tell::count);
    find->drops_surplus = bytes_.coin();
    if (find->change.kind != Change::Kind::assign && find->tell == Tell::rows_after) {
      find->tell = Tell::rows;
    }
    if (bytes_.coin()) {
      find->reply = arena_.make<TextFullReply>(out_);
    } else {
      find->reply = arena_.make<TextLineReply>(out_);
    }
    return find;
  }
  void choose_range(KeyRange& range) {
    range.key_operator = bytes_.choice(KeyOperator::starts_with);
    range.key = values(bytes_.byte() % 4);
    range.has_end = bytes_.coin();
    range.end_operator = bytes_.choice(KeyOperator::starts_with);
    range.end_key = values(bytes_.byte() % 4);
    range.reverse = bytes_.coin();
  }
  void choose_list(KeyList& list, size_t key_size) {
    list.is_given = bytes_.coin();
    list.holds_whole_keys = bytes_.coin();
    list.part = static_cast<uint32_t>(bytes_.number());
    list.row_limit_per_key = bytes_.number();
    list.values = values(bytes_.byte() % 5 * (list.holds_whole_keys ? key_size : 1));
  }
  void choose_change(Change& change) {
    change.kind = bytes_.choice(Change::Kind::remove);
    if (change.kind != Change::Kind::assign) {
      return;
    }
    change.keeps_signs = bytes_.coin();
    const std::span<Assignment> assignments = arena_.array<Assignment>(bytes_.byte() % 5);
    uint32_t column = 0;
    for (Assignment& assignment : assignments) {
      column += bytes_.byte() == 255 ? 4'000'000'000 / 5 : 0;
      assignment = {column++, bytes_.choice(Operation::prepend), bytes_.value()};
    }
    change.assignments = assignments;
  }

  Request* insert(uint32_t id) {
    auto* const insert = arena_.make<Insert>();
    insert->selection.id = id;
    const size_t value_count = bytes_.byte() % 5;
    const bool is_of_many_rows = bytes_.coin();
    insert->row_count = is_of_many_rows ? 1 + bytes_.byte() % 4 : 1;
    insert->rows_alone = is_of_many_rows && bytes_.coin();
    insert->values = values(value_count * insert->row_count);
    if (!is_of_many_rows) {
      insert->drops_surplus = bytes_.coin();
      insert->reply = arena_.make<TextInsertReply>(out_);
      return insert;
    }
    choose_selection(insert->selection);
    insert->on_duplicate = bytes_.choice(OnDuplicate::change);
    insert->duplicate_filters = filters();
    insert->tells_rows = bytes_.coin();
    if (insert->on_duplicate == OnDuplicate::change) {
      insert->duplicate_changes = duplicate_changes(value_count);
    }
    insert->reply = arena_.make<TextOutcomesReply>(out_);
    return insert;
  }
  std::span<const DuplicateChange> duplicate_changes(size_t value_count) {
    const std::span<DuplicateChange> changes = arena_.array<DuplicateChange>(value_count);
    uint32_t position = 0;
    for (DuplicateChange& change : changes) {
      change = {position++, bytes_.choice(Operation::prepend)};
    }
    return changes;
  }

  Request* authenticate() {
    auto* const authenticate = arena_.make<Authenticate>();
    authenticate->method = bytes_.choice(Authenticate::Method::account);
    authenticate->user = bytes_.value();
    authenticate->password = bytes_.value();
    authenticate->reply = arena_.make<TextLineReply>(out_);
    return authenticate;
  }

  Request* group() {
    static constexpr RequestKind kinds[] = {RequestKind::find, RequestKind::insert, RequestKind::find,
                                            RequestKind::refused, RequestKind::nothing};
    auto* const group = arena_.make<Group>();
    group->must_change = bytes_.coin();
    group->wants_gtid = bytes_.coin();
    const std::span<Request*> members = arena_.array<Request*>(bytes_.byte() % 5);
    for (Request*& member : members) {
      member = request(bytes_.one_of(kinds));
    }
    group->members = members;
    group->reply = arena_.make<TextGroupReply>(out_, false, members.size(), group->wants_gtid);
    return group;
  }

  Bytes& bytes_;
  Arena& arena_;
  Buffer& out_;
};

}  // namespace rowsocket::exec
