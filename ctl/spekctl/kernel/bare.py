# SPDX-License-Identifier: GPL-2.0-or-later
"""pyroute2 without the modules that its package imports at once: routes, addresses, a database.

These 300 modules took nine tenths of the start of `spekctl status`, which is half a minute in an
emulated guest. The package is entered without executing its __init__.py, which is executed only
when a name that it defines is requested.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

NAME = "pyroute2"


class _Bare(types.ModuleType):
    """The package with its modules; everything else is loaded on demand."""

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        is_module = not name.startswith("__") and _find(f"{NAME}.{name}") is not None
        if not (name.startswith("__") or is_module or spec is None or spec.loader is None):
            # From now on it is an ordinary package.
            self.__class__ = types.ModuleType  # type: ignore[assignment]
            spec.loader.exec_module(self)
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"module {NAME} has no attribute {name}")


def enter() -> None:
    """Make `import pyroute2.netlink` import only that, unless pyroute2 is already imported."""
    if NAME in sys.modules:
        return
    spec = _find(NAME)
    if spec is None or spec.submodule_search_locations is None:
        return  # the import will fail
    package = _Bare(NAME)
    package.__spec__ = spec
    package.__loader__ = spec.loader
    package.__file__ = spec.origin
    package.__package__ = NAME
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[NAME] = package


def _find(name: str) -> ModuleSpec | None:
    return importlib.util.find_spec(name)
