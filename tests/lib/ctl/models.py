# SPDX-License-Identifier: GPL-2.0
"""The structs of all files that spekctl writes."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator

import spekctl
from spekctl.documents.document import Document, Kind

# Rooms whose modules declare documents; no other is imported for them.
ROOMS = ("documents", "campaigns", "log", "run", "trace")


def _below(model: type[Document]) -> Iterator[type[Document]]:
    for subclass in model.__subclasses__():
        yield subclass
        yield from _below(subclass)


@functools.cache
def models() -> dict[Kind, type[Document]]:
    """The struct of each kind; ValueError if two have the same kind."""
    for room in ROOMS:
        folder = importlib.import_module(f"{spekctl.__name__}.{room}")
        for module_info in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            importlib.import_module(module_info.name)
    known = {kind.value: kind for kind in Kind}
    by_kind: dict[Kind, type[Document]] = {}
    for model in _below(Document):
        kind = known.get(str(model.__struct_config__.tag))
        # Bases of others have no kind; tests may have documents of their own.
        if kind is None or not model.__module__.startswith(f"{spekctl.__name__}."):
            continue
        if by_kind.setdefault(kind, model) is not model:
            raise ValueError(f"{kind} is both {by_kind[kind]} and {model}")
    return by_kind
