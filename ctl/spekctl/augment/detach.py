# SPDX-License-Identifier: GPL-2.0-or-later
"""Destages what the RAID lacks, and removes the mapping, after which the RAID is whole alone."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable

from spekctl import units
from spekctl.augment import log, sets
from spekctl.augment.format import name_of
from spekctl.augment.mapper import Mapper
from spekctl.augment.reader import Reader
from spekctl.augment.state import device_at
from spekctl.augment.table import State, Table
from spekctl.block import device as devices
from spekctl.block import safety
from spekctl.block.device import ROOTS, Roots
from spekctl.documents.augment import Mode
from spekctl.errors import RefusedError, SpekError
from spekctl.kernel.records import ClaimInfo, RunInfo

LOOK_S = 0.2


def destage(mapper: Mapper, name: str) -> State:
    """Begin to destage all that has been written so far; the state before."""
    state = mapper.state(name)
    _refuse_failed(name, state)
    mapper.message(name, "destage")
    return state


def wait_clean(
    mapper: Mapper,
    name: str,
    timeout_ns: int | None = None,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], int] = time.monotonic_ns,
) -> State:
    """Wait until nothing is in the log. New writes are destaged too, so that it may take long."""
    started_ns = clock()
    while True:
        state = mapper.state(name)
        _refuse_failed(name, state)
        if state.is_clean:
            return state
        if timeout_ns is not None and clock() - started_ns >= timeout_ns:
            raise SpekError(
                f"{name} still has {state.dirty_blocks:,} blocks that the RAID lacks, after"
                f" {units.format_duration(timeout_ns)}; destaging continues"
            )
        mapper.message(name, "destage")
        pause(LOOK_S)


def _refuse_failed(name: str, state: State) -> None:
    if state.mode is not Mode.FAILED:
        return
    if not state.dirty_blocks:
        raise SpekError(
            f"{name} has failed because all its devices are lost, after everything was destaged:"
            f" the RAID is whole. Remove the cache by `dmsetup remove {name}`, and do not attach"
            " its devices again: they do not know of what is written to the RAID without them"
        )
    raise SpekError(
        f"{name} has failed and destages nothing any more:"
        f" {state.lost_blocks:,} blocks have no readable copy left, all others are on the RAID."
        f" Remove it by `dmsetup remove {name}`, and attach it again without the device that"
        f" failed, or give the blocks up by `spekctl augment forget {name}`"
    )


def detach(
    mapper: Mapper,
    name: str,
    timeout_ns: int | None = None,
    runs: Iterable[RunInfo] = (),
    claims: Iterable[ClaimInfo] = (),
    roots: Roots = ROOTS,
    pause: Callable[[float], None] = time.sleep,
) -> State:
    """Refuse a cache in use; destage, wait, remove, and look whether the log is empty indeed."""
    runs, claims = list(runs), list(claims)
    state = mapper.state(name)
    _refuse_failed(name, state)
    _refuse_open(mapper, name, runs, claims, roots)
    table = mapper.table(name)
    mapper.message(name, "destage")
    state = wait_clean(mapper, name, timeout_ns, pause)
    _refuse_open(mapper, name, runs, claims, roots)
    mapper.remove(name)
    _check_empty(name, table, state, roots)
    return state


def _refuse_open(
    mapper: Mapper,
    name: str,
    runs: list[RunInfo],
    claims: list[ClaimInfo],
    roots: Roots,
) -> None:
    if not mapper.opens(name):
        return
    device = devices.by_number(*mapper.number(name), path=mapper.node(name), roots=roots)
    users = safety.users(device, runs, claims, roots) if device is not None else []
    told = "; ".join(users) or "the kernel counts an open that no process or mount accounts for"
    raise RefusedError(f"{mapper.node(name)} is in use: {told}")


def _check_empty(name: str, table: Table, state: State, roots: Roots) -> None:
    """Somebody may have written between the last look and the removal. What is in the log then is
    in no danger, but the RAID lacks it."""
    with contextlib.ExitStack() as stack:
        readers: dict[int, Reader] = {}
        parts = []
        for number, text in enumerate((table.ssd, *table.spares)):
            device = device_at(text, roots) if state.live >> number & 1 else None
            if device is None:
                continue
            reader = stack.enter_context(Reader(device.path, (device.major, device.minor)))
            part = sets.read(device.path, reader)
            if part is not None and part.newest.device == number:
                readers[number] = reader
                parts.append(part)
        if not parts:
            return
        known = sets.gather(parts)
        current = {number: readers[number] for number in known.current}
        rest = log.follow(known.newest, current, data=False)
    if rest.records:
        raise SpekError(
            f"{name} is detached, but its log has {rest.blocks:,} blocks that were written at the"
            " last moment: do not use the RAID, but attach it again"
        )
    if known.is_unknown_without(rest.unread):
        names = " and ".join(name_of(number) for number in rest.unread)
        raise SpekError(
            f"{name} is detached, but its log cannot be read on {names}: whether something was"
            " written at the last moment is not known; attach it again before the RAID is used"
        )
