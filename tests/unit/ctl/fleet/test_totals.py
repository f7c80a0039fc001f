# SPDX-License-Identifier: GPL-2.0
"""Loads of all clients: what each has, and what a total may be."""

from __future__ import annotations

from typing import Any

import pytest

from spekctl.errors import UsageError
from spekctl.fleet import totals
from spekctl.workload.options import Options


@pytest.mark.parametrize(
    ("given", "clients", "parts"),
    [
        ({"depth": 8}, 3, ["3", "3", "2"]),
        ({"count": 3}, 3, ["1", "1", "1"]),
        ({"ramp_count": 0}, 2, ["0", "0"]),
        ({"max_outstanding": 131072}, 2, ["65536", "65536"]),
        ({"max_outstanding": 10, "bsu": 5}, 2, ["6", "4"]),
        ({"rate": 300.0}, 3, ["100.0"] * 3),
        ({"rate": 0.003}, 3, ["0.001"] * 3),
        # What is left is dealt out as well: they add up to the total.
        ({"rate": 100.0}, 3, ["33.334", "33.333", "33.333"]),
        ({"rate": 0.005}, 3, ["0.002", "0.002", "0.001"]),
        ({"rate": 1e9}, 3, ["333333333.334", "333333333.333", "333333333.333"]),
        ({"rate": 3e9}, 3, ["1000000000.0"] * 3),
    ],
)
def test_each_client_has_a_part(given: dict[str, Any], clients: int, parts: list[str]) -> None:
    dealt = totals.parts_of(Options(**given), clients)
    assert [text for part in dealt for text in part.values()] == parts


@pytest.mark.parametrize(
    ("given", "clients", "sentence"),
    [
        ({"depth": 2}, 3, "--depth must be 3 to 196608 for 3 clients together, not 2"),
        ({"depth": 0}, 1, "--depth must be 1 to 65536, not 0"),
        ({"depth": 131073}, 2, "--depth must be 2 to 131072 for 2 clients together, not 131073"),
        ({"count": 0}, 2, "--count must be 2 to 36893488147419103230 for 2 clients together, not"),
        ({"ramp_count": 1}, 2, "--ramp-count must be 0, or 2 to 36893488147419103230 for 2 cl"),
        ({"ramp_count": -1}, 2, "--ramp-count must be 0, or 2 to 36893488147419103230 for 2 cl"),
        ({"rate": 0.0}, 2, "--rate must be 0.002 to 2000000000 for 2 clients together, not 0.0"),
        ({"rate": -3.0}, 2, "--rate must be 0.002 to 2000000000 for 2 clients together, not -3"),
        ({"rate": 3e9}, 2, "--rate must be 0.002 to 2000000000 for 2 clients together, not 3000"),
        ({"rate": float("inf")}, 2, "--rate: a rate must be a number above 0, not inf"),
        ({"max_outstanding": 0, "bsu": 5}, 2, "--max-outstanding must be 2 to 131072 for 2 cli"),
        (
            {"max_outstanding": 131070, "bsu": 3},
            2,
            "--max-outstanding 131070 is 43690 for each of --bsu 3, so a client has 87380; at most"
            " 65536 are allowed",
        ),
    ],
)
def test_a_total_that_cannot_be_divided_is_refused_with_its_limits(
    given: dict[str, Any], clients: int, sentence: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        totals.parts_of(Options(**given), clients)
    assert refusal.value.message.startswith(sentence)


def test_totals_are_written_as_they_were_given() -> None:
    assert totals.written(Options(rate=4.5, count=9, ramp_ns=1)) == "--rate 4.5 --count 9"
    assert totals.written(Options()) == ""
    assert totals.are_of_one(Options(rate=1e9, depth=65536))
    assert not totals.are_of_one(Options(depth=65537))
    assert not totals.are_of_one(Options(rate=1.1e9))
