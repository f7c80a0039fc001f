# SPDX-License-Identifier: GPL-2.0
"""Streams of a trace on hosts with different numbers of devices: one for each operation in the sum,
whatever the order of merges."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest
from lib.ctl.fleets import T0, Spec, facts_of, result_of
from lib.fakes.kernel import SECOND

from spekctl.documents.hosts import HostLoss
from spekctl.documents.result import Result
from spekctl.documents.result_parts import ReplayResult
from spekctl.errors import UsageError
from spekctl.fleet.merge import merge, of_host, split, without_run
from spekctl.kernel.records import Direction

SECONDS = 4
REPLAY = ReplayResult(
    files=["t.csv"], format="spek", pace="closed", speed=None, rate=None, depth=4, map="as-is",
    records=6, fed=6, issued=6, complete=True, skipped={}, shifted=0, grown=0, bad=0, unordered=0,
    underruns=0, underrun_ns=0, underrun_first_ns=0, underrun_last_ns=0, dry_ns=0, text="",
)  # fmt: skip


def replayed(
    name: str, devices: int, operations: Sequence[str], beside: Sequence[str] = ()
) -> Result:
    """The result of a host with a stream for each device and operation, behind those @beside. Each
    stream has ten I/Os in each second more than the one before it."""
    plain = result_of(Spec(name))
    (first,) = plain.config.streams
    process = plain.config.arrivals[0]
    streams = [
        msgspec.structs.replace(first, name=each, operation="transfer", asu=0, arrival=0)
        for each in beside
    ]
    for device, operation in itertools.product(range(devices), operations):
        suffix = f"-{device + 1}" if devices > 1 else ""
        text = ("trace" if operation == "transfer" else operation) + suffix
        streams.append(
            msgspec.structs.replace(
                *(first,), name=text, operation=operation, asu=device, arrival=len(beside)
            )
        )
    config = msgspec.structs.replace(
        plain.config,
        streams=streams,
        asus=[msgspec.structs.replace(plain.config.asus[0], name=f"d{n}") for n in range(devices)],
        arrivals=[msgspec.structs.replace(process, name=each) for each in (*beside, "trace")],
    )
    written = next(cell for cell in plain.cells if cell.direction is Direction.WRITE)
    cells = [
        msgspec.structs.replace(written, stream=number, name=stream.name, ios=10 * (number + 1))
        for number, stream in enumerate(streams)
    ]
    rows = [
        msgspec.structs.replace(
            row, streams=[(0, 0, 10 * (number + 1), 512) for number in range(len(streams))]
        )
        for row in plain.intervals
    ]
    return msgspec.structs.replace(plain, config=config, cells=cells, intervals=rows, replay=REPLAY)


def fleet_of(result: Result) -> Result:
    return of_host(result, facts_of(Spec(result.environment.hostname)))


def counts(fleet: Result) -> list[tuple[str, int, int, int]]:
    """Of each stream of the sum: name, I/Os of its cell, of an interval, and of the window."""
    assert fleet.common is not None
    cells = {cell.stream: cell.ios for cell in fleet.cells}
    assert [window.name for window in fleet.common.streams] == [
        stream.name for stream in fleet.config.streams
    ]
    rows = {tuple(each[2] for each in row.streams) for row in fleet.intervals}
    (row,) = rows
    return [
        (stream.name, cells[number], row[number], fleet.common.streams[number].writes)
        for number, stream in enumerate(fleet.config.streams)
    ]


def test_a_purge_of_different_numbers_of_devices_is_one_stream() -> None:
    hosts = [replayed("a", 1, ["discard"]), replayed("b", 2, ["discard"])]
    fleets = [fleet_of(host) for host in hosts]
    whole = merge(fleets)
    assert counts(whole) == [("discard", 10 + 30, 10 + 30, SECONDS * 40)]
    assert whole.totals.all.ios == 40
    assert merge(fleets[::-1]) == whole == merge(split(whole))
    assert split(whole) == fleets


def test_streams_beside_a_trace_stay_and_each_operation_has_its_own() -> None:
    """No device of b has discards."""
    hosts = [
        replayed("a", 2, ["transfer", "discard"], ["log"]),
        replayed("b", 1, ["transfer"], ["log"]),
        replayed("c", 3, ["transfer", "discard"], ["log"]),
    ]
    fleets = [fleet_of(host) for host in hosts]
    whole = merge(fleets)
    wanted = {
        "log": 10 + 10 + 10,
        "trace": 20 + 40 + 20 + 20 + 40 + 60,
        "discard": 30 + 50 + 30 + 50 + 70,
    }
    assert counts(whole) == [(name, ios, ios, SECONDS * ios) for name, ios in wanted.items()]
    for order in itertools.permutations(fleets):
        assert merge([merge(order[:2]), order[2]]) == whole


def test_a_stream_beside_a_trace_with_the_name_of_one_of_the_sum_is_refused() -> None:
    for name in ("trace", "discard"):
        hosts = [replayed(host, 2, ["transfer", "discard"], [name]) for host in ("a", "b")]
        assert merge([fleet_of(host) for host in hosts]).totals.all.ios
        hosts[1] = replayed("b", 3, ["transfer", "discard"], [name])
        with pytest.raises(UsageError, match=f"stream '{name}': the sum of replays on different"):
            merge([fleet_of(host) for host in hosts])


def test_equal_numbers_of_devices_keep_their_streams() -> None:
    fleet = merge([fleet_of(replayed(name, 2, ["discard"])) for name in ("a", "b")])
    assert counts(fleet) == [
        ("discard-1", 20, 20, SECONDS * 20),
        ("discard-2", 40, 40, SECONDS * 40),
    ]


def test_rows_of_a_host_that_was_lost_count_for_the_same_streams() -> None:
    hosts = [replayed("a", 1, ["transfer", "flush"]), replayed("b", 2, ["transfer", "flush"])]
    lost = replayed("c", 3, ["transfer", "flush"])
    spec = replace(Spec("c"), lost_s=4)
    rest = without_run(
        facts_of(spec, loss=HostLoss(T0 + 4 * SECOND, "it did not answer")),
        *(hosts[0].workload, hosts[0].config),
        started=(lost.start.realtime_ns, lost.start.monotonic_ns),
        rows=lost.intervals,
    )
    whole = merge([*(fleet_of(host) for host in hosts), rest])
    trace, flush = 10 + 10 + 30, 20 + 20 + 40
    assert counts(whole) == [
        ("trace", trace, trace + 10 + 30 + 50, SECONDS * (trace + 90)),
        ("flush", flush, flush + 20 + 40 + 60, SECONDS * (flush + 120)),
    ]


def test_a_lost_host_with_more_devices_than_all_others_counts_for_each_operation() -> None:
    hosts = [replayed(name, 1, ["transfer", "flush"], ["log"]) for name in ("a", "b")]
    lost = replayed("c", 2, ["transfer", "flush"], ["log"])
    spec = replace(Spec("c"), lost_s=4)
    rest = without_run(
        facts_of(spec, loss=HostLoss(T0 + 4 * SECOND, "it did not answer")),
        *(hosts[0].workload, hosts[0].config),
        started=(lost.start.realtime_ns, lost.start.monotonic_ns),
        rows=lost.intervals,
    )
    fleets = [*(fleet_of(host) for host in hosts), rest]
    whole = merge(fleets)
    rows = {"log": 10 + 10 + 10, "trace": 20 + 20 + 20 + 40, "flush": 30 + 30 + 30 + 50}
    cells = {"log": 20, "trace": 40, "flush": 60}
    assert counts(whole) == [(name, cells[name], ios, SECONDS * ios) for name, ios in rows.items()]
    assert merge(fleets[::-1]) == whole == merge(split(whole))


def test_different_streams_beside_a_trace_are_refused() -> None:
    hosts = [replayed("a", 1, ["transfer"], ["log"]), replayed("b", 2, ["transfer"], ["data"])]
    with pytest.raises(
        UsageError, match=r"streams log \(transfer\), trace and data \(transfer\), trace"
    ):
        merge([fleet_of(host) for host in hosts])
