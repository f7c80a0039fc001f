# SPDX-License-Identifier: GPL-2.0
"""The modules' own tracepoints, held against the log, the statistics and the rows over netlink.

The events are switched on before a run starts and off after its end: QEMU's emulated CPUs may not
survive code that is patched while another one runs it.
"""

from __future__ import annotations

import errno
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lib.build.sources import ROOT
from lib.guest.disks import make_null, null_disk, remove_null
from lib.guest.drive import SECTOR, Controller, Outcome, assert_completed, one_stream, pieces
from lib.guest.prober import wait_rows
from lib.guest.trace import Events, disk_stat, events
from lib.waiting import LONG_S

from spekctl.kernel.prober import Prober
from spekctl.kernel.records import Direction, IntervalCell, IntervalRow, Phase
from spekctl.log import buffer
from spekctl.log import file as log_file
from spekctl.vm.guest_side import TRACEFS
from spekctl.workload.config import RunConfig

pytestmark = pytest.mark.debug_kernel_at_length

MS = 1_000_000
Fields = dict[str, str]
WORDS = {"op": ("read", "write"), "phase": ("ramp", "measure", "drain")}


@dataclass(frozen=True)
class Traced:
    """A run that is over, its log, its intervals and the events of spek.ko."""

    run: int
    outcome: Outcome
    records: Any
    intervals: list[IntervalRow]
    issued: list[Fields]
    completed: list[Fields]
    closed: list[Fields]


@pytest.fixture
def traced_events(spek_module: Path) -> Iterator[Events]:
    with events("spek") as log:
        yield log


def read_log(run: int, worker: int) -> Any:
    data = b""
    with Path(buffer.debugfs(), f"spek/{run}/worker{worker}").open("rb", buffering=0) as file:
        while piece := file.read(1 << 20):
            data += piece
    return np.frombuffer(data, log_file.record_type())


def traced(controller: Controller, log: Events, config: RunConfig) -> Traced:
    config = msgspec.structs.replace(config, log_records=16384)
    with controller.ready(config) as run:
        outcome = controller.finish(run)
        records = [read_log(run, worker) for worker in range(len(config.cpus))]
        intervals = controller.intervals(run, 0)
    assert all(worker.log_lost == 0 for worker in outcome.info.workers)
    return Traced(
        run,
        outcome,
        np.concatenate(records),
        intervals,
        log.read("spek_io_issue"),
        log.read("spek_io_complete"),
        log.read("spek_interval_close"),
    )


def number(fields: Fields, name: str) -> int:
    """A field as a number; words by their place in the kernel's enum."""
    value = fields[name]
    return WORDS[name].index(value) if name in WORDS else int(value)


def by_worker(rows: list[Fields], *names: str) -> list[tuple[int, ...]]:
    """These fields of the events, worker by worker, each in its order."""
    values_of = [tuple(number(row, name) for name in names) for row in rows]
    return sorted(values_of, key=lambda values: values[names.index("worker")])


def of_log(records: Any, *names: str) -> list[tuple[int, ...]]:
    """The same of the log; its files are those of the workers in order."""
    times = {
        "addr_bytes": records["addr"],
        "op": records["write"],
        "response_ns": records["done_ns"] - records["at_ns"],
        "service_ns": records["done_ns"] - records["issue_ns"],
    }
    columns = [times[name] if name in times else records[name] for name in names]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def assert_events_are_the_log(run: Traced) -> None:
    """Every I/O has one event of each kind, with what the log has of it."""
    what = ("worker", "stream", "asu", "op", "addr_bytes", "bytes")
    completed = (*what, "phase", "error", "response_ns", "service_ns", "done_ns")
    issued = (*what, "at_ns", "issue_ns")
    assert by_worker(run.completed, *completed) == of_log(run.records, *completed)
    assert sorted(by_worker(run.issued, *issued)) == sorted(of_log(run.records, *issued))
    assert {row["run"] for row in run.issued + run.completed + run.closed} == {str(run.run)}


