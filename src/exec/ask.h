// SPDX-License-Identifier: GPL-2.0-only
//
// A request in words, for exec's tests. It owns what the request views. When it is sent, it becomes a request
// with a reply in an arena, as a parser makes it.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/arena.h"
#include "engine/memory/memory_engine.h"
#include "exec/text_reply.h"
#include "request/request.h"

namespace rowsocket::exec {

using engine::memory::Cell;

class Ask {
 public:
  static Ask open(uint32_t id, std::string table, std::string index, std::string columns,
                  std::string filter_columns = "") {
    Ask ask{Open()};
    ask.as<Open>().id = id;
    ask.as<Open>().names =
        ask.keep_names(std::move(table), std::move(index), std::move(columns), std::move(filter_columns));
    return ask;
  }
  /// Of an open.
  Ask& tell_types() {
    as<Open>().tells_types = true;
    return *this;
  }
  static Ask find(uint32_t id, std::vector<Cell> key, KeyOperator key_operator = KeyOperator::equal) {
    Ask ask{Find()};
    ask.as<Find>().selection.id = id;
    ask.as<Find>().range.key_operator = key_operator;
    ask.as<Find>().range.key = ask.keep(std::move(key));
    return ask;
  }
  static Ask insert(uint32_t id, std::vector<Cell> values) {
    Ask ask{Insert()};
    ask.as<Insert>().selection.id = id;
    ask.as<Insert>().values = ask.keep(std::move(values));
    return ask;
  }
  /// `values` of `row_count` rows, one after the other.
  static Ask insert_rows(uint32_t id, uint32_t row_count, std::vector<Cell> values) {
    Ask ask = insert(id, std::move(values));
    ask.as<Insert>().row_count = row_count;
    ask.tells_outcomes_ = true;
    return ask;
  }
  static Ask group(std::vector<Ask> members) {
    Ask ask{Group()};
    ask.members_ = std::move(members);
    return ask;
  }
  static Ask authenticate(Cell secret, Authenticate::Method method = Authenticate::Method::port_secret) {
    Ask ask{Authenticate()};
    ask.as<Authenticate>().method = method;
    ask.as<Authenticate>().password = ask.keep(std::vector<Cell>{std::move(secret)}).front();
    return ask;
  }
  static Ask nothing() { return Ask{Request(RequestKind::nothing)}; }
  /// No request.
  static Ask refused(ErrorCode mistake) { return Ask{Request()}.malformed(mistake); }

  Ask malformed(ErrorCode mistake) && {
    base().mistake = mistake;
    return std::move(*this);
  }
  Ask for_readers() && {
    base().for_readers = true;
    return std::move(*this);
  }
  Ask changing_state() && {
    base().changes_state = true;
    return std::move(*this);
  }
  Ask limit(uint64_t rows, uint64_t offset = 0) && {
    as<Find>().limit = rows;
    as<Find>().offset = offset;
    return std::move(*this);
  }
  Ask in(uint32_t key_part, std::vector<Cell> values) && {
    as<Find>().list.is_given = true;
    as<Find>().list.part = key_part;
    as<Find>().list.values = keep(std::move(values));
    return std::move(*this);
  }
  Ask in_keys(std::vector<Cell> values) && {
    as<Find>().list.is_given = true;
    as<Find>().list.holds_whole_keys = true;
    as<Find>().list.values = keep(std::move(values));
    return std::move(*this);
  }
  Ask limit_per_value(uint64_t rows) && {
    as<Find>().list.row_limit_per_key = rows;
    return std::move(*this);
  }
  Ask to(KeyOperator end_operator, std::vector<Cell> key) && {
    as<Find>().range.has_end = true;
    as<Find>().range.end_operator = end_operator;
    as<Find>().range.end_key = keep(std::move(key));
    return std::move(*this);
  }
  Ask reverse() && {
    as<Find>().range.reverse = true;
    return std::move(*this);
  }
  Ask skip_unless(uint32_t column, Comparison comparison, Cell value) && {
    return std::move(*this).filter(Mismatch::skip, column, comparison, std::move(value));
  }
  Ask stop_unless(uint32_t column, Comparison comparison, Cell value) && {
    return std::move(*this).filter(Mismatch::stop, column, comparison, std::move(value));
  }
  Ask refuse_unless(uint32_t column, Comparison comparison, Cell value) && {
    return std::move(*this).filter(Mismatch::refuse, column, comparison, std::move(value));
  }
  /// Of a find or an insert.
  Ask columns(const std::string& names) && {
    SelectionName& name = selection();
    name.has_columns = true;
    name.columns = keep(names);
    return std::move(*this);
  }
  /// Of a find or an insert: the selection in full, in place of an id.
  Ask of(std::string table, std::string index, std::string columns, std::string filter_columns = "") && {
    const SelectionNames names =
        keep_names(std::move(table), std::move(index), std::move(columns), std::move(filter_columns));
    selection().names = &kept_->names.emplace_back(names);
    return std::move(*this);
  }

