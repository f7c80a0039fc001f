# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of a test: one for each limit, phase and stream.

A limit on something that is counted can be finer than the count: of 100 I/Os a stream with a share
of 7 % gets 7 give or take 2.6. Such a limit is widened to what chance alone does (chance_sigmas
standard deviations), and the check says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from spekctl import units
from spekctl.documents.spc1 import (
    REPEAT_PASSES,
    Capacity,
    Check,
    Limits,
    Phase,
    StreamFigures,
)

# Of the total ASU capacity, and how far rounding to blocks may be from that.
SHARES = {"asu1": 0.45, "asu2": 0.45, "asu3": 0.10}
SHARE_OFF = 0.01


def checks_of(limits: Limits, final: Mapping[str, Phase], capacity: Capacity) -> list[Check]:
    """All checks that the phases at the level of the test allow; names as in plan.PLAN."""
    checks = [_capacity(limits, capacity)]
    for name, phase in final.items():
        checks += [_response(limits, name, phase), _served(limits, name, phase)]
        checks.append(_errors(name, phase))
        for stream in phase.streams:
            checks.append(_intensity(limits, name, phase, stream))
            if stream.share_cov is not None and stream.share_cov_chance is not None:
                checks.append(
                    _variation(
                        limits, name, phase, stream, stream.share_cov, stream.share_cov_chance
                    )
                )
    for number in range(1, REPEAT_PASSES + 1):
        first, again = final.get("iops"), final.get(f"repeat-{number}-100")
        if first and again:
            checks.append(_repeated_iops(limits, first, again))
        first, again = final.get("ramp-10"), final.get(f"repeat-{number}-10")
        if first and again:
            checks.append(_repeated_lrt(limits, first, again))
    return checks


def _capacity(limits: Limits, capacity: Capacity) -> Check:
    unused = 1 - capacity.used_share
    return Check(
        kind="capacity",
        phase="",
        stream="",
        value=unused,
        limit=limits.unused_capacity,
        allowed=limits.unused_capacity,
        passed=unused <= limits.unused_capacity,
        text=f"{unused:.1%} of the devices' capacity is unused, at most"
        f" {limits.unused_capacity:.0%} may be",
    )


def errors_of(phases: Iterable[Phase]) -> list[Check]:
    """Checks of phases that give no figure, but that the level follows from: those of the search,
    and those at levels that were lowered. They may miss the response limit, but I/O errors in them
    are errors of the devices."""
    return [_errors(f"{phase.step.name} ({phase.step.bsu:,} BSU)", phase) for phase in phases]


def shares_of(asus: Mapping[str, int]) -> list[Check]:
    """Whether asus on devices of their own have the shares of the total ASU capacity that SPC-1
    gives them; striped ones always have. @asus: their bytes."""
    total = sum(asus.values())
    checks = []
    for name, wanted in SHARES.items():
        share = asus[name] / total
        off = abs(share - wanted)
        checks.append(
            Check(
                kind="asu-share",
                phase="",
                stream="",
                value=off,
                limit=SHARE_OFF,
                allowed=SHARE_OFF,
                passed=off <= SHARE_OFF,
                text=f"{name} has {share:.1%} of the asus' capacity, and should have"
                f" {wanted:.0%} give or take {SHARE_OFF:.0%}",
            )
        )
    return checks


def _response(limits: Limits, name: str, phase: Phase) -> Check:
    response, late = phase.point.response, phase.point.unanswered
    mean = response.mean if response is not None else math.inf
    what = f"mean response time {units.format_ns(mean)}" if response is not None else "no response"
    if mean <= limits.response_ns and late is not None and late.at_least.mean > limits.response_ns:
        mean = late.at_least.mean
        what = f"mean response time of at least {units.format_ns(mean)} ({late.text})"
    return Check(
        kind="response",
        phase=name,
        stream="",
        # JSON has no infinity; nothing is slower than what never came.
        value=mean if response is not None else float(phase.step.time_ns),
        limit=limits.response_ns,
        allowed=limits.response_ns,
        passed=mean <= limits.response_ns,
        text=f"{name}: {what}, at most {units.format_ns(limits.response_ns)} is allowed",
    )


