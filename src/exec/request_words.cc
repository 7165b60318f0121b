// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_words.h"

namespace rowsocket::exec {

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

engine::Deed deed_of(const Request& request) {
  using engine::Deed;
  switch (request.kind) {
    case RequestKind::find:
      switch (static_cast<const Find&>(request).change.kind) {
        case Change::Kind::none:
          return Deed::reads;
        case Change::Kind::assign:
          return Deed::updates;
        case Change::Kind::remove:
          return Deed::deletes;
      }
      return Deed::other;
    case RequestKind::insert:
      return Deed::inserts;
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
