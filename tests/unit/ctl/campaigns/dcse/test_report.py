# SPDX-License-Identifier: GPL-2.0
"""The report of DCsE figures: what is known, and the change against another system."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from lib.ctl.schemas import validator

from spekctl import files
from spekctl.campaigns.dcse.figures import Inputs
from spekctl.campaigns.dcse.report import build
from spekctl.documents import energy
from spekctl.documents.energy import DcseReport


def inputs(**known: str) -> Inputs:
    return Inputs(**{name: Fraction(value) for name, value in known.items()})


WHOLE = inputs(
    gigabytes="18688", idle_watts="1960", load_watts="2453", iops="35000", megabytes_per_s="0.1"
)


def test_figures_are_rounded_and_exact_and_what_was_given_is_neither() -> None:
    found = build(WHOLE, None, "command line")
    assert found.gb_per_watt is not None and found.iops_per_watt is not None
    assert (found.gb_per_watt.text, found.gb_per_watt.fraction) == ("9.53", Fraction(18688, 1960))
    assert found.iops_per_watt.text == "14.27"
    assert found.given == {
        **{"gigabytes": "18688", "idle_watts": "1960", "load_watts": "2453", "iops": "35000"},
        "megabytes_per_s": "0.1",
    }
    assert found.against == {}


def test_a_figure_needs_both_of_its_numbers() -> None:
    found = build(inputs(iops="5", load_watts="2", gigabytes="3"), WHOLE, "x")
    assert (found.gb_per_watt, found.mb_per_s_per_watt) == (None, None)
    assert found.iops_per_watt is not None and found.iops_per_watt.text == "2.50"
    assert set(found.against) == {"workload"}


@pytest.mark.parametrize(("iops", "change"), [("70000", "100.00"), ("17500", "-50.00")])
def test_a_change_is_in_per_cent_of_the_other(iops: str, change: str) -> None:
    found = build(inputs(iops=iops, load_watts="2453"), WHOLE, "x")
    assert found.against["workload"].text == change
    assert build(WHOLE, WHOLE, "x").against["capacity"].text == "0.00"


def test_the_report_follows_its_schema_and_reads_back() -> None:
    found = build(WHOLE, WHOLE, "\udcff.toml")
    validator(energy.SCHEMA_FILE).validate(json.loads(files.encode(found)))
    assert isinstance(found, DcseReport) and found.source == "\ufffd.toml"
