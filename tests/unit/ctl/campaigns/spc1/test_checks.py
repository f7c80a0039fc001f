# SPDX-License-Identifier: GPL-2.0
"""What the method judges a phase and a whole test by."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from lib.ctl import frozen
from lib.ctl.spc1_steps import phase

from spekctl.campaigns.spc1 import checks as spc1_checks
from spekctl.campaigns.spc1 import phase as spc1_phase
from spekctl.campaigns.spc1.plan import beyond
from spekctl.documents import spc1
from spekctl.documents.spc1 import Limits, Phase, Step, StreamFigures

SECOND = 10**9
STEP = Step("search", "search-20", 100, 20, 0, 10 * SECOND)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"response": None}, "no I/O completed"),
        ({"iops": 0.0}, "no I/O completed"),
        # 149 ms of work left over are a long queue, more than that is none any more.
        ({"left_over": 149}, ""),
        ({"left_over": 151}, "the queue grew by 151 I/Os, 151 ms of work"),
        # At ten times the load the same queue is less than one per cent of the I/Os.
        ({"left_over": 990, "iops": 1000.0, "ios": 100_000}, ""),
    ],
)
def test_a_growing_queue_is_too_much_even_if_the_mean_is_not(
    changes: dict[str, Any], why: str
) -> None:
    """A device that stops answering completes nothing that could raise the mean."""
    point = msgspec.structs.replace(phase(STEP, 0.010).point, **changes)
    assert beyond(point, Limits()) == why


@pytest.mark.parametrize(
    ("oldest_s", "why"),
    [
        # 590 I/Os that were 2.95 s old on average beside 59,410 of 5 ms.
        (
            5.9,
            "mean response time is at least 34.0 ms, above 30.0 ms: 590 I/Os had not been answered"
            " for up to 5.90 s when the measurement ended",
        ),
        (0.01, ""),
    ],
)
def test_what_was_not_answered_in_the_end_counts_by_its_age(oldest_s: float, why: str) -> None:
    """It is less than one per cent of the I/Os, which may be left over."""
    ages = [round((index + 1) * oldest_s * SECOND / 590) for index in range(590)]
    contents = frozen.result(ages, ios=59_410, seconds=600, silent=6)
    judged = spc1_phase.phase_of(
        msgspec.structs.replace(STEP, time_ns=600 * SECOND), contents, Limits(), "r.json"
    )
    assert judged.beyond == why and judged.point.response is not None
    assert judged.point.response.mean == 5e6
    checks = spc1_checks.checks_of(Limits(), {"iops": judged}, spc1.Capacity(10, 10, 1.0))
    (response,) = (check for check in checks if check.kind == "response")
    assert response.passed is not bool(why)
    assert ("(590 I/Os had not been answered for up to 5.90 s" in response.text) is bool(why)


@pytest.mark.parametrize(("mean_s", "fine"), [(0.030, True), (0.0301, False)])
def test_the_mean_may_be_as_long_as_the_limit(mean_s: float, fine: bool) -> None:
    assert phase(STEP, mean_s).fine is fine


# --- checks --------------------------------------------------------------------------------------


def checked_stream(
    share: float, ios: int, cov: float = 0.0, chance: float = 0.0
) -> list[spc1.Check]:
    stream = StreamFigures(
        "2-1", "asu2", int(share * ios), share, 0.018, cov, chance, 0.3, 4096, None
    )
    iops_phase = phase(STEP, 0.010)
    iops_phase = msgspec.structs.replace(
        iops_phase,
        point=msgspec.structs.replace(iops_phase.point, ios=ios),
        streams=[stream],
        parts=10,
    )
    whole = spc1.Capacity(100, 100, 1.0)
    checks = spc1_checks.checks_of(Limits(), {"iops": iops_phase}, whole)
    return [check for check in checks if check.stream]


@pytest.mark.parametrize(
    ("share", "ios", "passed"),
    [
        (0.018, 10_000_000, True),
        (0.0188, 10_000_000, True),
        (0.0190, 10_000_000, False),
        (0.0170, 10_000_000, False),
        # Of 1000 I/Os, 18 give or take 4.2 belong to it: 5 sigma are 117 %.
        (0.0350, 1000, True),
        (0.0400, 1000, False),
    ],
)
def test_shares_of_streams_are_judged_as_finely_as_they_are_known(
    share: float, ios: int, passed: bool
) -> None:
    intensity, _ = checked_stream(share, ios)
    assert intensity.passed is passed
    assert intensity.limit == 0.05
    assert ("would need more I/Os" in intensity.text) is (ios == 1000)


@pytest.mark.parametrize(
    ("cov", "chance", "passed"),
    [(0.19, 0.01, True), (0.21, 0.01, False), (0.5, 0.25, True), (0.6, 0.25, False)],
)
def test_variation_of_shares_is_judged_likewise(cov: float, chance: float, passed: bool) -> None:
    _, variation = checked_stream(0.018, 10_000_000, cov, chance)
    assert variation.passed is passed


@pytest.mark.parametrize("seed", range(10))
def test_pure_chance_passes(seed: int) -> None:
    """Streams drawn with their probabilities are never found at fault, however few I/Os."""
    import numpy

    from spekctl.campaigns.spc1 import phase as spc1_phase

    draw = numpy.random.default_rng(seed)
    shares = [0.035, 0.281, 0.07, 0.21, 0.018, 0.07, 0.035, 0.281]
    for ios in (50, 1000, 30_000):
        parts = [[int(n) for n in draw.multinomial(ios // 10, shares)] for _ in range(10)]
        for index, share in enumerate(shares):
            cov, chance = spc1_phase.variation(parts, index)
            measured = sum(part[index] for part in parts) / sum(map(sum, parts))
            stream = StreamFigures("s", "a", 0, measured, share, cov, chance, 0, 0, None)
            iops_phase = phase(STEP, 0.010)
            point = msgspec.structs.replace(iops_phase.point, ios=ios)
            iops_phase = msgspec.structs.replace(
                iops_phase, point=point, streams=[stream], parts=len(parts)
            )
            checks = spc1_checks.checks_of(Limits(), {"iops": iops_phase}, spc1.Capacity(1, 1, 1.0))
            assert all(check.passed for check in checks), (ios, index)


def test_unused_capacity_is_limited() -> None:
    for used, passed in ((0.55, True), (0.54, False)):
        (check,) = spc1_checks.checks_of(Limits(), {}, spc1.Capacity(100, int(used * 100), used))
        assert (check.kind, check.passed) == ("capacity", passed)


def repeated(kind: str, first: Phase, again: Phase) -> spc1.Check:
    names = {"repeat-iops": ("iops", "repeat-1-100"), "repeat-lrt": ("ramp-10", "repeat-1-10")}
    final = dict(zip(names[kind], (first, again), strict=True))
    checks = spc1_checks.checks_of(Limits(), final, spc1.Capacity(1, 1, 1.0))
    (check,) = [check for check in checks if check.kind == kind]
    return check


def test_repetitions_have_to_agree() -> None:
    long = Step("iops", "iops", 100, 100, 0, 600 * SECOND)
    first = phase(long, 0.020)

    def at(iops: float) -> Phase:
        return msgspec.structs.replace(first, point=msgspec.structs.replace(first.point, iops=iops))

    assert repeated("repeat-iops", first, at(5249)).passed
    assert not repeated("repeat-iops", first, at(5251)).passed
    assert not repeated("repeat-iops", first, at(4749)).passed
    # 5 % of 40 ms are 2 ms; 5 % of 10 ms are less than the 1 ms that is always allowed.
    for first_s, again_s, passed in (
        (0.040, 0.0419, True),
        (0.040, 0.0421, False),
        (0.010, 0.0109, True),
        (0.010, 0.0089, False),
    ):
        check = repeated("repeat-lrt", phase(long, first_s), phase(long, again_s))
        assert check.passed is passed


@pytest.mark.parametrize(
    ("sizes", "passed"), [((45, 45, 10), True), ((100, 4000, 889), False), ((45, 45, 14), False)]
)
def test_asus_on_devices_of_their_own_have_to_have_their_shares(
    sizes: tuple[int, int, int], passed: bool
) -> None:
    asus = dict(zip(("asu1", "asu2", "asu3"), sizes, strict=True))
    checks = spc1_checks.shares_of(asus)
    assert all(check.passed for check in checks) is passed
    off = [
        abs(size / sum(sizes) - share) for size, share in zip(sizes, (0.45, 0.45, 0.1), strict=True)
    ]
    assert [check.value for check in checks] == pytest.approx(off)
    assert {(check.kind, check.limit, check.allowed) for check in checks} == {
        ("asu-share", spc1_checks.SHARE_OFF, spc1_checks.SHARE_OFF)
    }
