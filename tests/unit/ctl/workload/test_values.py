# SPDX-License-Identifier: GPL-2.0
"""Words and bounds of workloads are those of the module's contract."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, get_args

import pytest

from spekctl.kernel.gen import spek
from spekctl.workload import values


@pytest.mark.parametrize(
    ("words", "of_kernel"),
    [
        (values.CorePattern, spek.Pattern),
        (values.Law, spek.Law),
        (values.WalkStyle, spek.WalkStyle),
        (values.Operation, spek.Operation),
        (values.Priority, spek.Priority),
        (values.WriteHint, spek.WriteHint),
        (values.Backend, spek.Backend),
    ],
)
def test_words_are_those_of_the_contract(words: Any, of_kernel: type[IntEnum]) -> None:
    named = [member.name.lower().replace("_", "-") for member in of_kernel]
    assert sorted(get_args(words)) == sorted(named)


def test_data_are_stamped_only_by_verify() -> None:
    named = {member.name.lower() for member in spek.Data}
    assert named - set(get_args(values.Data)) == {"stamped"}


@pytest.mark.parametrize(
    ("bound", "name"),
    [
        (values.STREAMS_MAX, "STREAMS"),
        (values.SIZES_MAX, "SIZES"),
        (values.ARRIVALS_MAX, "ARRIVALS"),
        (values.ASUS_MAX, "ASUS"),
        (values.TARGETS_MAX, "TARGETS"),
        (values.WORKERS_MAX, "WORKERS"),
        (values.POINTS_MAX, "POINTS"),
        (values.POINTS_IN_ALL, "POINTS_IN_ALL"),
        (values.RATE_MILLI_MAX, "RATE_MILLI"),
        (values.IO_BYTES_MAX, "IO_BYTES"),
    ],
)
def test_bounds_are_those_of_the_contract(bound: int, name: str) -> None:
    assert bound == getattr(spek, f"MAX_{name}")


def test_patterns_of_a_file_are_tables_or_the_cores() -> None:
    """Of these, write pointers and those of all disks; a trace is replayed by itself."""
    of_file, of_core = set(values.FILE_PATTERNS), set(get_args(values.CorePattern))
    assert of_file - of_core == set(values.TABLES)
    assert of_core - of_file == {"table", "trace"}
