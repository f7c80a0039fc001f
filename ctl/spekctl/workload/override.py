# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of a workload that the command line sets: ``stream.main.size=16KiB``.

They change what was read from the file before it is checked, so that every complaint about a
value is the same as for a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import inspect

from spekctl import toml
from spekctl.errors import UsageError, at
from spekctl.suggest import did_you_mean
from spekctl.workload.model import WorkloadFile

EXAMPLE = "write FIELD=VALUE, for example stream.main.size=16KiB or run.time=30s"
# Sections that a file may omit, and the name of the default one.
_IMPLIED = {"asu": "all", "arrival": "default"}


def apply(data: dict[str, Any], settings: Iterable[str]) -> None:
    """Change a workload as TOML has it. UsageError with a sentence for what can't be meant."""
    for text in settings:
        field, sign, value = text.partition("=")
        if not sign or not field.strip():
            raise UsageError(f"--set {text}: {EXAMPLE}")
        with at(f"--set {text}"):
            _set(data, inspect.type_info(WorkloadFile), field.strip(), "", value.strip())


def _set(node: dict[str, Any], info: inspect.Type, rest: str, above: str, value: str) -> None:
    """Set the field that @rest names in a table; @above is what leads to it."""
    assert isinstance(info, inspect.StructType)
    fields = {one.encode_name: one for one in info.fields}
    key, _, rest = rest.partition(".")
    if key not in fields:
        hint = did_you_mean(key, fields) or "; known are " + ", ".join(fields)
        raise UsageError(f"there is no field '{above}{key}'{hint}")
    inner = _plain(fields[key].type)
    place = f"{above}{key}"
    if isinstance(inner, inspect.ListType) and _named(inner):
        for element, tail, name in _chosen(node, key, rest):
            if not tail:
                raise UsageError(f"'{place}.{name}' is a section; say which field of it")
            _set(element, _plain(inner.item_type), tail, f"{place}.{name}.", value)
    elif isinstance(inner, inspect.StructType):
        if not rest:
            names = ", ".join(one.encode_name for one in inner.fields)
            raise UsageError(f"'{place}' is a section; say which field of it: {names}")
        table = node.setdefault(key, {})
        if not isinstance(table, dict):
            raise UsageError(f"'{place}' of the file is not a section")
        _set(table, inner, rest, f"{place}.", value)
    elif rest:
        raise UsageError(f"'{place}' has no fields")
    elif not value:
        node.pop(key, None)
    else:
        node[key] = _value(value, fields[key].type)


def _chosen(node: dict[str, Any], key: str, rest: str) -> list[tuple[dict[str, Any], str, str]]:
    """The sections of a list that are meant, what is left of the field, and their name.

    ``*`` means all of them. Names may have dots, so the longest one that fits is meant.
    """
    found = node.get(key)
    if key in _IMPLIED and not found:
        found = node[key] = [{"name": _IMPLIED[key]}]
    sections = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    names = [str(one.get("name", "")) for one in sections]
    star, _, tail = rest.partition(".")
    if star == "*":
        return [(one, tail, "*") for one in sections]
    for name in sorted(names, key=len, reverse=True):
        if rest == name or rest.startswith(f"{name}."):
            return [(sections[names.index(name)], rest[len(name) + 1 :], name)]
    listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    if not rest:
        raise UsageError(f"name the {key}: {key}.NAME.FIELD; known are {listed}; * means all")
    hint = did_you_mean(star, names) or f"; known are {listed}; * means all"
    raise UsageError(f"there is no {key} '{star}'{hint}")


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
        return {kind for one in info.types for kind in _kinds(one)}
    return {type(info)}


def _plain(info: inspect.Type) -> inspect.Type:
    """A type without its description and without "or nothing"."""
    if isinstance(info, inspect.Metadata):
        return _plain(info.type)
    if isinstance(info, inspect.UnionType):
        some = [one for one in info.types if not isinstance(one, inspect.NoneType)]
        return _plain(some[0]) if len(some) == 1 else info
    return info


def _named(info: inspect.ListType) -> bool:
    """True for lists of sections that have names."""
    item = _plain(info.item_type)
    return isinstance(item, inspect.StructType) and any(
        one.encode_name == "name" for one in item.fields
    )


def to_toml(workload: WorkloadFile) -> str:
    """A workload as the text of a file."""
    import tomlkit

    return tomlkit.dumps(msgspec.to_builtins(workload))
