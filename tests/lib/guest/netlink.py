# SPDX-License-Identifier: GPL-2.0
"""Requests of the spek family for tests in the guest, as plain values."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from lib.guest.netlink_raw import Refusal, Socket
from lib.waiting import comes_true

from spekctl.kernel.gen.spek import Cmd, ConfigPart, Law, Pattern, Reason, RunState

MIB = 1 << 20
SECOND = 10**9
DISK_MIB = 64
# Commands that take the number of a run.
BY_ID = [Cmd.RUN_GET, Cmd.RUN_START, Cmd.RUN_STOP, Cmd.RUN_DEL]
DUMPS = [Cmd.STATS_GET, Cmd.INTERVAL_GET, Cmd.OP_GET, Cmd.MISMATCH_GET, Cmd.MAP_GET]


def target(node: str) -> dict[str, int]:
    device = os.stat(node).st_rdev
    return {"major": os.major(device), "minor": os.minor(device)}


def stream(**changes: Any) -> dict[str, Any]:
    values = {
        "asu": 0,
        "arrival": 0,
        "read_ppm": 1_000_000,
        "pattern": int(Pattern.UNIFORM),
        "range_bytes": DISK_MIB * MIB,
        "align_bytes": 4096,
        "size": [{"bytes": 4096, "weight": 1}],
        **changes,
    }
    return {key: value for key, value in values.items() if value is not None}


def asu(**changes: Any) -> dict[str, Any]:
    values = {"bytes": DISK_MIB * MIB, "extent": [{"target": 0, "start": 0}], **changes}
    return {key: value for key, value in values.items() if value is not None}


def config(node: str, **changes: Any) -> dict[str, Any]:
    """A run that is fine; a change to None leaves the attribute out."""
    values = {
        "name": "test",
        "seed": 1,
        "max_outstanding": 32,
        "time_ns": 3600 * SECOND,
        "worker": [{"cpu": 0}],
        "target": [target(node)],
        "asu": [asu()],
        "arrival": [{"law": int(Law.CLOSED), "depth": 4}],
        "stream": [stream()],
        **changes,
    }
    return {key: value for key, value in values.items() if value is not None}


def make(nl: Socket, values: dict[str, Any]) -> int:
    """A run that has opened its devices. Raises Refusal, also for one that has FAILED: its errno,
    its sentence and its part."""
    (answer,) = nl.ask(Cmd.RUN_NEW, **values).values
    return opened(nl, int(answer["id"]))


def opened(nl: Socket, run: int) -> int:
    """A run once it is not OPENING any more. Raises Refusal if it has FAILED, and deletes it."""
    while (info := nl.ask(Cmd.RUN_GET, id=run).values[0])["state"] == RunState.OPENING:
        time.sleep(0.01)
    if info["state"] != RunState.FAILED:
        return run
    delete(nl, run)
    part = ConfigPart(info["failure_part"])
    attr = "" if part is ConfigPart.RUN else f"{part.name.lower()}[{info['failure_index']}]"
    raise Refusal(info["failure_errno"], info["failure"], attr)


def new(nl: Socket, node: str, **changes: Any) -> int:
    """A READY run."""
    return make(nl, config(node, **changes))


def delete(nl: Socket, run: int) -> None:
    """Delete a run, and wait until its devices are free."""
    nl.ask(Cmd.RUN_DEL, id=run)
    assert comes_true(lambda: is_gone(nl, run))


def state(nl: Socket, run: int) -> RunState:
    return RunState(nl.ask(Cmd.RUN_GET, id=run).values[0]["state"])


def finished(nl: Socket, run: int) -> dict[str, Any]:
    """Start a run, and see it end without an error."""
    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(lambda: state(nl, run) is RunState.DONE)
    info: dict[str, Any] = nl.ask(Cmd.RUN_GET, id=run).values[0]
    assert (info["reason"], info["errors"]) == (Reason.COMPLETED, 0), info
    return info


def is_gone(nl: Socket, run: int) -> bool:
    try:
        nl.ask(Cmd.RUN_GET, id=run)
    except Refusal as no:
        assert no.errno == errno.ENOENT
        return True
    return False


def is_free(node: str) -> bool:
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        assert error.errno == errno.EBUSY
        return False
    return True


def remove(nl: Socket, run: int) -> None:
    """End and delete a run, whatever state it is in. Where its owner has gone, the module does the
    same at the same time: what this asks for may be refused then, and is asked for again."""

    def is_removed() -> bool:
        try:
            now = state(nl, run)
            if now in (RunState.ARMED, RunState.RUNNING):
                nl.ask(Cmd.RUN_STOP, id=run)
            elif now not in (RunState.DRAINING, RunState.CLOSING):
                nl.ask(Cmd.RUN_DEL, id=run)
        except Refusal as no:
            assert no.errno in (errno.ENOENT, errno.EBUSY)
            return no.errno == errno.ENOENT
        return False

    assert comes_true(is_removed)


def refused(act: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act()
    assert caught.value.text, "a refusal without a sentence"
    return caught.value
