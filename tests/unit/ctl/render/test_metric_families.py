# SPDX-License-Identifier: GPL-2.0
"""Metrics as text."""

from __future__ import annotations

import pytest

from spekctl.render.metric_families import Family, lines, seconds


def test_a_sample_without_labels_has_no_braces() -> None:
    family = Family("a_bytes", "gauge", "B\n\\", [("", {}, "1"), ("", {"k": 'v"'}, "2")], "bytes")
    assert list(lines(family, False)) == [
        "# HELP a_bytes B\\n\\\\",
        "# TYPE a_bytes gauge",
        "a_bytes 1",
        'a_bytes{k="v\\""} 2',
    ]
    assert list(lines(family, True))[2] == "# UNIT a_bytes bytes"


def test_a_family_without_samples_is_left_out() -> None:
    assert list(lines(Family("a", "counter", "", []), True)) == []


@pytest.mark.parametrize(
    ("ns", "text"), [(0, "0.000000000"), (1, "0.000000001"), (10**12 + 5, "1000.000000005")]
)
def test_seconds_are_exact(ns: int, text: str) -> None:
    assert seconds(ns) == text
