# SPDX-License-Identifier: GPL-2.0
"""KTAP, read by a parser that follows the kernel's document."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lib.ctl.verdicts import STRANGE_NAMES

from spekctl.gate.cases import Status, Suite
from spekctl.gate.formats import ktap


@dataclass
class Ktap:
    """A document by the rules of Documentation/dev-tools/ktap.rst:

    - the first line is a version line, `KTAP version 1`
    - the plan line `1..N` comes before the first result; N is the number of results at this level
    - a result line is `ok` or `not ok`, its number (from 1, by one), optionally `-`, a description
      without `#`, and optionally ` # ` with a directive and text about it
    - of the directives of that document, spek has SKIP and ERROR
    - diagnostic lines begin with `# ` and may be anywhere
    - nothing else, but for unknown lines, which a producer should not make
    """

    results: list[tuple[bool, str, str]] = field(default_factory=list)
    diagnostics: list[str] = field(default_factory=list)


DIRECTIVES = {"SKIP", "ERROR"}


def parse(text: str) -> Ktap:
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    assert lines[0] == "KTAP version 1"
    plan = re.fullmatch(r"1\.\.([0-9]+)", lines[1])
    assert plan is not None
    parsed = Ktap()
    for line in lines[2:]:
        if line.startswith("# "):
            parsed.diagnostics.append(line[2:])
            continue
        result = re.fullmatch(r"(ok|not ok) ([0-9]+) (?:- )?([^#]+?)(?: # ([A-Z]+)(?: .*)?)?", line)
        assert result is not None, line
        assert int(result[2]) == len(parsed.results) + 1
        assert result[4] is None or result[4] in DIRECTIVES
        parsed.results.append((result[1] == "ok", result[3], result[4] or ""))
    assert len(parsed.results) == int(plan[1])
    return parsed


def test_it_follows_the_kernels_document(gate: Callable[..., str]) -> None:
    parsed = parse(gate("ktap"))
    assert parsed.results == [
        (True, "good.completed", ""),
        (True, "good.iops", ""),
        (False, "good.power", "ERROR"),
        (True, "good.response.p99", ""),
        (True, "good.iops_per_w", "SKIP"),
        (True, "slow.completed", ""),
        (False, "slow.iops", ""),
        (False, "slow.power", "ERROR"),
        (True, "slow.response.p99", ""),
        (True, "slow.iops_per_w", "SKIP"),
    ]
    assert "slow.iops: 800.5 IOPS" in parsed.diagnostics
    assert "iops is 800 IOPS, less than 900 IOPS" in parsed.diagnostics


def test_only_the_figure_that_decides_can_fail(comparison: Callable[..., str]) -> None:
    assert parse(comparison("ktap")).results == [(False, "iops", ""), (True, "bandwidth", "")]


def test_undecided_is_not_a_pass(undecided: Callable[..., str]) -> None:
    assert parse(undecided("ktap")).results == [(False, "iops", "ERROR")]


def test_no_text_breaks_it(odd_suite: Suite, status: Status) -> None:
    ((passed, name, directive),) = parse(ktap.render(odd_suite)).results
    assert name == "case0"
    assert passed == (status in (Status.PASS, Status.DONE, Status.SKIP))
    assert bool(directive) == (status in (Status.ERROR, Status.MISS, Status.SKIP))


def test_no_file_name_breaks_it(gate_of_strange_names: Callable[..., str]) -> None:
    results = parse(gate_of_strange_names("ktap")).results
    assert len({name for _, name, _ in results}) == len(STRANGE_NAMES) * 5
