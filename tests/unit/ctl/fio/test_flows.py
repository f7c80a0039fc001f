# SPDX-License-Identifier: GPL-2.0
"""Jobs that fio couples by flow as streams of one loop."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import imported, tables

from spekctl.errors import UsageError
from spekctl.fio import convert, flows

HEAD = "[global]\ndirect=1\nioengine=libaio\nrw=randread\nnorandommap\n"
TIMED = "time_based\nruntime=1\n"


def shares(sections: dict[str, Any], names: str) -> dict[str, Fraction]:
    """The share of each job, those of its streams together."""
    drawn = {
        name: sum(
            entry.get("share", 1)
            for entry in sections["stream"]
            if entry["name"].partition(".")[0] == name
        )
        for name in names
    }
    return {name: Fraction(share, sum(drawn.values())) for name, share in drawn.items()}


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("flow=1\n", "flow=8\n", Fraction(1, 9)),
        (
            "flow=2\nrw=randrw\nbs=4k,8k\nrwmixread=70\n",
            "flow=3\nrw=write\n",
            Fraction(2, 5),
        ),
        # Each clone has the weight.
        ("flow=1\nnumjobs=2\n", "flow=4\n", Fraction(1, 3)),
    ],
)
def test_a_job_has_the_share_of_its_weight(tmp_path: Path, a: str, b: str, share: Fraction) -> None:
    converted = imported(tmp_path, f"{HEAD}{TIMED}iodepth=4\n[a]\n{a}[b]\n{b}")
    sections = tables(converted)
    assert shares(sections, "ab") == {"a": share, "b": 1 - share}
    (loop,) = sections["arrival"]
    assert loop == {"name": "a", "depth": 4 * (3 if "numjobs" in a else 2)}
    assert {entry["arrival"] for entry in sections["stream"]} == {"a"}
    assert converted.mapped["flow"] == flows.SHARES and flows.FLOW in converted.differences


def test_jobs_beside_a_flow_have_loops_of_their_own(tmp_path: Path) -> None:
    text = f"{HEAD}{TIMED}[a]\nflow=1\n[c]\n[b]\nflow=3\n[d]\nflow=1\nflow_id=7\n"
    converted = imported(tmp_path, text)
    sections = tables(converted)
    loops = {entry["name"]: entry["arrival"] for entry in sections["stream"]}
    assert loops == {"a": "a", "b": "a", "c": "c", "d": "d"}
    assert [(entry["name"], entry.get("depth", 1)) for entry in sections["arrival"]] == [
        *(("a", 2), ("c", 1), ("d", 1)),
    ]
    assert shares(sections, "ab")["b"] == Fraction(3, 4)
    alone = imported(tmp_path, f"{HEAD}{TIMED}[a]\nflow=5\nnumjobs=2\n")
    assert alone.mapped["flow"] == flows.ALONE and flows.FLOW not in alone.differences
    off = imported(tmp_path, f"{HEAD}{TIMED}[a]\nflow=0\nflow_id=2\n[b]\nflow_id=2\n")
    assert len(tables(off)["arrival"]) == 2
    assert off.mapped["flow_id"] == "nothing: there is no flow"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{TIMED}[a]\nflow=1\n[b]\nstonewall\nflow=1\n", r"\[b\] starts after \[a\]"),
        ("size=1m\n[a]\nflow=1\n[b]\nflow=1\n", r"\[a\] does not end by the same time"),
        (f"{TIMED}[a]\nflow=1\n[b]\nflow=1\nruntime=2\n", r"\[b\] does not end by the same"),
        ("runtime=1\n[a]\nflow=1\n[b]\nflow=1\n", r"\[a\] does not end by the same time"),
        (f"{TIMED}[a]\nflow=1\n[b]\nflow=1\nrate_iops=5\n", r"\[b\] has a rate or a pause"),
        (f"{TIMED}[a]\nflow=1\n[b]\nflow=1\nthinktime=5\n", r"\[b\] has a rate or a pause"),
        (
            f"{TIMED}[a]\nflow=1\nfilename=/dev/a\n[b]\nflow=1\nfilename=/dev/b\n",
            r"\[b\] and \[a\] have different devices",
        ),
        (f"{TIMED}[a]\nflow=-1\n", "'-1' is not a whole number"),
    ],
)
def test_a_flow_that_is_no_single_loop_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "job.fio").write_text(HEAD + text)
    with pytest.raises(UsageError, match=f"flow: {why}"):
        convert.load_steps(tmp_path / "job.fio")
