# SPDX-License-Identifier: MIT
"""Rows as tuples, dicts, dataclasses or pydantic models, and values by name out of them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import Any, Callable, ClassVar, Protocol, TypeVar, cast

T = TypeVar("T")


class RowRefused(Exception):
    """A row's own class has raised an error, which becomes the request's."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class DataclassRow(Protocol):
    """An object of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class ModelRow(Protocol):
    """An object of a pydantic model."""

    def model_dump(self) -> dict[str, Any]:
        """Its fields by name."""
        ...


def row_as_tuple(_: tuple[str, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values."""
    return values


def row_as_dict(names: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
    """The values by name."""
    return dict(zip(names, values))


def row_as(kind: type[T]) -> Callable[[tuple[str, ...], tuple[Any, ...]], T]:
    """What makes rows of a dataclass or a pydantic model, and raises RowRefused. Raises TypeError for another
    class.
    """
    field_names(kind)
    validate = _validator_of(kind)

    def make(names: tuple[str, ...], values: tuple[Any, ...]) -> T:
        fields = dict(zip(names, values))
        try:
            return kind(**fields) if validate is None else cast(T, validate(fields))
        except Exception as error:
            raise RowRefused(error) from error

    return make


def _validator_of(kind: type[Any]) -> Callable[[dict[str, Any]], Any] | None:
    """What makes an object of a pydantic model from its fields by name; None for a dataclass."""
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        return None
    fields = _model_fields(kind)
    aliases = [field.validation_alias for field in fields.values() if field.validation_alias is not None]
    takes_names = "by_name" in inspect.signature(validate).parameters
    if not aliases or (not takes_names and kind.model_config.get("populate_by_name")):
        return cast(Callable[[dict[str, Any]], Any], validate)
    if not takes_names:
        raise TypeError(f"{kind!r} has fields with an alias, for which it takes pydantic 2.11 or newer")
    if any(alias in fields for alias in aliases if isinstance(alias, str)):
        return functools.partial(validate, by_alias=False, by_name=True)  # also of models within a value
    return functools.partial(validate, by_name=True)


def _model_fields(kind: type[Any]) -> Mapping[str, Any]:
    fields = getattr(kind, "model_fields", None)
    return fields if isinstance(fields, Mapping) else {}


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """The columns that a dataclass or a pydantic model names. Raises TypeError for another class, and for a
    dataclass whose constructor takes other arguments than its fields.
    """
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        names = tuple(_field_names(kind))
        try:
            inspect.signature(kind).bind(**dict.fromkeys(names))
        except TypeError as error:
            raise TypeError(f"{kind!r} can not be made of its fields alone: {error}") from None
        return names
    fields = _model_fields(kind)
    if fields and hasattr(kind, "model_validate"):
        return tuple(fields)
    raise TypeError(f"{kind!r} is neither a dataclass nor a model of pydantic 2")


def _field_names(kind: type[Any]) -> list[str]:
    """Of a dataclass. Raises TypeError for a field with init=False: no row could be made with it, and to
    leave it out would lose a column without a word.
    """
    fields = dataclasses.fields(kind)
    refused = [field.name for field in fields if not field.init]
    if refused:
        raise TypeError(
            f"{kind!r} has the field {refused[0]!r} with init=False, which can be no column of a row"
        )
    return [field.name for field in fields]


def by_name(values: Any) -> Mapping[str, Any] | None:
    """The values by name, if they have names: a mapping, a dataclass or a pydantic model. Raises TypeError
    for a dataclass that is none for rows.
    """
    if isinstance(values, Mapping):
        return values
    if dataclasses.is_dataclass(values) and not isinstance(values, type):
        return {name: getattr(values, name) for name in _field_names(type(values))}
    fields = _model_fields(type(values))
    if fields and hasattr(values, "model_dump"):
        return {name: getattr(values, name) for name in fields}
    return None
