# SPDX-License-Identifier: GPL-2.0-or-later
"""Warnings about figures of a result that an inexperienced reader would misread.

A judgement is a function from a result to sentences; JUDGEMENTS are all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from spekctl import units
from spekctl.documents.result import Result

# Share of the response time from which on slip, which is not the device's, is worth a warning.
SLIP_SHARE = 0.1
# Share of --max-outstanding in use from which on arrivals wait for the device, not for a worker.
FULL = 0.5


def judge(result: Result) -> list[str]:
    """All warnings about a result."""
    return [text for judgement in JUDGEMENTS for text in judgement(result)]


def _late_issue(result: Result) -> Iterator[str]:
    """The delay before submission: its cause, or its size."""
    times = result.totals.all.times
    if times.slip is None or times.service is None or times.response is None:
        return
    slip, service = times.slip.percentiles_ns, times.service.percentiles_ns
    is_burst = any(arrival.law == "burst" for arrival in result.config.arrivals)
    if slip["p50"] > service["p50"] and result.outcome.offered_iops is not None and not is_burst:
        how = (
            f"half of the I/Os were issued {units.format_ns(slip['p50'])} or more after their"
            f" arrival, while the device took {units.format_ns(service['p50'])} (p50)"
        )
        if _outstanding(result) < FULL * result.config.max_outstanding:
            yield (
                f"the generator was the bottleneck: {how}; response times say more about this"
                " machine than about the device. Try more --workers, --spin or a lower rate"
            )
        else:
            yield (
                f"arrivals waited for a free slot: {how}, because the --max-outstanding"
                f" {result.config.max_outstanding:,} were in use"
            )
        return
    response = times.response.percentiles_ns["p99"]
    if not is_burst and slip["p99"] > SLIP_SHARE * response:
        yield (
            f"slip p99, {units.format_ns(slip['p99'])}, is {slip['p99'] / response:.0%} of response"
            f" p99, {units.format_ns(response)}: that part is not due to the device"
        )


def _outstanding(result: Result) -> float:
    """Mean number of I/Os that the devices had: Little's law."""
    total = result.totals.all
    return total.iops * total.times.service.mean_ns / 1e9 if total.times.service else 0.0


def _prober_too_slow(result: Result) -> Iterator[str]:
    prober = result.prober
    length_ns = next((phase.duration_ns for phase in result.phases if phase.phase == "measure"), 0)
    if prober is None or not length_ns:
        return
    if prober.interval_ns > length_ns:
        yield (
            f"--prober-interval {units.format_duration(prober.interval_ns)} is longer than the"
            f" measure phase, {units.format_ns(length_ns)}: there are no system statistics of it"
        )


def _underruns(result: Result) -> Iterator[str]:
    """A trace that was not fed in time."""
    replay = result.replay
    if replay is None:
        return
    if replay.underruns:
        first_s = (replay.underrun_first_ns - result.start.monotonic_ns) / 1e9
        yield (
            f"{replay.underruns:,} underruns: requests of the trace were due before they had been"
            f" read, for {units.format_ns(replay.underrun_ns)} in all, the first after"
            f" {first_s:.3f} s; they were issued late, which response times include"
        )
    if replay.text:
        yield replay.text


JUDGEMENTS: tuple[Callable[[Result], Iterator[str]], ...] = (
    _late_issue,
    _prober_too_slow,
    _underruns,
)