  /// Of an open: more about its names.
  Ask naming(const std::function<void(SelectionNames&)>& change) && {
    change(as<Open>().names);
    return std::move(*this);
  }

  Ask update(std::vector<Cell> values) && {
    return std::move(*this).assign(Operation::set, std::move(values));
  }
  Ask add(std::vector<Cell> amounts) && {
    return std::move(*this).assign(Operation::add, std::move(amounts));
  }
  Ask subtract(std::vector<Cell> amounts) && {
    as<Find>().change.keeps_signs = true;
    return std::move(*this).assign(Operation::subtract, std::move(amounts));
  }
  /// One operation on one column; more of them may follow.
  Ask change(uint32_t column, Operation operation, Cell value) && {
    std::vector<Assignment>& assignments = kept_->assignments;
    assignments.push_back({column, operation, keep(std::vector<Cell>{std::move(value)}).front()});
    as<Find>().change.kind = Change::Kind::assign;
    as<Find>().change.assignments = assignments;
    return std::move(*this).count();
  }
  Ask as_increment() && {
    as<Find>().change.is_increment = true;
    return std::move(*this);
  }
  Ask remove() && {
    as<Find>().change.kind = Change::Kind::remove;
    return std::move(*this).count();
  }
  Ask rows_before() && { return std::move(*this).tell(Tell::rows); }
  Ask rows_after() && { return std::move(*this).tell(Tell::rows_after); }
  Ask count() && { return std::move(*this).tell(Tell::count); }
  /// Of a find: the reply is a TextFullReply.
  Ask in_full() && {
    is_in_full_ = true;
    return std::move(*this);
  }
  /// Values beyond the columns are no mistake.
  Ask dropping_surplus() && {
    (is<Find>() ? as<Find>().drops_surplus : as<Insert>().drops_surplus) = true;
    return std::move(*this);
  }

  Ask on_duplicate(OnDuplicate what, const std::vector<uint32_t>& set = {},
                   const std::vector<uint32_t>& add = {}) && {
    std::vector<DuplicateChange>& changes = kept_->duplicate_changes;
    for (const uint32_t position : set) {
      changes.push_back({position, Operation::set});
    }
    for (const uint32_t position : add) {
      changes.push_back({position, Operation::add});
    }
    as<Insert>().on_duplicate = what;
    as<Insert>().duplicate_changes = changes;
    return std::move(*this);
  }
  Ask in_key_order() && {
    kept_->order.resize(as<Insert>().row_count);
    as<Insert>().order = kept_->order;
    return std::move(*this);
  }
  Ask rows_alone() && {
    as<Insert>().rows_alone = true;
    return std::move(*this);
  }
  /// Of a find: what is inserted where it finds no row.
  Ask otherwise(Ask insert) && {
    otherwise_.push_back(std::move(insert));
    return std::move(*this);
  }
  /// Of an insert: the rows as they are afterwards.
  Ask telling_rows() && {
    as<Insert>().tells_rows = true;
    return std::move(*this);
  }
  Ask must_change() && {
    as<Group>().must_change = true;
    return std::move(*this);
  }
  Ask with_gtid() && {
    as<Group>().wants_gtid = true;
    return std::move(*this);
  }

