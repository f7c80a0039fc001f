# SPDX-License-Identifier: GPL-2.0
"""Limits and parsers of the fields of a workload file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from lib.ctl.resolved import HEAD, STREAM
from lib.ctl.schemas import validator

from spekctl.errors import UsageError
from spekctl.workload import fields, file

SCHEMA_FILE = Path(__file__).resolve().parents[4] / "workloads" / "schema.json"


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("[run]", ("count", "ramp_count", "max_outstanding", "batch")),
        ('[[arrival]]\nname = "a"', ("depth",)),
        ('[[arrival]]\nname = "a"\nlaw = "burst"\ninterval = "1s"', ("length",)),
        ('[workload]\nname = "w"\nsummary = "a test"', ("iops_per_bsu",)),
    ],
)
def test_limits_are_those_of_the_schema(section: str, keys: tuple[str, ...]) -> None:
    head = "" if section.startswith("[workload]") else HEAD
    for key in keys:
        low, high = fields.LIMITS[key]
        for value in (low - 1, low, high, high + 1):
            text = f"{section}\n{key} = {value}\n{head}{STREAM}"
            allowed = low <= value <= high
            assert validator(SCHEMA_FILE).is_valid(tomllib.loads(text)) == allowed
            if allowed:
                file.parse(text)
                continue
            with pytest.raises(UsageError, match=f"{key} must be {low} to {high}, not {value}"):
                file.parse(text)


@pytest.mark.parametrize(("size", "sectors"), [("4KiB", 8), (512, 1), ("1.5KiB", 3)])
def test_a_size_in_whole_blocks(size: int | str, sectors: int) -> None:
    assert fields.whole_blocks(size) == sectors * 512


@pytest.mark.parametrize("size", [0, "0", 511, "1000"])
def test_a_size_that_is_no_number_of_blocks_is_refused(size: int | str) -> None:
    with pytest.raises(UsageError, match=f"'{size}' is not a multiple of 512 bytes"):
        fields.whole_blocks(size)


def test_a_percentage_in_millionths() -> None:
    assert fields.ppm("12.5%") == 125_000
