# SPDX-License-Identifier: GPL-2.0
"""One tier against two: the published case, and what was not measured."""

from __future__ import annotations

from fractions import Fraction

from spekctl.campaigns.dcse.figures import Inputs
from spekctl.campaigns.tiered.compare import rows


def test_the_published_case_comes_out() -> None:
    """HP P9500: 128 disks of 146 GB, against 104 of them and 8 SSDs of 400 GB."""
    numbers = [
        Inputs(*(Fraction(number) for number in (18688, 1960, 2453, 35000))),
        Inputs(*(Fraction(number) for number in (18384, 1870, 2346, 61000))),
    ]
    table = {
        row.what: [figure.text if figure is not None else None for figure in row.figures]
        for row in rows(*numbers)
    }
    assert table["I/Os per second"] == ["35000", "61000", "74.3"]
    assert table["power under load"] == ["2453.00", "2346.00", "-4.4"]
    assert table["DCsE workload"] == ["14.27", "26.00", "82.2"]
    assert table["DCsE capacity"] == ["9.53", "9.83", "3.1"]


def test_what_was_not_measured_has_no_figure() -> None:
    nothing = Inputs(gigabytes=Fraction(5), iops=Fraction(7))
    by_what = {row.what: row.figures for row in rows(nothing, nothing)}
    assert by_what["DCsE workload"] == (None, None, None)
    assert by_what["power under load"] == (None, None, None)
    assert by_what["I/Os per second"][0] is not None
