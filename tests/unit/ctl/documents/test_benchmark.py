# SPDX-License-Identifier: GPL-2.0
"""What the reports of all benchmarks have."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest
from lib.ctl.models import models

from spekctl.documents import benchmark
from spekctl.documents.document import Kind

SAME_IN_ALL = {"notice": benchmark.Notice, "verdict": benchmark.Verdict}
# The report of a benchmark is a document that says that its results are unaudited, and its verdict.
REPORTS = [kind for kind, model in models().items() if {*SAME_IN_ALL} <= {*model.__struct_fields__}]
every_report = pytest.mark.parametrize("kind", REPORTS)


def test_every_benchmark_is_tested() -> None:
    assert {Kind.SPC1, Kind.SPC2, Kind.PTS, Kind.SPC1E, Kind.SPC2E, Kind.EMERALD} <= {*REPORTS}


def members(protocol: type[Any]) -> set[str]:
    return {
        name
        for base in protocol.__mro__
        for name, value in vars(base).items()
        if isinstance(value, property)
    }


@every_report
def test_a_report_has_what_its_readers_rely_on(kind: Kind) -> None:
    """One that may be computed from a file has a source; one of a year has energy."""
    fields = set(models()[kind].__struct_fields__)
    assert members(benchmark.Report) <= fields
    if "source" in fields:
        assert members(benchmark.EnergyReport) <= fields
    if "annual_kwh" in fields:
        assert members(benchmark.AnnualReport) <= fields


@every_report
def test_a_field_means_the_same_in_every_report(kind: Kind) -> None:
    hints = get_type_hints(models()[kind], include_extras=True)
    assert {name: hints[name] for name in SAME_IN_ALL} == SAME_IN_ALL
