# SPDX-License-Identifier: GPL-2.0-or-later
"""How many bytes a device really stores, as reported by its driver or by a command.

zram: mem_used_total, the memory of its pool. dm-thin: used blocks of its pool, for all volumes
together. dm-vdo: physical blocks of its data. Any other device needs a command.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spekctl.block.device import ROOTS, Device, Roots
from spekctl.errors import SpekError, UsageError

_SECTOR = 512
_VDO_BLOCK = 4096
_PARITY = ("raid4", "raid5", "raid6")
# The volumes of a pool have numbers of 24 bits.
_LAST_VOLUME = (1 << 24) - 1
_TRIES = 16
# No device stores 10^20 bytes.
_MOST_DIGITS = 20
# A volume must be suspended while a snapshot is taken of it, and the snapshot deleted afterwards.
# One child does all of it, out of reach of Ctrl-C: it prints 0 once there is a snapshot, and keeps
# that until its standard input is closed, by this program or because that was killed. $0: dmsetup;
# $1: volume; $2: pool; $3: number of the snapshot; $4: of the volume.
_SNAPSHOT = """
trap '' HUP INT TERM PIPE
exec 3<&0 </dev/null
taken=
if "$0" suspend "$1" >&2; then
	"$0" message "$2" 0 "create_snap $3 $4" >&2
	code=$?
	test $code != 0 || taken=yes
	"$0" resume "$1" >&2 || code=99
else
	code=$?
	"$0" resume "$1" >&2
fi
echo $code
test $taken || exit 0
test $code != 0 || read -r _ <&3
"$0" message "$2" 0 "delete $3" >&2
"""
_NOT_RESUMED = 99
_NO_ANSWER = 98  # the child itself was killed

Dmsetup = Callable[..., str]


def dmsetup(*words: str) -> str:
    """The standard output of dmsetup."""
    done = _run([_program(), *words], own=True)
    if done.returncode:
        raise SpekError(f"dmsetup failed: {_failure(done)}")
    return done.stdout


def _program() -> str:
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    program = shutil.which("dmsetup", path=path)
    if program is None:
        raise SpekError("dmsetup is missing; it reports what a device mapper device stores")
    return program


def _run(command: list[str], own: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a program. @own: it is not the user's command, and no signal of the terminal ends it."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, "LC_ALL": "C"} if own else None,
        start_new_session=own,
    )


def _failure(done: subprocess.CompletedProcess[str]) -> str:
    return _first_line(done.stderr, done.returncode)


def _first_line(stderr: str, code: int) -> str:
    return (stderr.strip() or f"exit code {code}").splitlines()[0]


@dataclass(frozen=True, slots=True)
class Thin:
    """A thin volume. @name: of its mapping; @pool: of its pool's."""

    name: str
    pool: str
    number: int


@dataclass(frozen=True, slots=True)
class Stored:
    """Reads how many bytes a device stores. @thin: volume of which snapshots can be taken. @free:
    bytes that its pool can still store; None: unknown."""

    what: str
    read: Callable[[], int]
    thin: Thin | None = None
    free: Callable[[], int] | None = None


def of(
    device: Device, command: str | None = None, roots: Roots = ROOTS, call: Dmsetup = dmsetup
) -> Stored:
    """The source for a device; UsageError if neither its driver nor a command reports it."""
    if command is not None:
        return Stored(f"`{command}`", lambda: of_command(command))
    folder = roots.sys / "dev" / "block" / f"{device.major}:{device.minor}"
    counts = folder / "mm_stat"
    if counts.exists():
        return Stored(
            "mem_used_total of zram, what its pool takes",
            lambda: int(counts.read_text().split()[2]),
        )
    if (folder / "dm" / "name").exists():
        name = (folder / "dm" / "name").read_text().strip()
        words = call("table", name).split()
        kind = words[2] if len(words) > 2 else ""
        if kind == "thin":
            return _of_thin(name, words, roots, call)
        if kind == "vdo":
            return Stored(
                "physical data blocks of dm-vdo",
                lambda: vdo_bytes(call("status", name))[0],
                free=lambda: _left(vdo_bytes(call("status", name))),
            )
    raise UsageError(
        f"{device.path}: its driver does not say how many bytes it stores (zram, dm-thin and dm-vdo"
        " do); give a command that prints them with --stored"
    )


