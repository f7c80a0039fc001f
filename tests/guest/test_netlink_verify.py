# SPDX-License-Identifier: GPL-2.0
"""Stamped data over netlink: what is refused, and a map that is given, kept and taken over."""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import held_disk, mapped_disk, null_disk
from lib.guest.netlink import (
    DISK_MIB,
    MIB,
    SECOND,
    asu,
    delete,
    is_free,
    new,
    refused,
    state,
    stream,
)
from lib.guest.netlink_raw import Socket
from lib.waiting import comes_true

from spekctl.kernel.gen.spek import MAP_STATES, Backend, Cmd, Data, Law, Pattern, RunState

STAMPED = {"data": int(Data.STAMPED)}
WRITES: dict[str, Any] = {**STAMPED, "write": 1, "stream": [stream(read_ppm=500_000)]}
pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel_at_length]
GRAINS = DISK_MIB * MIB // 4096


def states(*values: int) -> bytes:
    return struct.pack(f"={len(values)}Q", *values)


def done(nl: Socket, node: str, **changes: Any) -> int:
    """A run that is over."""
    run = new(nl, node, time_ns=None, **{"count": 50, **changes})
    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(lambda: state(nl, run) == RunState.DONE)
    return run


@pytest.mark.parametrize(
    ("changes", "attr", "text"),
    [
        ({"stamp_id": 1}, "stamp_id", "This attribute needs stamped data."),
        ({"verify_from": 1}, "verify_from", "This attribute needs stamped data."),
        ({"grain_bytes": 4096}, "grain_bytes", "This attribute needs stamped data."),
        ({"verify_newer": 1}, "verify_newer", "This attribute needs stamped data."),
        (
            {**WRITES, "verify_newer": 1},
            "verify_newer",
            "This attribute needs a workload that only reads: a run knows its own writes.",
        ),
        (
            {**WRITES, "grain_bytes": 1000},
            "grain_bytes",
            "A grain must be a power of two of at least 512 bytes.",
        ),
        (
            {**WRITES, "stamp_id": 1, "verify_from": 1},
            "stamp_id",
            "A run that continues another one takes over its stamp-id: leave it out.",
        ),
    ],
)
def test_attributes_that_do_not_fit(
    nl: Socket, disks: list[str], changes: dict[str, Any], attr: str, text: str
) -> None:
    no = refused(lambda: new(nl, disks[0], **changes))
    assert (no.errno, no.attr, no.text) == (errno.EINVAL, attr, text)


def test_stamped_data_need_something_to_compare(nl: Socket, disks: list[str]) -> None:
    no = refused(lambda: new(nl, disks[0], **STAMPED))
    assert no.errno == errno.EINVAL and "only reads" in no.text
    no = refused(lambda: new(nl, disks[0], **WRITES, max_outstanding=65535))
    assert no.errno == errno.ERANGE
    no = refused(
        lambda: new(
            *(nl, disks[0]),
            **WRITES,
            asu=[asu(stripe_bytes=4096, extent=[{"target": 0, "start": 0}] * 2)],
        )
    )
    assert no.errno == errno.EINVAL


def test_another_run_must_fit(nl: Socket, disks: list[str]) -> None:
    plain = done(nl, disks[0])
    written = done(nl, disks[0], **WRITES)
    for changes, code in (
        ({"verify_from": 99999}, errno.ENOENT),
        ({"verify_from": plain}, errno.EINVAL),
        ({"verify_from": written, "seed": 2}, errno.EINVAL),
        ({"verify_from": written, "stream": [stream(size=[{"bytes": 512, "weight": 1}])]},
         errno.EINVAL),
    ):  # fmt: skip
        no = refused(partial(new, nl, disks[0], **{**STAMPED, **changes}))
        assert no.errno == code, changes
    assert refused(lambda: new(nl, disks[1], **STAMPED, verify_from=written)).errno == errno.EINVAL

    going = new(nl, disks[0], **WRITES)
    nl.ask(Cmd.RUN_START, id=going)
    assert refused(lambda: nl.dump(Cmd.MAP_GET, run=going)).errno == errno.EBUSY
    assert refused(lambda: nl.dump(Cmd.MAP_GET, run=plain)).errno == errno.EINVAL
    assert refused(lambda: nl.dump(Cmd.MISMATCH_GET, run=plain)).errno == errno.EINVAL
    parts = {"target": 0, "first": 0, "states": states(2)}
    assert refused(lambda: nl.ask(Cmd.MAP_SET, run=going, **parts)).errno == errno.EBUSY
    assert refused(lambda: nl.ask(Cmd.MAP_SET, run=plain, **parts)).errno == errno.EINVAL


def test_a_disk_that_has_taken_the_number_of_another_is_not_read_back(
    nl: Socket, disks: list[str]
) -> None:
    """Device mapper gives the number of a disk that was removed to the next one."""
    table = f"0 {DISK_MIB * MIB // 512} linear {{}} 0"
    with mapped_disk("spek-written", table.format(disks[0])) as node:
        number = Path(node).stat().st_rdev
        written = done(nl, node, **WRITES)
        # the same disk
        done(nl, node, **STAMPED, verify_from=written)
    with mapped_disk("spek-next", table.format(disks[1])) as node:
        assert Path(node).stat().st_rdev == number
        no = refused(lambda: new(nl, node, **STAMPED, verify_from=written))
        assert no.errno == errno.ENODEV and "replaced" in no.text


