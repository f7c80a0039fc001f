# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the energy reports: facts beside the levels, verdicts, and a report computed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from spekctl.campaigns import usage
from spekctl.campaigns.idle import Idle
from spekctl.campaigns.inputs import fraction_of, hours_again
from spekctl.documents import spc1, spc2
from spekctl.documents.device import TargetFacts
from spekctl.documents.energy import Spc1eReport
from spekctl.documents.result import Environment
from spekctl.documents.spc2 import Spc2eReport
from spekctl.errors import UsageError

ReportT = TypeVar("ReportT", Spc1eReport, Spc2eReport)


@dataclass(frozen=True, slots=True)
class Facts:
    """Contents of a report beside its levels. @trouble: why the test is not whole; else empty."""

    source: str = "measured"
    passed: bool = True
    trouble: str = ""
    targets: Sequence[TargetFacts] = ()
    environment: Environment | None = None
    remarks: Sequence[str] = ()


def facts_of(
    load: spc1.Report | spc2.Report | None,
    rest: Idle | None,
    whole: bool,
    remarks: Sequence[str] = (),
    source: str = "measured",
) -> Facts:
    """The facts of a test so far, of its report under load and its idle test.

    @whole: whether the test under load has given all that energy is computed from; its verdict is
    that of the energy report if it has not.
    """
    said = [*remarks, *(rest.remarks if rest is not None else [])]
    if load is None:
        return Facts(
            source=source,
            passed=False,
            trouble="incomplete: the test under load has not started",
            targets=rest.targets if rest is not None else (),
            remarks=said,
        )
    return Facts(
        source=source,
        passed=load.passed,
        trouble="" if whole else load.verdict,
        targets=load.targets,
        environment=load.environment,
        remarks=said,
    )


def no_idle_test(path: Path) -> UsageError:
    """The refusal of a report under load without idle power."""
    return UsageError(
        f"{path} has no idle test beside it; give its power with --idle-watts, for example"
        " --idle-watts 225.53"
    )


def verdict(missing: Sequence[str], without: Sequence[str], between: str = " and ") -> str:
    """The verdict on a test with these levels or phases @missing, or @without power."""
    if missing:
        return f"not complete: {between.join(missing)} were not measured"
    if without:
        return f"performance only: no power measured in {', '.join(without)}"
    return "complete"


def again(
    previous: ReportT,
    path: Path,
    price: Fraction | None,
    days: Mapping[str, usage.Hours],
    build: Callable[[Facts, Fraction, Mapping[str, usage.Hours]], ReportT],
) -> tuple[Facts, Fraction, dict[str, usage.Hours]]:
    """What a report is computed from again: its facts, the price, and the profiles.

    @build: builds it from the levels of @previous. @price and @days replace those of @previous.
    """
    missing = [one for one in ("heavy", "moderate") if one not in {x.name for x in previous.levels}]
    if missing:
        raise UsageError(f"{path}: the levels {' and '.join(missing)} are missing")
    used = price if price is not None else fraction_of(previous.price, f"{path}: the price")
    profiles = {**hours_again(previous.profiles, path), **days}
    facts = Facts(
        source=str(path),
        passed=previous.passed,
        targets=previous.targets,
        environment=previous.environment,
    )
    # What does not follow from the levels was said of the test that they come from.
    follows = build(facts, used, profiles)
    facts = replace(
        facts,
        trouble=previous.verdict if previous.verdict != follows.verdict else "",
        remarks=[one for one in previous.remarks if one not in follows.remarks],
    )
    return facts, used, profiles
