# SPDX-License-Identifier: GPL-2.0-or-later
"""Device mapper, by the program dmsetup.

What the module finds wrong with a table is in the kernel log only, so that it is read there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from spekctl import distribution, namespaces
from spekctl.augment.table import TARGET, State, Table, parse_status, parse_table
from spekctl.block.augmented import MAPPING
from spekctl.block.device import ROOTS, Roots
from spekctl.distribution import Missing
from spekctl.errors import (
    NoKernelSideError,
    NotFoundError,
    NotPermittedError,
    RefusedError,
    SpekError,
    UsageError,
)

MODULE = "spek_augment"
OLDER = (
    f"the module {MODULE} that is loaded is of an earlier version, which keeps no names; detach all"
    f" caches and load the newer one: `modprobe -r {MODULE} && modprobe {MODULE}`"
)
# Of the target, since it has the feature raid, and the messages lost and forget.
_NAMES_SINCE = (1, 1)
_LOST_SINCE = (1, 2)
_CAP_SYS_ADMIN = 21
_MOST_NAME = 127
_NAME = re.compile(r"[A-Za-z0-9#+.:=@_][A-Za-z0-9#+.:=@_-]*")
# Of tables device mapper itself tells, of what follows the target.
_REASON = re.compile(
    rf"device-mapper: (?:table: \S+ )?{TARGET}: (.+?)(?: \(-\w+\))?$", re.MULTILINE
)
_KMSG = Path("/dev/kmsg")
_NODE_S = 30.0
# dmsetup's last sentence but one where /dev/mapper/control has no driver.
_NO_DRIVER = "Check that device-mapper is available in the kernel."


def check_rights(roots: Roots = ROOTS) -> None:
    """Refuse who may not use device mapper."""
    with contextlib.suppress(OSError):
        text = (roots.proc / "self" / "status").read_text()
        match = re.search(r"^CapEff:\s*([0-9a-f]+)$", text, re.MULTILINE)
        if match and not int(match[1], 16) >> _CAP_SYS_ADMIN & 1:
            where = namespaces.around()
            remedy = f"; {namespaces.RIGHTS_REMEDY}" if where.container else ""
            raise NotPermittedError(
                "not permitted: device mapper needs root (CAP_SYS_ADMIN in the initial user"
                f" namespace){remedy}"
            )


def check_name(name: str) -> None:
    """UsageError for what device mapper would write in another way."""
    if not _NAME.fullmatch(name) or len(name) > _MOST_NAME or name in (".", ".."):
        raise UsageError(
            f"'{name}' is not a name for a mapping; allowed are 1 to {_MOST_NAME} letters, digits"
            " and #+-.:=@_"
        )


def mapping_uuid(uuid: UUID) -> str:
    """The UUID of the mapping of a set: a set cannot be attached twice."""
    return f"{MAPPING}-{uuid}"


class Mapper:
    """The mappings of spek-augment."""

    def __init__(self, roots: Roots = ROOTS) -> None:
        check_rights()
        path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
        program = shutil.which("dmsetup", path=path)
        if program is None:
            raise SpekError(
                f"dmsetup is missing: {distribution.install([Missing.DMSETUP])}",
                operation="dmsetup",
            )
        self._program = program
        self._roots = roots

    def node(self, name: str) -> str:
        """The device of a mapping."""
        return str(self._roots.dev / "mapper" / name)

    def check_target(self) -> bool:
        """Whether the module keeps names of RAIDs in superblocks; NoKernelSideError without the
        module."""
        return self._version() >= _NAMES_SINCE

    def lists_lost(self) -> bool:
        """Whether the module lists blocks that are lost; NoKernelSideError without the module."""
        return self._version() >= _LOST_SINCE

    def _version(self) -> tuple[int, int]:
        match = re.search(rf"^{TARGET}\s+v(\d+)\.(\d+)\.", self._call("targets"), re.MULTILINE)
        if match is None:
            raise NoKernelSideError(
                f"the kernel has no device mapper target {TARGET}: load it by `modprobe {MODULE}`,"
                f" or from a build by `insmod {MODULE}.ko`"
            )
        return int(match[1]), int(match[2])

    def states(self) -> dict[str, State]:
        """All mappings, by name."""
        text = self._call("status", "--noflush", "--target", TARGET)
        pairs = re.findall(rf"^(\S+): (\d+ \d+ {TARGET} .*)$", text, re.MULTILINE)
        return {name: parse_status(line) for name, line in pairs}

    def state(self, name: str) -> State:
        """A mapping; NotFoundError without one of this name."""
        states = self.states()
        if name not in states:
            names = ", ".join(sorted(states)) or "none"
            raise NotFoundError(f"there is no augment cache {name}; attached are: {names}")
        return states[name]

    def table(self, name: str) -> Table:
        """The table of a mapping."""
        return parse_table(self._call("table", name))

    def uuid(self, name: str) -> str:
        """Identity of the set of a mapping."""
        text = self._call("info", "-c", "--noheadings", "-o", "uuid", name).strip()
        return text.removeprefix(f"{MAPPING}-")

    def opens(self, name: str) -> int:
        """How often a mapping is open or mounted."""
        return int(self._call("info", "-c", "--noheadings", "-o", "open", name))

    def number(self, name: str) -> tuple[int, int]:
        """The number of the device of a mapping."""
        text = self._call(
            "info", "-c", "--noheadings", "--separator", ":", "-o", "major,minor", name
        )
        major, _, minor = text.strip().partition(":")
        return int(major), int(minor)

    def create(self, name: str, uuid: UUID, table: Table) -> str:
        """Create a mapping, and wait for its node, which is returned."""
        if name in self._call("info", "-c", "--noheadings", "-o", "name").split():
            raise RefusedError(f"there is a mapping {name} already; choose another name")
        with _kernel_log() as reasons:
            try:
                self._call("create", name, "--uuid", mapping_uuid(uuid), "--table", table.line())
            except SpekError as error:
                if told := reasons():
                    error.say(f"the module refuses to attach {name}: {told[-1]}")
                raise
        node = self.node(name)
        end = time.monotonic() + _NODE_S
        while not os.path.exists(node):
            if time.monotonic() > end:
                raise SpekError(f"{name} is attached but has no node {node} after {_NODE_S:g} s")
            time.sleep(0.05)
        return node

    def remove(self, name: str) -> None:
        """Remove a mapping that nobody has open."""
        self._call("remove", name)

    def message(self, name: str, *words: str) -> None:
        """Send a message to the target."""
        self.ask(name, *words)

    def ask(self, name: str, *words: str) -> str:
        """Send a message to the target; its answer."""
        return self._call("message", name, "0", *words)

    def _call(self, *words: str) -> str:
        done = subprocess.run(
            [self._program, *words],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
        if done.returncode:
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            told = "; ".join(line for line in lines if line != "Command failed.")
            if _NO_DRIVER in told:
                raise NoKernelSideError(
                    "the kernel has no device mapper; as root: modprobe dm_mod", operation="dmsetup"
                )
            raise SpekError(
                f"dmsetup {words[0]} failed: {told or f'exit code {done.returncode}'}",
                operation="dmsetup",
            )
        return "" if done.stdout.startswith("No devices found") else done.stdout


@contextlib.contextmanager
def _kernel_log() -> Iterator[_Reasons]:
    """What device mapper says of tables of the target, from now on."""
    try:
        fd = os.open(_KMSG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield _Reasons(None)
        return
    try:
        os.lseek(fd, 0, os.SEEK_END)
        yield _Reasons(fd)
    finally:
        os.close(fd)


class _Reasons:
    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def __call__(self) -> list[str]:
        told: list[str] = []
        while self._fd is not None:
            try:
                text = os.read(self._fd, 8192).decode("utf-8", "replace")
            except BlockingIOError:
                break
            except OSError:
                continue  # older lines were overwritten
            if not text:
                break
            told += _REASON.findall(text.strip())
        return told
