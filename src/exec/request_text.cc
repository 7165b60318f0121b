// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "exec/readable.h"
#include "exec/request_words.h"
#include "request/error.h"

namespace rowsocket::exec {
namespace {

/// The name at this position of a comma-separated list.
std::optional<std::string_view> name_at(std::string_view comma_separated, size_t position) {
  for (; !comma_separated.empty(); --position) {
    const size_t end = std::min(comma_separated.find(','), comma_separated.size());
    if (position == 0) {
      return comma_separated.substr(0, end);
    }
    comma_separated.remove_prefix(std::min(end + 1, comma_separated.size()));
  }
  return std::nullopt;
}

/// What a request says of its selection, or what was opened for it.
struct Names {
  std::string_view database = {};
  std::string_view table = {};
  std::string_view index = {};
  std::string_view columns = {};
  std::string_view filter_columns = {};
  uint32_t key_columns = 0;  ///< the index's, which stand before `columns`
  bool all_columns = false;
  bool is_known = false;

  /// `Described` is engine::SelectionDescription or SelectionNames, whose fields have the same names.
  template <typename Described>
  [[nodiscard]] static Names of(const Described& names) {
    return {.database = names.database,
            .table = names.table,
            .index = names.index,
            .columns = names.columns,
            .filter_columns = names.filter_columns,
            .key_columns = names.key_columns_first ? names.unique_key_parts : 0,
            .all_columns = names.all_columns,
            .is_known = true};
  }
};

Names names_of(const SelectionName& selection, const Client& client, const engine::Selection* selected) {
  Names names;
  if (selected != nullptr) {
    return Names::of(selected->description());
  }
  if (selection.names != nullptr) {
    names = Names::of(*selection.names);
  } else if (const engine::Selection* const opened = client.selection(selection.id); opened != nullptr) {
    names = Names::of(opened->description());
  }
  if (selection.has_columns) {
    names.columns = selection.columns;
  }
  return names;
}

/// Writes one request, or one member of a group.
class Wording {
 public:
  Wording(Readable& out, const Client& client) : out_(out), client_(client), begin_(out.size()) {}

  void write(const Request& request, std::span<engine::Selection* const> selections) {
    const engine::Selection* const selected = selections.empty() ? nullptr : selections.front();
    switch (request.kind) {
      case RequestKind::find:
        write_find(static_cast<const Find&>(request), selected);
        break;
      case RequestKind::insert:
        write_insert(static_cast<const Insert&>(request), selected);
        break;
      case RequestKind::open:
        write_open(static_cast<const Open&>(request));
        break;
      case RequestKind::group:
        write_group(static_cast<const Group&>(request), selections);
        break;
      case RequestKind::authenticate:
        out_.add("LOGIN");
        break;
      case RequestKind::nothing:
        out_.add("NOTHING");
        break;
      case RequestKind::refused:
        out_.add("REFUSED");
        break;
    }
    if (request.mistake != ErrorCode::none) {
      out_.add(" [");
      out_.add(error_name(request.mistake));
      out_.add("]");
    }
  }

 private:
  // ---- requests

  void write_find(const Find& find, const engine::Selection* selected) {
    out_.add(verb_of(find));
    names_ = names_of(find.selection, client_, selected);
    write_table(find.selection.id, true);
    write_range(find);
    write_filters(find.filters, " WHERE ");
    write_changes(find.change.assignments);
    write_limit(find);
    write_told(find);
    if (find.otherwise != nullptr) {
      out_.add(" OR ELSE INSERT");
      write_rows(*find.otherwise);
    }
  }

  void write_insert(const Insert& insert, const engine::Selection* selected) {
    out_.add(verb_of(insert));
    names_ = names_of(insert.selection, client_, selected);
    write_table(insert.selection.id, false);
    write_rows(insert);
    write_filters(insert.duplicate_filters, " IF ");
    write_duplicate_changes(insert.duplicate_changes, " SET ");
    write_duplicate_changes(insert.mismatch_changes, " ELSE SET ");
  }

