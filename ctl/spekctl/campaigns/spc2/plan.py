# SPDX-License-Identifier: GPL-2.0-or-later
"""The next step of an SPC-2-like test: pure functions, no clock, no device.

Large file processing (LFP) and large database query (LDQ) run each of their tests at a series of
stream counts: the most, a half, a quarter and an eighth of them, and one. Video on demand (VOD) is
paced: the search finds how many streams are served in time, and a long run confirms it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spekctl import units
from spekctl.campaigns import search
from spekctl.campaigns.spc2.figures import KIB, VOD_BYTES, VOD_PER_S
from spekctl.documents.spc2 import Durations, Limits, Parameters, PartName, Run, Step

MS = 10**6
SECOND = 10**9
MINUTE = 60 * SECOND

STANDARD = Durations(
    ramp_ns=3 * MINUTE,
    time_ns=3 * MINUTE,
    vod_ns=30 * MINUTE,
    search_ns=3 * MINUTE,
    resolution_percent=0.0,
)
QUICK = Durations(
    ramp_ns=500 * MS,
    time_ns=2 * SECOND,
    vod_ns=10 * SECOND,
    search_ns=3 * SECOND,
    resolution_percent=5.0,
)
# The pace of a stream: it is one transfer ahead, so a transfer may take until the next is due.
PERIOD_NS = SECOND // VOD_PER_S
LIMITS = Limits(response_ns=PERIOD_NS)
STREAMS, QUICK_STREAMS = 16, 8
VOD_MOST = 16384
PARTS: tuple[PartName, ...] = ("lfp", "ldq", "vod")


@dataclass(frozen=True, slots=True)
class Test:
    """One of the tests of a part."""

    part: PartName
    name: str
    read_percent: int
    transfer_bytes: int
    depth: int | None


TESTS: tuple[Test, ...] = (
    *(
        Test("lfp", f"lfp-{what}-{size}k", percent, size * KIB, 1)
        for what, percent in (("write", 0), ("mixed", 50), ("read", 100))
        for size in (1024, 256)
    ),
    *(
        Test("ldq", f"ldq-{size}k-{depth}", 100, size * KIB, depth)
        for size in (1024, 64)
        for depth in (4, 1)
    ),
)
VOD = Test("vod", "vod", 100, VOD_BYTES, None)


def dealt(streams: int, clients: int) -> int:
    """At most @streams, equally many for each of the clients, and at least one."""
    return max(1, streams // clients) * clients


def series(parameters: Parameters) -> list[int]:
    """Stream counts of a test, falling."""
    most, clients = parameters.streams, parameters.clients
    counts = {dealt(most // part, clients) for part in (1, 2, 4, 8)}
    return sorted(counts | {clients}, reverse=True)


def writes(parts: Sequence[str]) -> bool:
    """A test of these parts writes."""
    return "lfp" in parts


def of_test(done: Sequence[Run], name: str) -> dict[int, Run]:
    """Runs of a test by their streams, without the search."""
    return {
        run.step.streams: run for run in done if run.step.kind == "run" and run.step.test == name
    }


# --- video on demand -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VodPosition:
    """Position of video on demand."""

    level: int | None  # streams of the long run; None: not known yet
    lowered: int  # how often
    run: Run | None  # the long run at that level
    stopped: str  # why there is none; else empty


def search_of(parameters: Parameters) -> search.Search:
    """The search for the streams of each client."""
    clients = parameters.clients
    return search.Search(
        -(-parameters.vod_start // clients),
        max(1, parameters.vod_most // clients),
        parameters.durations.resolution_percent,
    )


def bracket_of(parameters: Parameters, done: Sequence[Run]) -> search.Bracket:
    """The position from the points of the search, in streams of each client."""
    return search.bracket_of(
        {
            run.step.streams // parameters.clients: run.fine
            for run in done
            if run.step.kind == "search"
        }
    )


def vod_position(parameters: Parameters, done: Sequence[Run]) -> VodPosition:
    """Position of video on demand after the completed steps."""
    level, clients = parameters.vod_streams, parameters.clients
    if level is None:
        bracket = bracket_of(parameters, done)
        if not bracket.good and bracket.bad == 1:
            each = f" for each of {clients} clients" if clients > 1 else ""
            return VodPosition(None, 0, None, f"the device cannot sustain even 1 stream{each}")
        if search_of(parameters).next_load(bracket) is not None or not bracket.good:
            return VodPosition(None, 0, None, "")
        level = bracket.good * clients
    lowered = 0
    runs = of_test(done, VOD.name)
    limits = parameters.limits
    # A number of streams that the user chose is not lowered: it is met or missed.
    while (
        parameters.vod_streams is None
        and (missed := runs.get(level)) is not None
        and missed.beyond
        and lowered < limits.lowered_at_most
        and level > clients
    ):
        level, lowered = dealt(search.lower(level, limits.lower_percent), clients), lowered + 1
    return VodPosition(level, lowered, runs.get(level), "")


def half_of(streams: int, clients: int) -> int:
    """Streams of the run for the moderate level."""
    return dealt(streams // 2, clients)


# --- the whole -----------------------------------------------------------------------------------


def next_step(parameters: Parameters, done: Sequence[Run]) -> Step | None:
    """The next step; None when the test is over."""
    lengths = parameters.durations
    for part in parameters.parts:
        if part == "vod":
            step = _next_vod(parameters, done)
            if step is not None:
                return step
            continue
        for test in TESTS:
            if test.part != part:
                continue
            measured = of_test(done, test.name)
            for streams in series(parameters):
                if streams not in measured:
                    return step_of(test, streams, lengths.ramp_ns, lengths.time_ns)
    return None


def _next_vod(parameters: Parameters, done: Sequence[Run]) -> Step | None:
    lengths = parameters.durations
    position = vod_position(parameters, done)
    if position.stopped:
        return None
    if position.level is None:
        each = search_of(parameters).next_load(bracket_of(parameters, done))
        assert each is not None
        streams = each * parameters.clients
        return step_of(VOD, streams, lengths.ramp_ns, lengths.search_ns, kind="search")
    if position.run is None:
        again = position.lowered
        return step_of(VOD, position.level, lengths.ramp_ns, lengths.vod_ns, again)
    half = half_of(position.level, parameters.clients)
    if parameters.half and half not in of_test(done, VOD.name):
        return step_of(VOD, half, lengths.ramp_ns, lengths.vod_ns)
    return None


def step_of(
    test: Test,
    streams: int,
    ramp_ns: int,
    time_ns: int,
    again: int = 0,
    kind: Literal["run", "search"] = "run",
) -> Step:
    """A test at this stream count."""
    return Step(
        kind=kind,
        part=test.part,
        test=test.name,
        read_percent=test.read_percent,
        transfer_bytes=test.transfer_bytes,
        depth=test.depth,
        streams=streams,
        ramp_ns=ramp_ns,
        time_ns=time_ns,
        again=again,
    )


def left_ns(parameters: Parameters, done: Sequence[Run]) -> int:
    """Expected time of all remaining steps, including the next one."""
    lengths = parameters.durations
    left = 0
    for test in TESTS:
        if test.part in parameters.parts:
            missing = len(series(parameters)) - len(of_test(done, test.name))
            left += missing * (lengths.ramp_ns + lengths.time_ns)
    if "vod" not in parameters.parts:
        return left
    position = vod_position(parameters, done)
    if position.stopped:
        return left
    if position.level is None:
        points = search_of(parameters).points_left(bracket_of(parameters, done))
        left += points * (lengths.ramp_ns + lengths.search_ns)
    long_ns = lengths.ramp_ns + lengths.vod_ns
    if position.run is None:
        left += long_ns
    if parameters.half and (
        position.level is None
        or half_of(position.level, parameters.clients) not in of_test(done, VOD.name)
    ):
        left += long_ns
    return left


def beyond(
    streams: int, ios: int, late: int, left_over: int, limits: Limits, unanswered: int = 0
) -> str:
    """Why the device cannot sustain this stream count; empty if it can. @unanswered: how many of
    @late are not among the completed @ios, but were in flight at the end."""
    if not ios:
        return "no I/O completed"
    if late > limits.late * (ios + unanswered):
        waiting = (
            f", {unanswered:,} of which had not been answered when the measurement ended"
            if unanswered
            else ""
        )
        return (
            f"{late:,} of {ios + unanswered:,} transfers took longer than"
            f" {units.format_ns(limits.response_ns)}{waiting}: their streams underrun"
        )
    # Each stream may have one transfer with the device at the end that it had not at the start.
    if left_over > max(streams, ios // 100):
        return f"the queue grew by {left_over:,} transfers"
    return ""
