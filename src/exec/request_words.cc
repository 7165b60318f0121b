// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_words.h"

#include <algorithm>

namespace rowsocket::exec {
namespace {

/// A change of numbers only, or with what its protocol sets beside them; also one by nothing, where it can be
/// told from an update with nothing.
bool is_increment(const Change& change) {
  const auto counts = [](const Assignment& one) {
    return one.operation != Operation::set && one.operation != Operation::append &&
           one.operation != Operation::prepend;
  };
  if (change.is_increment) {
    return true;
  }
  return change.assignments.empty()
             ? change.keeps_signs
             : std::all_of(change.assignments.begin(), change.assignments.end(), counts);
}

engine::Deed deed_of(Work work) {
  using engine::Deed;
  switch (work) {
    case Work::find:
      return Deed::reads;
    case Work::insert:
      return Deed::inserts;
    case Work::update:
    case Work::increment:
      return Deed::updates;
    case Work::remove:
      return Deed::deletes;
  }
  return Deed::other;
}

}  // namespace

std::string_view symbol_of(KeyOperator key_operator) {
  switch (key_operator) {
    case KeyOperator::equal:
      return "=";
    case KeyOperator::after:
      return ">";
    case KeyOperator::at_or_after:
      return ">=";
    case KeyOperator::before:
      return "<";
    case KeyOperator::at_or_before:
      return "<=";
    case KeyOperator::starts_with:
      return "STARTS WITH";
  }
  return "?";
}

std::string_view symbol_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return "=";
    case Comparison::not_equal:
      return "<>";
    case Comparison::less:
      return "<";
    case Comparison::less_or_equal:
      return "<=";
    case Comparison::greater:
      return ">";
    case Comparison::greater_or_equal:
      return ">=";
    case Comparison::greater_or_unset:
      return "IS UNSET OR >";
  }
  return "?";
}

std::string_view words_of(Operation operation) {
  switch (operation) {
    case Operation::set:
      return " = ";
    case Operation::add:
    case Operation::add_from_zero:
    case Operation::add_whole:
    case Operation::add_wrapping:
      return " += ";
    case Operation::subtract:
    case Operation::subtract_to_zero:
      return " -= ";
    case Operation::append:
      return " APPEND ";
    case Operation::prepend:
      return " PREPEND ";
  }
  return "?";
}

std::string_view verb_of(const Find& find) {
  switch (find.change.kind) {
    case Change::Kind::none:
      return find.tell == Tell::count ? "COUNT" : "FIND";
    case Change::Kind::assign:
      return "UPDATE";
    case Change::Kind::remove:
      return "DELETE";
  }
  return "?";
}

std::string_view verb_of(const Insert& insert) {
  switch (insert.on_duplicate) {
    case OnDuplicate::fail:
      return "INSERT";
    case OnDuplicate::keep:
      return "INSERT IGNORE";
    case OnDuplicate::replace:
      return "REPLACE";
    case OnDuplicate::change:
      return "UPSERT";
  }
  return "?";
}

Work work_of(const Request& request) {
  if (request.kind == RequestKind::insert) {
    return Work::insert;
  }
  const Change& change = static_cast<const Find&>(request).change;
  switch (change.kind) {
    case Change::Kind::none:
      return Work::find;
    case Change::Kind::assign:
      return is_increment(change) ? Work::increment : Work::update;
    case Change::Kind::remove:
      return Work::remove;
  }
  return Work::find;
}

engine::Deed deed_of(const Request& request) {
  using engine::Deed;
  switch (request.kind) {
    case RequestKind::find:
    case RequestKind::insert:
      return deed_of(work_of(request));
    case RequestKind::group:
      return writes(request) ? Deed::updates : Deed::reads;
    case RequestKind::refused:
    case RequestKind::nothing:
    case RequestKind::open:
    case RequestKind::authenticate:
      return Deed::other;
  }
  return Deed::other;
}

}  // namespace rowsocket::exec
