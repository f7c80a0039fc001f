# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates of runs: a number, as many I/Os as there can be, or a share of what a run before reaches,
as the points of a curve are."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from fractions import Fraction

from spekctl.errors import UsageError
from spekctl.vdbench.parmfile import Definition, number
from spekctl.vdbench.stream import only
from spekctl.workload.imported import Imported, RateOf

# vdbench's own rate of a run that it has not measured, and points of a curve.
_UNMEASURED = 10000
_POINTS = ("10", "50", "70", "80", "90", "100")
CURVE = "is the run at the highest rate only"
SHARE = (
    "rate: it is {} % of the rate that {} reaches, which `spekctl run vdbench:FILE` has measured by"
    " then; until then, and in a file, it is {}: give the rate by --rate"
)
FIRST = "rate: {} % of 10000, as no run is before it: vdbench takes that for the rate of one"
ALL_POINTS = "stopcurve: all points are run; vdbench ends after a response time above {} ms"
ALONE = "it is a share of the rate of a run whose parts are on several devices or hosts"


def of_run(text: str) -> Fraction | None:
    """I/Os per second; None: as many as there can be. A share is that of a rate that has not been
    measured."""
    if text.lower() in ("max", "curve"):
        return None
    share = share_of(text)
    if share is not None:
        return Fraction(share.of(_UNMEASURED))
    rate = Fraction(0)
    with contextlib.suppress(UsageError):
        rate, _ = number("iorate", text)
    if not rate:
        raise UsageError(f"iorate: '{text[:40]}' is neither a rate nor max")
    return rate


def share_of(text: str) -> RateOf | None:
    """The share of the rate of the run before that ``50%`` is, or ``-50``; None for a rate."""
    share = re.fullmatch(r"([0-9]{1,9})(?:\.[0-9]*)?%|-([0-9]{1,9})(?:\.[0-9]*)?", text, re.ASCII)
    if share is None:
        return None
    # vdbench cuts fractions off.
    percent = int(share[1] or share[2])
    if not percent:
        raise UsageError(f"iorate: '{text[:40]}' is less than 1 per cent, which vdbench cuts to 0")
    return RateOf(1, Fraction(percent, 100))


def points(run: Definition) -> list[str]:
    """The points of a curve, in per cent of the highest rate."""
    return [f"{point.removesuffix('%')}%" for point in run.given.get("curve", _POINTS)]


def at_point(run: Definition, point: str) -> Definition:
    """The run of a point, with a name of its own."""
    return Definition(run.kind, f"{run.name}-{point.removesuffix('%')}pct", run.given)


def follow(step: Imported, share: RateOf, before: Sequence[Imported], back: int = 1) -> None:
    """Have a step at a @share of the rate of the step @back steps before it, if there is one."""
    percent = f"{float(100 * share.share):g}"
    if not before:
        step.differences.append(FIRST.format(percent))
        return
    origin = before[-back].workload.workload.name
    stands_for = share.of(_UNMEASURED)
    step.rate_of = RateOf(back, share.share)
    step.differences.append(SHARE.format(percent, origin, stands_for))


def only_highest(step: Imported, run: Definition) -> None:
    """Say that a curve is imported without its points."""
    title = step.workload.workload.name
    limit = ""
    if "stopcurve" in run.given:
        limit = f" (up to a response time of {only(run.given, 'stopcurve')} ms)"
    listed = ", ".join(f"{point.removesuffix('%')} %" for point in points(run))
    step.differences.append(
        f"{title} {CURVE}; vdbench then runs at {listed} of the rate that it measured: `spekctl"
        f" sweep FILE --rate LIST` with these rates does{limit}"
    )


def report(step: Imported, run: Definition) -> None:
    """Say what became of the parameters of a curve."""
    if any(CURVE in difference for difference in step.differences):
        for key in ("curve", "stopcurve"):
            step.not_needed.pop(key, None)
        return
    if step.not_needed.pop("curve", None):
        step.mapped["curve"] = "arrival.rate" if step.rate_of else "the runs that follow"
    if step.not_needed.pop("stopcurve", None):
        step.differences.append(ALL_POINTS.format(only(run.given, "stopcurve")))
