# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's half of a profile: where a guest's instructions went, by function of its kernel.

Nothing is sampled: a plugin of QEMU's translator (profile.c) counts every instruction where it is.
It is compiled when it is first needed, for the plugin interface of this machine's QEMU, and
declares that interface itself: a C compiler is needed, but no header of QEMU.
"""

from __future__ import annotations

import bisect
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from spekctl.errors import GuestError
from spekctl.vm import compiler
from spekctl.vm.cache import cache_dir, cached, digest_of
from spekctl.vm.marks import KALLSYMS, MODULES

SOURCE = Path(__file__).with_name("profile.c")
HEADER = SOURCE.with_name("plugin.h")
USER = "(user space)"
GONE = "(a module that is gone)"
UNKNOWN = "(unknown)"
_QEMU = "qemu-system-x86_64"
# By the first release of QEMU that takes it: the version of the plugin interface that plugins are
# compiled for. Releases after the last are refused: QEMU may change a function and still load
# plugins that call the old one, as it did with version 3.
_INTERFACES = {(6, 0): 1, (9, 0): 2, (9, 1): 3, (11, 0): 6, (11, 1): 7}
_LAST = (11, 1)
RELEASES = "QEMU {}.{} to {}.{}".format(*min(_INTERFACES), *_LAST)
_KEEP = 2
# What a compiler appends to the name of a part or a variant of a function.
_PART = re.compile(r"(\.(isra|constprop|part|cold|llvm)(\.\d+)*)+$")

Counts = Counter[int]


# ---- the plugin ----


def plugin() -> Path:
    """The compiled plugin, from the cache.

    GuestError: QEMU cannot load it. SpekError: there is no compiler, or it failed.
    """
    options = [interface_option()]
    words = [*compiler.words(), *compiler.FLAGS, *options]
    name = digest_of(SOURCE.parent, [SOURCE, HEADER], *words)

    def compile_to(folder: Path) -> None:
        folder.mkdir()
        compiler.compile_library(folder / "profile.so", [SOURCE], [], "the profiler", options)

    return cached(cache_dir("profiler") / name, compile_to, _KEEP) / "profile.so"


def interface_option() -> str:
    """The option of the compiler that names the plugin interface of this machine's QEMU.

    GuestError: it has none that plugin.h knows.
    """
    needed = f"profiling needs {RELEASES} with plugins"
    said = re.search(r"version (\d+)\.(\d+)\S*", _answer("--version"))
    release = (int(said[1]), int(said[2])) if said else (0, 0)
    known = [version for first, version in _INTERFACES.items() if first <= release <= _LAST]
    if not known:
        raise GuestError(f"{needed}; {_QEMU} is {said[0] if said else 'of an unknown version'}")
    if "-plugin" not in _answer("--help"):
        raise GuestError(f"{needed}; {_QEMU} was built without them")
    return f"-DQEMU_PLUGIN_VERSION={known[-1]}"


def _answer(option: str) -> str:
    try:
        done = subprocess.run([_QEMU, option], capture_output=True, text=True, check=False)
    except OSError as error:
        raise GuestError(f"cannot run {_QEMU}: {error.strerror}") from error
    return done.stdout


def qemu_arguments(folder: Path) -> list[str]:
    """Arguments of a QEMU that writes its counts into @folder."""
    path, place = (str(argument).replace(",", ",,") for argument in (plugin(), folder))
    return ["-plugin", f"{path},dir={place}"]


# ---- its counts ----


class Symbols:
    """Functions by address.

    A module that was loaded and is gone has left no names: behind each module's end, until the
    next function, is nobody's.
    """

    def __init__(self, kallsyms: Iterable[str], modules: Iterable[str]) -> None:
        symbols = []
        for line in kallsyms:
            address, kind, name, *module = line.split()
            if kind in "tTwW":
                name = _PART.sub("", name)
                symbols.append((int(address, 16), f"{name} {module[0]}" if module else name))
        for line in modules:
            _name, size, *_rest, address = line.split(maxsplit=5)
            symbols.append((int(address.split()[0], 16) + int(size), GONE))
        symbols.sort()
        self._starts = [start for start, _name in symbols]
        self._names = [name for _start, name in symbols]

    def name_of(self, address: int) -> str:
        """The function that @address lies in; user for one that isn't the kernel's."""
        if address < 1 << 63:
            return USER
        index = bisect.bisect_right(self._starts, address) - 1
        return self._names[index] if index >= 0 else UNKNOWN


def symbols_in(folder: Path) -> Symbols:
    """The functions of the kernel whose names were copied into @folder."""
    with open(folder / KALLSYMS) as kallsyms, open(folder / MODULES) as modules:
        return Symbols(kallsyms, modules)


def counts_at(folder: Path, mark: int) -> Counts:
    """Executions by address up to the @mark-th mark, from 0."""
    counts: Counts = Counter()
    for line in (folder / f"profile.{mark}").read_text().splitlines():
        address, count = line.split()
        counts[int(address, 16)] += int(count)
    return counts


def by_function(counts: Mapping[int, float], symbols: Symbols) -> Counter[str]:
    """The sum for each function of what is known by address."""
    functions: Counter[str] = Counter()
    for address, count in counts.items():
        functions[symbols.name_of(address)] += count  # type: ignore[assignment]
    return functions
