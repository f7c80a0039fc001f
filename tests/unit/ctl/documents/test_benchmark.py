# SPDX-License-Identifier: GPL-2.0
"""What the reports of all benchmarks have."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest
from lib.ctl.models import models

from spekctl.documents import benchmark
from spekctl.documents.document import Kind

# What each of them is told apart from others by: the protocol that its readers ask for.
REPORTS: dict[Kind, type[Any]] = {
    Kind.SPC1: benchmark.Report,
    Kind.SPC2: benchmark.Report,
    Kind.PTS: benchmark.Report,
    Kind.EMERALD: benchmark.EnergyReport,
    Kind.SPC1E: benchmark.AnnualReport,
    Kind.SPC2E: benchmark.AnnualReport,
}
SAME_IN_ALL = {"notice": benchmark.Notice, "verdict": benchmark.Verdict}


def members(protocol: type[Any]) -> set[str]:
    return {
        name
        for one in protocol.__mro__
        for name, value in vars(one).items()
        if isinstance(value, property)
    }


@pytest.mark.parametrize("kind", REPORTS)
def test_a_report_has_what_its_readers_rely_on(kind: Kind) -> None:
    assert members(benchmark.Report) >= {"notice", "passed", "verdict", "remarks"}
    assert members(REPORTS[kind]) <= set(models()[kind].__struct_fields__)


@pytest.mark.parametrize("kind", REPORTS)
def test_a_field_means_the_same_in_every_report(kind: Kind) -> None:
    hints = get_type_hints(models()[kind], include_extras=True)
    assert {name: hints[name] for name in SAME_IN_ALL} == SAME_IN_ALL


def test_no_benchmark_is_left_out() -> None:
    """A document is the report of one if it says that results are unaudited, and has a verdict."""
    found = {
        kind for kind, model in models().items() if {*SAME_IN_ALL} <= {*model.__struct_fields__}
    }
    assert found == set(REPORTS)