def _served(limits: Limits, name: str, phase: Phase) -> Check:
    point = phase.point
    value = max(0, point.left_over) / point.ios if point.ios else 1.0
    text = phase.beyond or (f"the queue grew by {max(0, point.left_over):,} of {point.ios:,} I/Os")
    return Check(
        kind="served",
        phase=name,
        stream="",
        value=value,
        limit=limits.left_over,
        allowed=limits.left_over,
        passed=not phase.beyond,
        text=f"{name}: {text}",
    )


def _errors(name: str, phase: Phase) -> Check:
    return Check(
        kind="errors",
        phase=name,
        stream="",
        value=phase.point.errors,
        limit=0,
        allowed=0,
        passed=phase.point.ok,
        text=f"{name}: {phase.point.text}",
    )


def _intensity(limits: Limits, name: str, phase: Phase, stream: StreamFigures) -> Check:
    p, ios = stream.intended, phase.point.ios
    value = abs(stream.share - p) / p
    chance = math.sqrt((1 - p) / (p * ios)) if ios else math.inf
    allowed = max(limits.intensity, limits.chance_sigmas * chance) if ios else limits.intensity
    return Check(
        kind="intensity",
        phase=name,
        stream=stream.name,
        value=value,
        limit=limits.intensity,
        allowed=allowed,
        passed=value <= allowed,
        text=f"{name}: stream {stream.name} had {stream.share:.2%} of the I/Os, not {p:.1%}:"
        f" off by {value:.1%} of that, {_allowed(limits.intensity, allowed)}",
    )


def _variation(
    limits: Limits, name: str, phase: Phase, stream: StreamFigures, cov: float, chance: float
) -> Check:
    # A standard deviation that is estimated from n parts is itself uncertain by 1/sqrt(2(n-1)).
    spread = 1 + limits.chance_sigmas / math.sqrt(2 * max(1, phase.parts - 1))
    allowed = max(limits.intensity_cov, chance * spread)
    return Check(
        kind="intensity-cov",
        phase=name,
        stream=stream.name,
        value=cov,
        limit=limits.intensity_cov,
        allowed=allowed,
        passed=cov <= allowed,
        text=f"{name}: the share of stream {stream.name} varied by {cov:.2f} over"
        f" {phase.parts} parts, {_allowed(limits.intensity_cov, allowed, '.2f')}",
    )


def _repeated_iops(limits: Limits, first: Phase, again: Phase) -> Check:
    name, point, repeated = again.step.name, first.point, again.point
    value = abs(repeated.iops - point.iops) / point.iops if point.iops else 1.0
    chance = math.sqrt(1 / max(1, point.ios) + 1 / max(1, repeated.ios))
    allowed = max(limits.repeat_iops, limits.chance_sigmas * chance)
    return Check(
        kind="repeat-iops",
        phase=name,
        stream="",
        value=value,
        limit=limits.repeat_iops,
        allowed=allowed,
        passed=value <= allowed,
        text=f"{name}: {units.format_rate(repeated.iops)} IOPS after"
        f" {units.format_rate(point.iops)}: off by {value:.1%},"
        f" {_allowed(limits.repeat_iops, allowed)}",
    )


def _repeated_lrt(limits: Limits, first: Phase, again: Phase) -> Check:
    name, response, repeated = again.step.name, first.point.response, again.point.response
    before = response.mean if response is not None else 0.0
    after = repeated.mean if repeated is not None else 0.0
    value = abs(after - before)
    allowed = max(limits.repeat_lrt * before, limits.repeat_lrt_ns)
    return Check(
        kind="repeat-lrt",
        phase=name,
        stream="",
        value=value,
        limit=allowed,
        allowed=allowed,
        passed=response is not None and repeated is not None and value <= allowed,
        text=f"{name}: {units.format_ns(after)} after {units.format_ns(before)}: off by"
        f" {units.format_ns(value)}, at most {units.format_ns(allowed)} is allowed",
    )


def _allowed(limit: float, allowed: float, form: str = ".0%") -> str:
    if allowed <= limit:
        return f"at most {limit:{form}} is allowed"
    wide = ".1%" if form == ".0%" else form
    return f"at most {allowed:{wide}} is allowed ({limit:{form}} would need more I/Os to tell)"
