# SPDX-License-Identifier: GPL-2.0
"""What the energy reports share: verdicts, and facts of a test that has not begun."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.fakes.machine import disk

from spekctl.campaigns.energy import Facts, facts_of, no_idle_test, verdict
from spekctl.campaigns.idle import Idle


@pytest.mark.parametrize(
    ("missing", "without", "text"),
    [
        ([], [], "complete"),
        ([], ["heavy", "idle"], "performance only: no power measured in heavy, idle"),
        (["heavy"], ["idle"], "not complete: heavy were not measured"),
        (["heavy", "moderate"], [], "not complete: heavy and moderate were not measured"),
    ],
)
def test_what_is_missing_comes_before_power(
    missing: list[str], without: list[str], text: str
) -> None:
    assert verdict(missing, without) == text


def test_a_test_without_load_so_far_is_told_of_its_idle_test() -> None:
    rest = Idle(
        length_ns=5, start_ns=0, end_ns=5, targets=[disk().facts()], power=None, foreign_ios=7
    )
    found = facts_of(None, rest, whole=False, remarks=["power is missing"])
    assert not found.passed and found.trouble.startswith("incomplete: the test under load has not")
    assert list(found.remarks) == ["power is missing", *rest.remarks] and rest.remarks
    assert [one.path for one in found.targets] == ["/dev/fake0"]
    assert facts_of(None, None, whole=False).targets == ()


def test_facts_of_typed_numbers_are_those_of_a_passed_test() -> None:
    assert Facts(source="x.toml").passed and Facts().trouble == ""


def test_a_missing_idle_test_has_a_remedy() -> None:
    assert "give its power with --idle-watts" in no_idle_test(Path("t/report.json")).message
