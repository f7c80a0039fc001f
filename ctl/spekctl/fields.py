# SPDX-License-Identifier: GPL-2.0-or-later
"""Parsed TOML against the structs that describe it.

Every complaint is one sentence: where, what is wrong, what is allowed. msgspec.convert() takes what
passes. The place is written as in TOML, with the entry of a list by its name or number:
``arms.count``, ``stream 'main', pattern``, ``limit 2, metric``.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

from msgspec import inspect

from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean

# TOML's kinds of values. A whole number is taken for a number, but true for neither.
_WORDS: dict[type, str] = {
    str: "a string (in quotes)",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}
# The place of a table that is in a list.
_ENTRY = re.compile(r"('| \d+)$")
_KINDS: dict[type[inspect.Type], type] = {
    inspect.StrType: str,
    inspect.LiteralType: str,
    inspect.BoolType: bool,
    inspect.IntType: int,
    inspect.FloatType: float,
    inspect.ListType: list,
    inspect.StructType: dict,
    inspect.DictType: dict,
}


@functools.cache
def type_of(model: type) -> inspect.Type:
    """What msgspec knows of @model. It reads every annotation again each time that it is asked,
    which takes longer than all else that is done with a workload file."""
    return inspect.type_info(model)


def check(data: Mapping[str, Any], model: type, examples: Mapping[str, int] | None = None) -> None:
    """Refuse the first key or value that the struct @model does not have.

    @examples: numbers that some keys may have, for those who write them with a unit
    """
    _Checker(examples or {}).check(data, type_of(model), "")


def check_field(value: object, model: type, key: str) -> None:
    """Refuse a value that the field @key of the struct @model does not have."""
    info = type_of(model)
    assert isinstance(info, inspect.StructType)
    (field,) = (field_info for field_info in info.fields if field_info.encode_name == key)
    _Checker({}).check(value, field.type, key)


class _Checker:
    """One pass over a document."""

    def __init__(self, examples: Mapping[str, int]) -> None:
        self.examples = examples

    def check(self, value: Any, info: inspect.Type, where: str) -> None:
        """One value; @where is its place."""
        types = _alternatives(info)
        kind = next(
            (alternative for alternative in types if _is(value, _KINDS[type(alternative)])), None
        )
        if kind is None:
            raise UsageError(f"{_at(where)}{self._mismatch(value, types, where)}")
        if isinstance(kind, inspect.LiteralType):
            if value not in kind.values:
                names = sorted(str(allowed) for allowed in kind.values)
                hint = did_you_mean(value, names) or f"; it is one of {', '.join(names)}"
                raise UsageError(f"{_at(where)}unknown value '{value}'{hint}")
        elif isinstance(kind, inspect.IntType | inspect.FloatType):
            _check_range(value, kind, where)
        elif isinstance(kind, inspect.StrType):
            if kind.min_length and not value:
                raise UsageError(f"{_at(where)}empty; any other text is allowed")
        elif isinstance(kind, inspect.ListType):
            _check_length(value, kind, where)
            for number, element in enumerate(value, start=1):
                self.check(element, kind.item_type, _entry(where, element, number))
        elif isinstance(kind, inspect.DictType):
            for key, element in value.items():
                self.check(element, kind.value_type, _inner(where, key))
        elif isinstance(kind, inspect.StructType):
            self._check_keys(value, kind, where)

    def _check_keys(self, table: dict[str, Any], info: inspect.StructType, where: str) -> None:
        fields = {field.encode_name: field for field in info.fields}
        for key, value in table.items():
            if key not in fields:
                hint = did_you_mean(key, fields) or f"; the keys are {', '.join(fields)}"
                raise UsageError(f"{_at(where)}unknown key '{key}'{hint}")
            self.check(value, fields[key].type, _inner(where, key))
        for key, field in fields.items():
            if field.required and key not in table:
                what = "key" if where or not _is_section(field.type) else "section"
                raise UsageError(f"{_at(where)}the {what} '{key}' is missing")

    def _mismatch(self, value: object, types: list[inspect.Type], where: str) -> str:
        kinds = list(dict.fromkeys(_KINDS[type(alternative)] for alternative in types))
        advice = ""
        if isinstance(value, str) and {int, float} & set(kinds) and any(map(str.isdigit, value)):
            key = where.rpartition(".")[2].rpartition(", ")[2]
            advice = "; write it without quotes and without a unit"
            if key in self.examples:
                advice += f", for example {key} = {self.examples[key]}"
        if isinstance(value, dict) and list in kinds:
            advice = f"; write [[{where}]]"
        wanted = " or ".join(_WORDS[kind] for kind in kinds)
        return f"expected {wanted}, got {_shown(value)}{advice}"


def _alternatives(info: inspect.Type) -> list[inspect.Type]:
    """The types that a field may have, without None, which TOML does not have either."""
    if isinstance(info, inspect.Metadata):
        return _alternatives(info.type)
    if isinstance(info, inspect.UnionType):
        return [alternative for part in info.types for alternative in _alternatives(part)]
    return [] if isinstance(info, inspect.NoneType) else [info]


def _is(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _shown(value: object) -> str:
    """A value in a sentence."""
    if isinstance(value, str):
        return f'the string "{value if len(value) < 40 else value[:36] + "..."}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else f"{value}"[:40]
    return _WORDS.get(type(value), "a date or time")


def _is_section(info: inspect.Type) -> bool:
    """Whether a field is written as [key] or [[key]]."""
    (alternative,) = _alternatives(info)
    alternative = (
        alternative.item_type if isinstance(alternative, inspect.ListType) else alternative
    )
    return any(isinstance(part, inspect.StructType) for part in _alternatives(alternative))


def _inner(where: str, key: str) -> str:
    """The place of a key of the table at @where."""
    separator = ", " if _ENTRY.search(where) else "."
    return f"{where}{separator}{key}" if where else key


def _entry(where: str, entry: object, number: int) -> str:
    """The place of an entry of the list at @where: a table by its name if it has one."""
    if not isinstance(entry, dict):
        return f"{where}.{number}"
    name = entry.get("name")
    return f"{where} '{name}'" if isinstance(name, str) else f"{where} {number}"


def _at(where: str) -> str:
    return f"{where}: " if where else ""


def _check_range(value: float, info: inspect.IntType | inspect.FloatType, where: str) -> None:
    if isinstance(info, inspect.FloatType) and abs(value) > sys.float_info.max and value % 1 == 0:
        raise UsageError(f"{_at(where)}the number is too large")
    low = info.ge if info.ge is not None else -math.inf
    high = info.le if info.le is not None else math.inf
    below = info.lt if info.lt is not None else math.inf
    if info.gt is not None and not info.gt < value <= high:
        raise UsageError(
            f"{_at(where)}{value} is out of range; allowed are more than {info.gt:.10g}, up to"
            f" {high:.10g}"
        )
    if not (low <= value <= high and value < below) and math.isfinite(low):
        top = f"below {below}" if info.lt is not None else f"{high:.10g}"
        allowed = f"{low:.10g} to {top}" if math.isfinite(min(high, below)) else f"{low} or more"
        raise UsageError(f"{_at(where)}{value} is out of range; allowed are {allowed}")


def _check_length(value: list[Any], info: inspect.ListType, where: str) -> None:
    low = info.min_length or 0
    high = info.max_length if info.max_length is not None else math.inf
    if not low <= len(value) <= high:
        allowed = f"{low} to {high}" if math.isfinite(high) else f"{low} or more"
        allowed = str(low) if low == high else allowed
        raise UsageError(f"{_at(where)}{len(value)} entries; allowed are {allowed}")