  /// The request and its reply. They view what the ask owns.
  [[nodiscard]] Request* bind(Arena& arena, Buffer& out, bool with_detail = false) const {
    Request* const request = std::visit(
        [&arena](const auto& it) -> Request* { return arena.make<std::decay_t<decltype(it)>>(it); },
        request_);
    if (is<Group>()) {
      const std::span<Request*> members = arena.array<Request*>(members_.size());
      std::transform(members_.begin(), members_.end(), members.begin(),
                     [&](const Ask& member) { return member.bind(arena, out, with_detail); });
      static_cast<Group*>(request)->members = members;
      request->reply =
          arena.make<TextGroupReply>(out, with_detail, members_.size(), std::get<Group>(request_).wants_gtid);
    } else if (is_in_full_) {
      request->reply = arena.make<TextFullReply>(out, with_detail);
    } else if (is<Insert>() && tells_outcomes_) {
      request->reply = arena.make<TextOutcomesReply>(out, with_detail);
    } else if (is<Insert>()) {
      request->reply = arena.make<TextInsertReply>(out, with_detail);
    } else {
      request->reply = arena.make<TextLineReply>(out, with_detail);
    }
    if (!otherwise_.empty()) {
      static_cast<Find*>(request)->otherwise =
          static_cast<const Insert*>(otherwise_.front().bind(arena, out, with_detail));
    }
    return request;
  }
  /// How many lines the reply has.
  [[nodiscard]] size_t reply_lines() const { return is<Group>() ? members_.size() + 2 : 1; }

 private:
  /// What the request views.
  struct Kept {
    std::deque<std::string> texts;
    std::deque<std::vector<Value>> values;
    std::deque<SelectionNames> names;
    std::vector<Filter> filters;
    std::vector<Assignment> assignments;
    std::vector<DuplicateChange> duplicate_changes;
    std::vector<uint32_t> order;
  };

  template <typename Kind>
  explicit Ask(Kind request) : kept_(std::make_shared<Kept>()), request_(request) {}

  template <typename Kind>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<Kind>(request_);
  }
  template <typename Kind>
  Kind& as() {
    return std::get<Kind>(request_);
  }
  Request& base() {
    return std::visit([](auto& it) -> Request& { return it; }, request_);
  }
  SelectionName& selection() { return is<Find>() ? as<Find>().selection : as<Insert>().selection; }

  const std::string& keep(std::string text) { return kept_->texts.emplace_back(std::move(text)); }
  std::span<const Value> keep(std::vector<Cell> cells) {
    std::vector<Value>& values = kept_->values.emplace_back();
    for (Cell& cell : cells) {
      values.push_back(cell.has_value() ? Value(std::string_view(keep(std::move(*cell)))) : Value());
    }
    return values;
  }
  /// `table` with its database, as "shop.item".
  SelectionNames keep_names(std::string table, std::string index, std::string columns,
                            std::string filter_columns) {
    const std::string_view name = keep(std::move(table));
    return {.database = name.substr(0, name.find('.')),
            .table = name.substr(name.find('.') + 1),
            .index = keep(std::move(index)),
            .columns = keep(std::move(columns)),
            .filter_columns = keep(std::move(filter_columns))};
  }
  /// Of a find, or of an insert for the rows that are there.
  Ask filter(Mismatch mismatch, uint32_t column, Comparison comparison, Cell value) && {
    kept_->filters.push_back(
        {mismatch, comparison, column, keep(std::vector<Cell>{std::move(value)}).front()});
    (is<Find>() ? as<Find>().filters : as<Insert>().duplicate_filters) = kept_->filters;
    return std::move(*this);
  }
  /// The same operation on the first columns.
  Ask assign(Operation operation, std::vector<Cell> values) && {
    std::vector<Assignment>& assignments = kept_->assignments;
    for (const Value& value : keep(std::move(values))) {
      assignments.push_back({static_cast<uint32_t>(assignments.size()), operation, value});
    }
    as<Find>().change.kind = Change::Kind::assign;
    as<Find>().change.assignments = assignments;
    return std::move(*this).count();
  }
  Ask tell(Tell what) && {
    as<Find>().tell = what;
    return std::move(*this);
  }

  std::shared_ptr<Kept> kept_;
  std::variant<Request, Open, Find, Insert, Group, Authenticate> request_;
  std::vector<Ask> members_;     ///< of a group
  std::vector<Ask> otherwise_;   ///< of a find, one at most
  bool tells_outcomes_ = false;  ///< an insert
  bool is_in_full_ = false;      ///< a find
};

}  // namespace rowsocket::exec