def test_a_map_is_what_it_was(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], **STAMPED, stamp_id=77, grain_bytes=4096)
    info = nl.ask(Cmd.RUN_GET, id=run).values[0]
    assert (info["stamp_id"], info["grain_bytes"]) == (77, 4096)
    (target,) = info["target"]
    assert (target["map_start"], target["map_bytes"]) == (0, DISK_MIB * MIB)

    last = GRAINS - 1
    for first, values in ((3, (2, 0, 5)), (last, (1 << 43,))):
        nl.ask(Cmd.MAP_SET, run=run, target=0, first=first, states=states(*values))
    by_grain = {}
    for part in nl.dump(Cmd.MAP_GET, run=run).values:
        data = bytes(part["states"])
        for index, (value,) in enumerate(struct.iter_unpack("=Q", data)):
            if value:
                by_grain[part["first"] + index] = value
    assert by_grain == {3: 2, 5: 5, last: 1 << 43}

    for first, data, code in (
        (GRAINS, states(2), errno.ERANGE),
        (last, states(2, 2), errno.ERANGE),
        (2**64 - 1, states(2), errno.ERANGE),
        (0, states(1 << 47), errno.EINVAL),
        (0, states(2, (1 << 43) + 4), errno.ERANGE),  # it would wrap within a long run
        (0, bytes(12), errno.EINVAL),
    ):
        no = refused(partial(nl.ask, Cmd.MAP_SET, run=run, target=0, first=first, states=data))
        assert no.errno == code, (first, data)
    no = refused(lambda: nl.ask(Cmd.MAP_SET, run=run, target=0, first=0, states=states(4 << 44)))
    assert "at most 2^41 times" in str(no)
    no = refused(lambda: nl.ask(Cmd.MAP_SET, run=run, target=1, first=0, states=states(2)))
    assert no.errno == errno.ERANGE
    assert refused(lambda: nl.ask(Cmd.MAP_SET, run=run)).errno == errno.EINVAL


def found_states(nl: Socket, run: int) -> list[int]:
    """What the run has written: 4 * generation + content, of each block that has been."""
    parts = nl.dump(Cmd.MAP_GET, run=run).values
    whole = b"".join(bytes(part["states"]) for part in parts)
    return [value for (value,) in struct.iter_unpack("=Q", whole) if value]


def ends_while_one_waits(
    nl: Socket, run: int, let_go: Callable[[], None], takes_ns: float = float("inf")
) -> bool:
    """Stop a run that has one write with the device and one that it could not send. Return: False
    if the first may have been over then, which the device @takes_ns for."""

    def one_of_two() -> bool:
        (info,) = nl.ask(Cmd.RUN_GET, id=run).values
        return bool(info["outstanding"] == 1 and info["now_ns"] - info["started_ns"] > SECOND // 20)

    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(one_of_two)
    nl.ask(Cmd.RUN_STOP, id=run)
    (info,) = nl.ask(Cmd.RUN_GET, id=run).values
    is_in_time = bool(info["now_ns"] - info["started_ns"] < takes_ns)
    assert comes_true(lambda: state(nl, run) != RunState.RUNNING)
    assert state(nl, run) == RunState.DRAINING or takes_ns < float("inf")
    let_go()
    assert comes_true(lambda: state(nl, run) == RunState.DONE)
    return is_in_time


TWO_WRITES: dict[str, Any] = {
    **STAMPED,
    "write": 1,
    "max_outstanding": 2,
    "arrival": [{"law": int(Law.CLOSED), "depth": 2}],
}


def test_a_write_that_is_dropped_keeps_nobody_out(nl: Socket) -> None:
    """It waited for another one on the same block, as a continued run can read."""
    block = {"range_bytes": 4096}
    with null_disk(64, memory_backed=1) as below, held_disk(below) as (node, answer):
        run = new(nl, node, **TWO_WRITES, stream=[stream(read_ppm=0, **block)])
        assert ends_while_one_waits(nl, run, answer)
        (info,) = nl.ask(Cmd.RUN_GET, id=run).values
        assert info["verify"]["waits"] == 1
        assert found_states(nl, run) == [4]

        reader = done(nl, node, **STAMPED, verify_from=run, stream=[stream(**block)], count=1)
        (info,) = nl.ask(Cmd.RUN_GET, id=reader).values
        assert (info["verify"]["checked"], info["verify"]["mismatches"]) == (4096 // 512, 0)
        for number in (run, reader):
            delete(nl, number)
        assert comes_true(lambda: is_free(node))


def test_a_write_that_no_device_has_seen_is_none(nl: Socket) -> None:
    """The driver had no room for it: what lay there before is still what has to be found."""
    # However long it takes to stop a run, one of these is longer.
    for takes_ns in (2 * SECOND, 20 * SECOND):
        with null_disk(64, hw_queue_depth=1, irqmode=2, completion_nsec=takes_ns) as node:
            run = new(
                *(nl, node),
                **TWO_WRITES,
                backend=int(Backend.MQ),
                stream=[stream(read_ppm=0, pattern=int(Pattern.SEQUENTIAL))],
            )
            is_in_time = ends_while_one_waits(nl, run, lambda: None, takes_ns)
            written = found_states(nl, run)
            delete(nl, run)
            assert comes_true(partial(is_free, node))
        if is_in_time:
            break
    else:
        pytest.fail("no run is stopped while its first write is with the device")
    assert written == [4]


def test_the_whole_map_comes_out_of_a_dump(nl: Socket, disks: list[str]) -> None:
    """More than a buffer holds."""
    run = new(nl, disks[0], **STAMPED, stamp_id=77)
    for first in range(0, GRAINS, MAP_STATES):
        values = range(first + 1, min(first + MAP_STATES, GRAINS) + 1)
        data = states(*(2 * value for value in values))
        nl.ask(Cmd.MAP_SET, run=run, target=0, first=first, states=data)
    parts = nl.dump(Cmd.MAP_GET, run=run).values
    assert len(parts) > 1
    whole = b"".join(bytes(part["states"]) for part in parts)
    assert whole == states(*(2 * (index + 1) for index in range(GRAINS)))
