# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of a TOML file that the command line sets: ``stream.main.size=16KiB``.

They change what was read from the file before it is checked, so that every complaint about a
value is the same as for a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import inspect

from spekctl import toml
from spekctl.errors import UsageError, at
from spekctl.fields import type_of
from spekctl.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of file.

    @kind: the struct that a file is
    @example: of a setting, for the user
    @implied: lists of sections that a file may omit, with the name of the default section
    """

    kind: type[msgspec.Struct]
    example: str
    implied: Mapping[str, str] = field(default_factory=dict)


def split(text: str, target: Target, flag: str = "--set") -> tuple[str, str]:
    """A setting in parts: field, and value, which may be empty."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"{flag} {text}: write FIELD=VALUE, for example {target.example}")
    return name.strip(), value.strip()


def apply(
    data: dict[str, Any], target: Target, settings: Iterable[str], flag: str = "--set"
) -> None:
    """Change a file as TOML has it; without a value, a field is removed. UsageError with a sentence
    for what can't be meant. @flag: the option that gave the settings."""
    for text in settings:
        name, value = split(text, target, flag)
        with at(f"{flag} {text}"):
            _Setting(target, value).set(data, type_of(target.kind), name, "")


@dataclass(frozen=True, slots=True)
class _Setting:
    """@value: text that a field gets"""

    target: Target
    value: str

    def set(self, node: dict[str, Any], info: inspect.Type, rest: str, above: str) -> None:
        """Set the field that @rest names in a table; @above is what leads to it."""
        assert isinstance(info, inspect.StructType)
        fields = {field.encode_name: field for field in info.fields}
        key, _, rest = rest.partition(".")
        if key not in fields:
            hint = did_you_mean(key, fields) or "; known are " + ", ".join(fields)
            raise UsageError(f"there is no field '{above}{key}'{hint}")
        inner = plain(fields[key].type)
        place = f"{above}{key}"
        if isinstance(inner, inspect.ListType) and _named(inner):
            for element, tail, name in self._chosen(node, key, rest):
                if not tail:
                    raise UsageError(f"'{place}.{name}' is a section; say which field of it")
                self.set(element, plain(inner.item_type), tail, f"{place}.{name}.")
        elif isinstance(inner, inspect.StructType):
            if not rest:
                names = ", ".join(field.encode_name for field in inner.fields)
                raise UsageError(f"'{place}' is a section; say which field of it: {names}")
            self.set(_section(node, key, place), inner, rest, f"{place}.")
        elif isinstance(inner, inspect.DictType):
            name, _, tail = rest.partition(".")
            if not tail:
                raise UsageError(f"'{place}' has sections; write {place}.NAME.FIELD")
            element = _section(_section(node, key, place), name, f"{place}.{name}")
            self.set(element, plain(inner.value_type), tail, f"{place}.{name}.")
        elif rest:
            raise UsageError(f"'{place}' has no fields")
        elif not self.value:
            node.pop(key, None)
        else:
            node[key] = _value(self.value, fields[key].type)

    def _chosen(
        self, node: dict[str, Any], key: str, rest: str
    ) -> list[tuple[dict[str, Any], str, str]]:
        """The sections of a list that are meant, what is left of the field, and their name.

        ``*`` means all of them. Names may have dots, so the longest one that fits is meant.
        """
        value = node.get(key)
        implied = self.target.implied
        if key in implied and not value:
            value = node[key] = [{"name": implied[key]}]
        sections = (
            [element for element in value if isinstance(element, dict)]
            if isinstance(value, list)
            else []
        )
        names = [str(section.get("name", "")) for section in sections]
        star, _, tail = rest.partition(".")
        if star == "*":
            return [(section, tail, "*") for section in sections]
        for name in sorted(names, key=len, reverse=True):
            if rest == name or rest.startswith(f"{name}."):
                return [(sections[names.index(name)], rest[len(name) + 1 :], name)]
        listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        if not rest:
            raise UsageError(f"name the {key}: {key}.NAME.FIELD; known are {listed}; * means all")
        hint = did_you_mean(star, names) or f"; known are {listed}; * means all"
        raise UsageError(f"there is no {key} '{star}'{hint}")


def _section(node: dict[str, Any], key: str, place: str) -> dict[str, Any]:
    table = node.setdefault(key, {})
    if not isinstance(table, dict):
        raise UsageError(f"'{place}' of the file is not a section")
    return table


def _value(text: str, info: inspect.Type) -> object:
    """What the text means for a field of this type; the checks of a file see to the rest."""
    kinds = _kinds(info)
    if kinds & {inspect.IntType, inspect.FloatType, inspect.BoolType, inspect.ListType}:
        try:
            value = toml.parse(f"value = {text}")["value"]
        except UsageError:
            return text
        if inspect.ListType in kinds or isinstance(value, int | float | bool):
            return value
    return text.strip("\"'")


def _kinds(info: inspect.Type) -> set[type[inspect.Type]]:
    if isinstance(info, inspect.Metadata):
        return _kinds(info.type)
    if isinstance(info, inspect.UnionType):
        return {kind for part in info.types for kind in _kinds(part)}
    return {type(info)}


def plain(info: inspect.Type) -> inspect.Type:
    """A type without its description and without "or nothing"."""
    if isinstance(info, inspect.Metadata):
        return plain(info.type)
    if isinstance(info, inspect.UnionType):
        kinds = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
        return plain(kinds[0]) if len(kinds) == 1 else info
    return info


def _named(info: inspect.ListType) -> bool:
    """True for lists of sections that have names."""
    item = plain(info.item_type)
    return isinstance(item, inspect.StructType) and any(
        field.encode_name == "name" for field in item.fields
    )