  void write_open(const Open& open) {
    out_.add("OPEN ");
    out_.add_number(open.id);
    names_ = Names::of(open.names);
    write_table(open.id, true);
    write_column_names(" COLUMNS ", names_.columns);
    write_column_names(" FILTER COLUMNS ", names_.filter_columns);
  }

  void write_group(const Group& group, std::span<engine::Selection* const> selections) {
    out_.add("GROUP ");
    out_.add_number(group.members.size());
    std::string_view before = ": ";
    for (size_t number = 0; number < group.members.size(); ++number) {
      out_.add(std::exchange(before, "; "));
      const auto known = selections.subspan(std::min(number, selections.size()));
      Wording(out_, client_).write(*group.members[number], known.first(std::min<size_t>(known.size(), 1)));
    }
  }

  // ---- their parts

  void write_table(uint32_t id, bool with_index) {
    out_.add(" ");
    if (!names_.is_known) {
      out_.add("[id ");
      out_.add_number(id);
      out_.add("]");
      return;
    }
    out_.add_name(names_.database);
    out_.add(".");
    out_.add_name(names_.table);
    if (with_index) {
      out_.add(" ");
      write_index();
    }
  }

  void write_index() {
    const std::string_view index = names_.index;
    const bool is_ordinal = !index.empty() && index.front() >= '0' && index.front() <= '9';
    out_.add(is_ordinal ? "[index " : "");
    out_.add_name(index.empty() ? "PRIMARY" : index);
    out_.add(is_ordinal ? "]" : "");
  }

  void write_range(const Find& find) {
    const KeyRange& range = find.range;
    const bool lists_whole_keys = find.list.is_given && find.list.holds_whole_keys;
    const bool lists_only_part = find.list.is_given && !lists_whole_keys && range.key.size() == 1;
    if (!range.key.empty()) {
      out_.add(" ");
      out_.add(symbol_of(range.key_operator));
      if (!lists_whole_keys && !lists_only_part) {
        out_.add(" ");
        write_key(range.key, find.list);
      }
    }
    if (find.list.is_given) {
      out_.add(lists_whole_keys || lists_only_part ? " ANY OF " : " FOR ? IN ");
      write_list(find.list, lists_whole_keys ? range.key.size() : 1);
    }
    if (range.has_end) {
      out_.add(" AND ");
      out_.add(symbol_of(range.end_operator));
      out_.add(" ");
      write_key(range.end_key, find.list);
    }
    out_.add(range.reverse ? " REVERSE" : "");
  }

  /// The part that a list stands for is a question mark.
  void write_key(std::span<const Value> key, const KeyList& list) {
    out_.add(key.size() == 1 ? "" : "(");
    write_each(key.size(), [&](size_t part) {
      if (list.is_given && !list.holds_whole_keys && list.part == part) {
        out_.add("?");
      } else {
        out_.add_value(key[part]);
      }
    });
    out_.add(key.size() == 1 ? "" : ")");
  }

  void write_list(const KeyList& list, size_t key_size) {
    const size_t stride = std::max<size_t>(key_size, 1);
    out_.add("(");
    write_each(list.values.size() / stride,
               [&](size_t number) { write_values(list.values.subspan(number * stride, stride)); });
    out_.add(")");
  }

  /// One as it is, several in parentheses.
  void write_values(std::span<const Value> values) { write_key(values, {}); }

  void write_filters(std::span<const Filter> filters, std::string_view before) {
    for (const Filter& filter : filters) {
      if (!has_room()) {
        out_.add(" ...");
        return;
      }
      out_.add(std::exchange(before, " AND "));
      const auto name = name_at(names_.filter_columns, filter.filter_column);
      write_column_or_number(name, filter.filter_column);
      out_.add(" ");
      out_.add(symbol_of(filter.comparison));
      out_.add(" ");
      out_.add_value(filter.value);
      out_.add(filter.mismatch == Mismatch::stop ? " OR STOP" : "");
    }
  }

  void write_changes(std::span<const Assignment> assignments) {
    if (assignments.empty()) {
      return;
    }
    out_.add(" SET ");
    write_each(assignments.size(), [&](size_t number) {
      const Assignment& one = assignments[number];
      write_column(one.column);
      out_.add(words_of(one.operation));
      out_.add_value(one.value);
    });
  }

