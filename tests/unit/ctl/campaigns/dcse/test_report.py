# SPDX-License-Identifier: GPL-2.0
"""The report of DCsE figures: what is known, and the change against another system."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from lib.ctl.schemas import validator

from spekctl import files
from spekctl.campaigns.dcse.report import build
from spekctl.documents import energy
from spekctl.documents.dcse import Inputs
from spekctl.documents.energy import DcseReport


def inputs(**known: str) -> Inputs:
    return Inputs(**{name: Fraction(value) for name, value in known.items()})


WHOLE = inputs(
    gigabytes="18688", idle_watts="1960", load_watts="2453", iops="35000", megabytes_per_s="0.1"
)


def test_figures_are_rounded_and_exact_and_what_was_given_is_neither() -> None:
    report = build(WHOLE, None, "command line")
    assert report.gb_per_watt is not None and report.iops_per_watt is not None
    assert (report.gb_per_watt.text, report.gb_per_watt.fraction) == ("9.53", Fraction(18688, 1960))
    assert report.iops_per_watt.text == "14.27"
    assert report.given == {
        **{"gigabytes": "18688", "idle_watts": "1960", "load_watts": "2453", "iops": "35000"},
        "megabytes_per_s": "0.1",
    }
    assert report.against == {}


def test_a_figure_needs_both_of_its_numbers() -> None:
    report = build(inputs(iops="5", load_watts="2", gigabytes="3"), WHOLE, "x")
    assert (report.gb_per_watt, report.mb_per_s_per_watt) == (None, None)
    assert report.iops_per_watt is not None and report.iops_per_watt.text == "2.50"
    assert set(report.against) == {"workload"}


@pytest.mark.parametrize(("iops", "change"), [("70000", "100.00"), ("17500", "-50.00")])
def test_a_change_is_in_per_cent_of_the_other(iops: str, change: str) -> None:
    report = build(inputs(iops=iops, load_watts="2453"), WHOLE, "x")
    assert report.against["workload"].text == change
    assert build(WHOLE, WHOLE, "x").against["capacity"].text == "0.00"


def test_the_report_follows_its_schema_and_reads_back() -> None:
    report = build(WHOLE, WHOLE, "\udcff.toml")
    validator(energy.SCHEMA_FILE).validate(json.loads(files.encode(report)))
    assert isinstance(report, DcseReport) and report.source == "\ufffd.toml"
