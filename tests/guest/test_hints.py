# SPDX-License-Identifier: GPL-2.0
"""I/O priorities and write hints of streams: the block layer and the drivers see them."""

from __future__ import annotations

import errno
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import null_disk, scsi_disk
from lib.guest.drive import queue_of
from lib.guest.netlink import DISK_MIB, MIB, asu, delete, new, state, stream
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.trace import request_log
from lib.waiting import comes_true

from spekctl.kernel.gen.spek import Backend, Cmd, Law, Priority, RunState, WriteHint

GROUP_STATS = Path("/sys/bus/pseudo/drivers/scsi_debug/group_number_stats")
# Two streams share a disk. It has requests of both to choose from for as long as a worker that
# waits for a processor does not answer it: DEPTH * SERVICE_NS.
SERVED, SERVICE_NS, DEPTH = 300, 10_000_000, 16
TWO_LOOPS = [{"law": int(Law.CLOSED), "depth": DEPTH}] * 2
BACKENDS = [Backend.BIO, Backend.MQ]


@pytest.fixture(scope="module")
def scheduled(spek_module: Path) -> Iterator[str]:
    """A disk that takes one request at a time, and whose scheduler knows priorities."""
    with null_disk(
        DISK_MIB, irqmode=2, completion_nsec=SERVICE_NS, submit_queues=1, hw_queue_depth=1
    ) as node:
        (queue_of(node) / "scheduler").write_text("mq-deadline")
        # Of the requests that wait for the disk, those beyond this wait in order of arrival.
        (queue_of(node) / "nr_requests").write_text("64")
        # ms; after 10 s without being served, requests of a low class would have their turn.
        (queue_of(node) / "iosched/prio_aging_expire").write_text("3600000")
        yield node


def ran(nl: Socket, run: int) -> dict[int, int]:
    """Start a run, and see it end without an error. Return: I/Os of each stream."""
    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(lambda: state(nl, run) is RunState.DONE)
    assert nl.ask(Cmd.RUN_GET, id=run).values[0]["errors"] == 0
    ios: Counter[int] = Counter()
    for cell in nl.dump(Cmd.STATS_GET, run=run).values:
        if "ios" in cell:
            ios[cell["stream"]] += cell["ios"]
    delete(nl, run)
    return ios


def shared(nl: Socket, node: str, backend: Backend, *hints: dict[str, int]) -> dict[int, int]:
    """Two loops of equal depth on one disk until it has served SERVED I/Os, with these hints."""
    streams = [stream(arrival=number, **hint) for number, hint in enumerate(hints)]
    values = {"arrival": TWO_LOOPS, "stream": streams, "time_ns": None, "count": SERVED}
    return ran(nl, new(nl, node, backend=int(backend), max_outstanding=2 * DEPTH, **values))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_scheduler_prefers_the_higher_class(
    nl: Socket, scheduled: str, backend: Backend
) -> None:
    equal = shared(nl, scheduled, backend, {}, {})
    assert 0.5 < equal[0] / equal[1] < 2, equal
    unequal = shared(
        nl, scheduled, backend, {"priority": int(Priority.IDLE)}, {"priority": int(Priority.RT)}
    )
    assert unequal[1] > 10 * unequal[0], unequal


@pytest.mark.parametrize("backend", BACKENDS)
def test_requests_have_the_class_and_level_of_their_stream(
    nl: Socket, scheduled: str, backend: Backend
) -> None:
    with request_log(scheduled) as log:
        if not log.shows_priorities():
            pytest.skip("this kernel's tracepoints do not show I/O priorities: Linux 6.11 does")
        ios = shared(
            nl,
            scheduled,
            backend,
            {"priority": int(Priority.BE), "priority_level": 6},
            {"priority": int(Priority.RT), "priority_level": 2},
        )
        traced = log.priorities()
    assert set(traced) == {("be", 6), ("rt", 2)}
    assert (traced["be", 6], traced["rt", 2]) == (ios[0], ios[1])


def written_by_group() -> dict[int, int]:
    """Writes that the emulated SCSI disks got for each group number."""
    return {
        int(group): int(count)
        for group, count in re.findall(r"^(\d+) +(\d+)$", GROUP_STATS.read_text(), re.MULTILINE)
    }


def hinting(**changes: Any) -> dict[str, Any]:
    return stream(range_bytes=16 * MIB, write_hint=int(WriteHint.LONG), read_ppm=0, **changes)


def test_drivers_get_the_write_hint_of_each_write(nl: Socket, spek_module: Path) -> None:
    with scsi_disk(16) as node:
        common: dict[str, Any] = {"write": 1, "time_ns": None, "asu": [asu(bytes=16 * MIB)]}
        mixed = [hinting(weight=3), stream(range_bytes=16 * MIB, read_ppm=500_000)]
        if not GROUP_STATS.exists():
            with pytest.raises(Refusal) as no:
                new(nl, node, count=10, stream=mixed, **common)
            assert (no.value.errno, no.value.attr) == (errno.EOPNOTSUPP, "stream[0]")
            assert no.value.text == "This kernel has no write hints: Linux has them from 6.9 on."
            return
        for backend in BACKENDS:
            before = written_by_group()
            run = new(nl, node, count=400, stream=mixed, backend=int(backend), **common)
            ios = ran(nl, run)
            after = written_by_group()
            got = {group: after[group] - before[group] for group in after}
            assert got[WriteHint.LONG] == ios[0] > 250
            assert sum(got.values()) - got[0] == ios[0], got


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"priority": 4}, errno.ERANGE, "out of range"),
    ({"priority": 1, "priority_level": 8}, errno.ERANGE, "out of range"),
    ({"priority": 3, "priority_level": 1}, errno.EINVAL, "whose class is neither rt nor be"),
    ({"write_hint": 6}, errno.ERANGE, "out of range"),
    ({"write_hint": 2}, errno.EINVAL, "no writes of data"),
]


@pytest.mark.parametrize(("changes", "code", "text"), REFUSED)
def test_hints_that_make_no_sense_are_refused(
    nl: Socket, disks: Sequence[str], changes: dict[str, int], code: int, text: str
) -> None:
    with pytest.raises(Refusal) as no:
        new(nl, disks[0], stream=[stream(**changes)])
    assert (no.value.errno, text in no.value.text) == (code, True), no.value


def test_scsi_commands_have_no_hints(nl: Socket, spek_module: Path) -> None:
    with scsi_disk(16) as node, pytest.raises(Refusal) as no:
        new(
            nl,
            node,
            backend=int(Backend.SCSI),
            asu=[asu(bytes=16 * MIB)],
            stream=[stream(range_bytes=16 * MIB, priority=1)],
        )
    assert "Only back ends bio and mq have" in no.value.text