# ---- I/Os ----


@pytest.mark.parametrize("backend", ["bio", "mq"])
def test_events_agree_with_the_log_and_all_counts(
    controller: Controller, traced_events: Events, backend: str
) -> None:
    with null_disk(irqmode=0, hw_queue_depth=64) as node:
        before = disk_stat(node)
        config = one_stream(
            node,
            sizes=((4096, 3), (8192, 1)),
            read_ppm=600_000,
            depth=8,
            workers=2,
            backend=backend,
            count=1500,
            interval_ns=10 * MS,
        )
        config = msgspec.structs.replace(config, ramp_count=300)
        run = traced(controller, traced_events, config)
        disk = {way: counts.since(before[way]) for way, counts in disk_stat(node).items()}

    assert_completed(run.outcome)
    assert_events_are_the_log(run)
    assert len(run.completed) == len(run.issued) == run.outcome.ios()
    # The ramp-up ends for both workers at one time, when both have made their shares of 300.
    assert run.outcome.ios(phase=Phase.RAMP) >= 300
    assert run.outcome.ios(phase=Phase.MEASURE) == 1500
    assert {row["worker"] for row in run.completed} == {"0", "1"}
    assert {row["phase"] for row in run.completed} >= {"ramp", "measure"}
    for way in Direction:
        mine = [row for row in run.completed if row["op"] == way]
        assert len(mine) == run.outcome.ios(way) == disk[way].ios > 0
        size = sum(number(row, "bytes") for row in mine)
        assert size == run.outcome.bytes(way) == disk[way].sectors * SECTOR
    for phase in Phase:
        mine = [row for row in run.completed if row["phase"] == phase]
        assert len(mine) == run.outcome.ios(phase=phase)
    target = run.outcome.target
    for row in run.issued + run.completed:
        assert row["dev"] == f"{target.major},{target.minor}"
        assert number(row, "sector") == number(row, "addr_bytes") // SECTOR
    assert {row["nr_parts"] for row in run.issued} == {"1"}


