# SPDX-License-Identifier: GPL-2.0
"""The clause that says where a document's own figures are; exports/test_kinds.py has every kind."""

from __future__ import annotations

import json

import pytest

from spekctl.documents.document import Kind
from spekctl.documents.not_results import instead

BESIDE = ", beside it"
LONG = "x" * 81


def of_runs(*names: str) -> bytes:
    return json.dumps({"steps": [{"result_file": name} for name in names]}).encode()


@pytest.mark.parametrize(
    ("names", "clause"),
    [
        (["a.json"], f"the result of its run is a.json{BESIDE}"),
        (["a.json", "b.json"], f"the results of its runs are a.json and b.json{BESIDE}"),
        (["a", "b", "c"], f"the results of its runs are a, b and c{BESIDE}"),
        (["a", "b", "c", "d", "e"], f"the results of its runs are a, b, c and 2 more{BESIDE}"),
        (["a", "a", ""], f"the result of its run is a{BESIDE}"),
        (["two words"], f"the result of its run is 'two words'{BESIDE}"),
        ([LONG], f"the result of its run is {LONG[:80]}{BESIDE}"),
    ],
)
def test_runs_are_named_once_and_not_too_many(names: list[str], clause: str) -> None:
    assert instead(Kind.SPC1, of_runs(*names)) == clause


@pytest.mark.parametrize("data", [b"", b"{", b"[1, 2]", b'{"steps": 3}', b"\xff"])
def test_what_is_damaged_names_no_file(data: bytes) -> None:
    assert instead(Kind.GATE, data) == "it judged no result"
    assert instead(Kind.SPC1_STATE, data) == "none of its runs has completed"