  void write_duplicate_changes(std::span<const DuplicateChange> changes, std::string_view before) {
    if (changes.empty()) {
      return;
    }
    out_.add(before);
    write_each(changes.size(), [&](size_t number) {
      write_column(changes[number].position);
      out_.add(words_of(changes[number].operation));
      out_.add("NEW");
    });
  }

  void write_limit(const Find& find) {
    out_.add(" LIMIT ");
    out_.add_number(find.limit);
    if (find.offset > 0) {
      out_.add(" OFFSET ");
      out_.add_number(find.offset);
    }
  }

  void write_told(const Find& find) {
    const bool changes = find.change.kind != Change::Kind::none;
    if (find.tell == Tell::count) {
      return;
    }
    out_.add(!changes ? "" : find.tell == Tell::rows ? " RETURNING OLD" : " RETURNING NEW");
    if (names_.all_columns) {
      out_.add(" COLUMNS *");
    } else {
      write_column_names(" COLUMNS ", names_.columns);
    }
  }

  void write_rows(const Insert& insert) {
    const size_t row_count = std::max<size_t>(insert.row_count, 1);
    const size_t value_count = insert.values.size() / row_count;
    out_.add(" (");
    write_each(value_count, [&](size_t position) { write_column(position); });
    out_.add(") VALUES ");
    write_each(row_count, [&](size_t row) {
      out_.add("(");
      write_each(value_count,
                 [&](size_t position) { out_.add_value(insert.values[row * value_count + position]); });
      out_.add(")");
    });
  }

  void write_column(size_t position) {
    if (position < names_.key_columns) {
      out_.add("[key ");
      out_.add_number(position + 1);
      out_.add("]");
      return;
    }
    write_column_or_number(name_at(names_.columns, position - names_.key_columns), position);
  }

  void write_column_or_number(std::optional<std::string_view> name, size_t position) {
    if (name.has_value()) {
      out_.add_name(*name);
      return;
    }
    out_.add("[column ");
    out_.add_number(position);
    out_.add("]");
  }

  void write_column_names(std::string_view before, std::string_view comma_separated) {
    if (comma_separated.empty()) {
      return;
    }
    out_.add(before);
    write_each(engine::name_count(comma_separated), [&](size_t) {
      const size_t end = std::min(comma_separated.find(','), comma_separated.size());
      out_.add_name(comma_separated.substr(0, end));
      comma_separated.remove_prefix(std::min(end + 1, comma_separated.size()));
    });
  }

  [[nodiscard]] bool has_room() const { return out_.size() - begin_ < limits::logged_text_bytes; }

  /// With commas between them, as far as there is room.
  template <typename WriteOne>
  void write_each(size_t count, const WriteOne& write_one) {
    for (size_t number = 0; number < count; ++number) {
      if (!has_room()) {
        out_.add(" ... ");
        out_.add_number(count - number);
        out_.add(" more");
        return;
      }
      out_.add(number == 0 ? "" : ", ");
      write_one(number);
    }
  }

  Readable& out_;
  const Client& client_;
  size_t begin_;
  Names names_;
};

bool has_selection(const Request& request) {
  return request.kind == RequestKind::find || request.kind == RequestKind::insert;
}

}  // namespace

std::string text_of(const Request& request, const Client& client,
                    std::span<engine::Selection* const> selections, size_t value_bytes_max) {
  Readable readable(value_bytes_max);
  readable.add("ROWSOCKET ");
  Wording(readable, client).write(request, selections);
  return readable.take();
}

std::string_view database_of(const Request& request, const Client& client,
                             std::span<engine::Selection* const> selections) {
  std::string_view database;
  if (request.kind == RequestKind::open) {
    database = static_cast<const Open&>(request).names.database;
  } else if (has_selection(request)) {
    const engine::Selection* const selected = selections.empty() ? nullptr : selections.front();
    database = names_of(selection_of(request), client, selected).database;
  }
  const bool can_be = database.size() <= limits::name_bytes_max && is_line_of_text(database);
  return can_be ? database : std::string_view();
}

}  // namespace rowsocket::exec