def _of_thin(name: str, words: list[str], roots: Roots, call: Dmsetup) -> Stored:
    pool = (roots.sys / "dev" / "block" / words[3] / "dm" / "name").read_text().strip()
    block = int(call("table", pool).split()[5]) * _SECTOR
    thin = Thin(name, pool, int(words[4]))
    return Stored(
        f"blocks in use of dm-thin's pool {pool}",
        # Without --noflush the pool commits first, so that the count is up to date.
        lambda: pool_blocks(call("status", pool))[0] * block,
        thin,
        lambda: _left(pool_blocks(call("status", pool))) * block,
    )


def _left(used_and_all: tuple[int, int]) -> int:
    used, everything = used_and_all
    return everything - used


def pool_blocks(status: str) -> tuple[int, int]:
    """Data blocks in use, and all of them, of a pool's status."""
    match = re.search(r" thin-pool \d+ \d+/\d+ (\d+)/(\d+) ", status)
    if match is None:
        raise SpekError(f"dm-thin's pool reports no numbers of blocks: {status.strip()}")
    return int(match[1]), int(match[2])


def vdo_bytes(status: str) -> tuple[int, int]:
    """Bytes of the physical blocks in use, and of all of them, of the status of dm-vdo."""
    words = status.split()
    known = len(words) >= 10 and words[2] == "vdo" and words[8].isdecimal()
    if not known or not words[9].isdecimal():
        raise SpekError(f"dm-vdo reports no numbers of blocks: {status.strip()}")
    return int(words[8]) * _VDO_BLOCK, int(words[9]) * _VDO_BLOCK


def of_command(command: str) -> int:
    """The number that a command prints."""
    done = _run(["/bin/sh", "-c", command])
    if done.returncode:
        raise SpekError(f"`{command}` failed: {_failure(done)}")
    text = done.stdout.strip()
    if not (text.isascii() and text.isdecimal()) or len(text) > _MOST_DIGITS:
        line = text.partition("\n")[0][:40]
        raise SpekError(f"`{command}` printed '{line}', not one number of bytes")
    return int(text)


@contextlib.contextmanager
def snapshot(thin: Thin) -> Iterator[int]:
    """Hold a snapshot of a thin volume; yields its number in the pool, the highest free one.

    The snapshot is deleted afterwards, also if this program is killed.
    """
    number, keeper = _take_snapshot(thin)
    try:
        yield number
    finally:
        _, stderr = keeper.communicate()
        if keeper.returncode:
            raise SpekError(
                f"snapshot {number} is still in the pool; delete it with `dmsetup message"
                f" {thin.pool} 0 'delete {number}'`: {_first_line(stderr, keeper.returncode)}"
            )


def _take_snapshot(thin: Thin) -> tuple[int, subprocess.Popen[str]]:
    program = _program()
    for number in range(_LAST_VOLUME, _LAST_VOLUME - _TRIES, -1):
        words = [thin.name, thin.pool, str(number), str(thin.number)]
        keeper = subprocess.Popen(
            ["/bin/sh", "-c", _SNAPSHOT, program, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
        assert keeper.stdout is not None
        answer = keeper.stdout.readline().strip()
        code = int(answer) if answer.isdecimal() else _NO_ANSWER
        if not code:
            return number, keeper
        _, stderr = keeper.communicate()
        if code == _NOT_RESUMED:
            raise SpekError(
                f"{thin.name} is still suspended; try `dmsetup resume {thin.name}`:"
                f" {_first_line(stderr, code)}"
            )
        if code == _NO_ANSWER:
            raise SpekError(
                f"{thin.name} may still be suspended, as the process that took a snapshot of it"
                f" was killed; try `dmsetup resume {thin.name}`"
            )
        if "File exists" not in stderr:
            raise SpekError(f"the pool {thin.pool} refuses a snapshot: {_first_line(stderr, code)}")
    raise SpekError(
        f"the pool {thin.pool} has no free volume number from {_LAST_VOLUME - _TRIES + 1} to"
        f" {_LAST_VOLUME}; once no other test of this pool runs, delete the snapshots of tests that"
        f" a power cut ended, with `dmsetup message {thin.pool} 0 'delete {_LAST_VOLUME}'`"
    )


def parity_of(device: Device, roots: Roots = ROOTS) -> str:
    """The md array with parity below the device, in words; empty if there is none."""
    start = roots.sys / "dev" / "block" / f"{device.major}:{device.minor}"
    for folder in _below(start):
        level = _text(folder / "md" / "level")
        if level in _PARITY:
            return f"md {level} of {_text(folder / 'md' / 'raid_disks')} devices"
    return ""


def _below(folder: Path) -> Iterator[Path]:
    yield folder
    slaves = folder / "slaves"
    for name in sorted(os.listdir(slaves)) if slaves.is_dir() else []:
        yield from _below(slaves / name)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
