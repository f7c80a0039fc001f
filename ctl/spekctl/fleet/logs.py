# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the logs of hosts, counted where they lie, add up: what each has sent, and all together,
which have to be of one run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from spekctl import units
from spekctl.documents import document, histogram
from spekctl.errors import SpekError, UsageError
from spekctl.fleet.wire import Log, Logged
from spekctl.kernel.records import Histogram

# The hosts of a run begin at one time of CLOCK_REALTIME, each by its own clock.
APART_NS = 1_000_000_000


def check_answer(asked: Log, answer: Logged) -> None:
    """SpekError for a tally that does not add up with those that other hosts make of @asked."""
    counted = answer.tally
    if counted.interval_ns != asked.interval_ns or (counted.intervals and not asked.interval_ns):
        raise SpekError("it has counted other intervals than were asked for")
    for cell in counted.cells:
        if any(not _is_ours(times) for times in (cell.response, cell.service) if times is not None):
            raise SpekError("it has counted times in other buckets than the controller's")


def _is_ours(times: Histogram) -> bool:
    last = histogram.last_bucket(histogram.HIST_BITS)
    return times.bits == histogram.HIST_BITS and all(
        0 <= bucket <= last and count > 0 for bucket, count in times.counts.items()
    )


def check_one_run(logged: Mapping[str, Logged], seeds: Collection[int], advice: str) -> None:
    """UsageError if the logs are of different runs. @seeds: those that the plan gives its hosts;
    the log of a run without the plan has another one. @advice: how to have logs of one run."""
    _check_same(
        {name: answer.workload for name, answer in logged.items()},
        "the logs are of different workloads",
        advice,
    )
    _check_starts(
        # A run that did not start has no time, and no rows.
        {name: answer.start_real_ns for name, answer in logged.items() if answer.start_real_ns},
        advice,
    )
    _check_same(
        {
            name: "one of the plan" if answer.seed in seeds else "another one"
            for name, answer in logged.items()
        },
        "the logs are of different runs by their seeds",
        advice,
    )


def _check_starts(starts: Mapping[str, int], advice: str) -> None:
    first = min(starts, key=lambda name: starts[name], default="")
    late = {name: at_ns - starts[first] for name, at_ns in starts.items()}
    told = [
        f"that of {name} {units.format_ns(by_ns)} later"
        for name, by_ns in late.items()
        if by_ns > APART_NS
    ]
    if told:
        raise UsageError(
            f"the logs are of different runs: that of {first} began at"
            f" {document.timestamp(starts[first])}, {', '.join(told)}; {advice}"
        )


def _check_same(told: Mapping[str, str], sentence: str, advice: str) -> None:
    if len(set(told.values())) > 1:
        listed = ", ".join(f"{text} on {name}" for name, text in told.items())
        raise UsageError(f"{sentence}: {listed}; {advice}")