def test_an_operation_of_several_parts_is_one_event(
    controller: Controller, traced_events: Events
) -> None:
    """Its device and sector are those of its first part."""
    with null_disk(irqmode=0) as first, null_disk(irqmode=0) as second:
        config = one_stream(
            *(first, second),
            sizes=((8192, 1), (24576, 1)),
            align_bytes=4096,
            stripe_bytes=16384,
            count=500,
            depth=4,
        )
        run = traced(controller, traced_events, config)

    assert_completed(run.outcome)
    assert_events_are_the_log(run)
    shown, expected = Counter[tuple[str, int, int]](), Counter[tuple[str, int, int]]()
    targets = [f"{target.major},{target.minor}" for target in run.outcome.info.targets]
    for row in run.issued:
        shown[row["dev"], number(row, "sector"), number(row, "nr_parts")] += 1
    for record in run.records:
        parts = list(pieces(config.asus[0], int(record["addr"]), int(record["bytes"])))
        expected[targets[parts[0][0]], parts[0][1] // SECTOR, len(parts)] += 1
    assert shown == expected
    assert {parts for _, _, parts in shown} == {1, 2, 3}
    assert {dev for dev, _, _ in shown} == set(targets)


@pytest.mark.parametrize("parts", [1, 2])
def test_an_operation_that_waits_for_room_is_one_event(
    controller: Controller, traced_events: Events, parts: int
) -> None:
    """Before its first part, or with some of its parts already sent."""
    few = {"irqmode": 2, "completion_nsec": MS, "hw_queue_depth": 4}
    with null_disk(irqmode=0) as large, null_disk(**few) as small:
        nodes = (small,) if parts == 1 else (large, small)
        config = one_stream(
            *nodes,
            sizes=((4096 * parts, 1),),
            stripe_bytes=4096 if parts > 1 else 0,
            align_bytes=4096 * parts,
            depth=16,
            backend="mq",
            count=300,
        )
        run = traced(controller, traced_events, config)

    assert_completed(run.outcome)
    assert {row["nr_parts"] for row in run.issued} == {str(parts)}
    assert len(run.issued) == 300
    assert_events_are_the_log(run)
    # They waited: sixteen are outstanding all the time and four are served in 1 ms, so the mean
    # response is 4 ms. Of two parts the first always finds room, so it is the second that waits.
    assert np.mean([number(row, "response_ns") for row in run.completed]) > 2 * MS


def test_failed_operations_say_their_errno(controller: Controller, traced_events: Events) -> None:
    node, item = make_null(size_mb=1, irqmode=0)
    # Piece by piece: before v6.7 the kernel gets the order of a longer range's pieces wrong.
    for first in range(0, 1024, 512):
        (item / "badblocks").write_text(f"+{first}-{first + 511}")
    try:
        config = one_stream(node, count=200, depth=4, interval_ns=10 * MS)
        run = traced(controller, traced_events, config)
    finally:
        remove_null(item)

    assert_events_are_the_log(run)
    failed = [row for row in run.completed if row["error"] != "0"]
    assert {row["error"] for row in failed} == {str(errno.EIO)}
    assert {number(row, "sector") < 1024 for row in failed} == {True}
    assert 0 < len(failed) == run.outcome.info.errors < len(run.completed)
    assert sum(number(row, "errors") for row in run.closed) == len(failed)


# ---- intervals ----


def closed_fields(row: IntervalRow) -> Fields:
    """What the event of an interval must print."""

    def cell(name: str, counts: IntervalCell) -> dict[str, int]:
        return {
            f"{name}_ios": counts.ios,
            f"{name}_bytes": counts.bytes,
            f"{name}_response_max_ns": counts.response_max_ns,
        }

    values = {
        "seq": row.seq,
        "start_ns": row.start_ns,
        "end_ns": row.end_ns,
        **cell("read", row.read),
        **cell("write", row.write),
        "errors": row.read.errors + row.write.errors,
        "outstanding": row.outstanding,
        "backlog": row.backlog,
        "coverage_ppm": row.coverage_ppm,
    }
    return {"phase": str(row.phase), **{name: str(n) for name, n in values.items()}}


def test_each_interval_is_an_event_as_it_closes(
    controller: Controller, traced_events: Events
) -> None:
    with null_disk(irqmode=2, completion_nsec=MS) as node:
        config = one_stream(
            node, read_ppm=500_000, depth=4, workers=2, time_ns=300 * MS, interval_ns=20 * MS
        )
        config = msgspec.structs.replace(config, ramp_ns=60 * MS)
        run = traced(controller, traced_events, config)

    expected = [{"run": str(run.run), **closed_fields(row)} for row in run.intervals]
    assert run.closed == expected
    assert len(expected) > 3
    assert {row["phase"] for row in expected} == {"ramp", "measure", "drain"}
    ios = sum(number(row, "read_ios") + number(row, "write_ios") for row in run.closed)
    assert ios == run.outcome.ios() == len(run.completed)


# ---- the prober ----


def test_each_row_of_a_probe_is_an_event(prober_module: Path) -> None:
    with Prober() as prober, events("spek_prober") as log:
        probe = prober.start(20 * MS)
        wait_rows(prober, 10)
        info = prober.stop(probe)
        rows, dropped = prober.rows(probe)
        traced_rows = log.read("spek_probe_row")
        prober.delete(probe)

    assert dropped == 0
    names = ("seq", "tick", "due_ns", "start_ns", "end_ns")
    expected = [
        {**{name: str(getattr(row, name)) for name in names}, "final": str(int(row.final))}
        for row in rows
    ]
    assert traced_rows == expected
    assert len(expected) == info.rows > 10
    assert [row["final"] for row in expected] == ["0"] * (len(expected) - 1) + ["1"]


# ---- switching on and off ----


def documented(text: str) -> tuple[set[str], list[str]]:
    """Events and commands of the page about the modules."""
    section = text.split("## Tracepoints\n")[1].split("\n## ")[0]
    events_of_page = set(re.findall(r"(?m)^\| `(\w+:\w+)` \|", section))
    return events_of_page, re.findall(r"(?m)^    (.+)$", section)


def test_the_page_names_every_event(
    spek_module: Path, prober_module: Path, drive_module: Path
) -> None:
    names, _ = documented((ROOT / "kmod/README.md").read_text())
    with events("spek") as load, events("spek_prober") as prober, events("spek_drive") as drive:
        assert names == {
            f"{log.group.name}:{path.parent.name}"
            for log in (load, prober, drive)
            for path in log.group.glob("*/enable")
        }


def shell(directory: str, *commands: str) -> str:
    """What the commands print, one after the other in @directory."""
    text = "\n".join((directory, *commands))
    return subprocess.run(
        ["sh", "-e", "-c", text], stdout=subprocess.PIPE, text=True, check=True, timeout=LONG_S
    ).stdout


def test_the_commands_of_the_page_show_slow_operations_only(controller: Controller) -> None:
    _, (directory, *commands) = documented((ROOT / "kmod/README.md").read_text())
    at = next(i for i, line in enumerate(commands) if line.startswith("timeout 10 "))
    event = TRACEFS / "events/spek/spek_io_complete"
    # cat ends with its time. On a slow machine it may not have shown all by then, and what it has
    # taken from the pipe is gone.
    for seconds in (2, 20, 120):
        watch = commands[at].replace("timeout 10", f"timeout {seconds}") + " || [ $? = 124 ]"
        records = []
        try:
            (TRACEFS / "trace").write_text("")
            shell(directory, *commands[:at])
            for completion_ns, count in ((20 * MS, 20), (MS, 200)):
                with null_disk(irqmode=2, completion_nsec=completion_ns) as node:
                    config = one_stream(node, count=count)
                    config = msgspec.structs.replace(config, log_records=1024)
                    with controller.ready(config) as run:
                        assert_completed(controller.finish(run))
                        records.append(read_log(run, 0))
            times = np.concatenate([log["done_ns"] - log["at_ns"] for log in records]).tolist()
            slow = [ns for ns in times if ns > 10 * MS]
            shown = [int(ns) for ns in re.findall(r"response_ns=(\d+)", shell(directory, watch))]
            shell(directory, *commands[at + 1 :])
            assert (event / "enable").read_text() == "0\n"
        finally:
            (event / "enable").write_text("0")
            (event / "filter").write_text("0")
        if len(shown) >= len(slow):
            break
    assert shown == slow
    assert 20 <= len(slow) < len(times)


def test_words_are_printed_without_knowing_the_enums(traced_events: Events) -> None:
    """Tools that read the binary buffers get numbers and their words, not names of C enums."""
    for event, enums in (
        ("spek_io_issue", ("op",)),
        ("spek_io_complete", ("op", "phase")),
        ("spek_interval_close", ("phase",)),
    ):
        text = traced_events.format(event)
        assert "SPEK_" not in text, text
        for enum in enums:
            pairs = re.findall(rf"__print_symbolic\(REC->{enum},(.*?)\)", text)
            assert len(pairs) == 1, text
            words = re.findall(r'{ (\d+), "(\w+)" }', pairs[0])
            assert words == [(str(n), word) for n, word in enumerate(WORDS[enum])]


def test_nothing_is_recorded_by_events_that_are_off(
    controller: Controller, traced_events: Events
) -> None:
    """One of them is on: it alone is recorded."""
    (traced_events.group / "enable").write_text("0")
    (traced_events.group / "spek_interval_close" / "enable").write_text("1")
    with null_disk(irqmode=0) as node:
        config = one_stream(node, count=100, interval_ns=10 * MS)
        run = traced(controller, traced_events, config)

    assert_completed(run.outcome)
    assert (run.issued, run.completed) == ([], [])
    assert len(run.closed) == len(run.intervals) > 0
