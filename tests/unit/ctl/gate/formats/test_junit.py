# SPDX-License-Identifier: GPL-2.0
"""JUnit XML, read by junitparser."""

from __future__ import annotations

from collections.abc import Callable

from junitparser import Error, Failure, JUnitXml, Properties, Skipped, TestCase, TestSuite
from lib.ctl.verdicts import STRANGE_NAMES

from spekctl.gate.cases import Status, Suite
from spekctl.gate.formats import junit


def parse(text: str) -> list[TestCase]:
    xml = JUnitXml.fromstring(text.encode())
    (inner,) = xml
    assert isinstance(inner, TestSuite)
    cases = list(inner)
    kinds = [type(case.result[0]) if case.result else None for case in cases]
    for counted in (xml, inner):
        assert (counted.tests, counted.failures) == (len(cases), kinds.count(Failure))
        assert (counted.errors, counted.skipped) == (kinds.count(Error), kinds.count(Skipped))
    return cases


def test_it_is_read_by_its_parser(gate: Callable[..., str]) -> None:
    cases = parse(gate("junit"))
    by_name = {case.name: case for case in cases}
    kinds = {name: [type(result) for result in case.result] for name, case in by_name.items()}
    assert kinds["good.iops"] == [] and kinds["good.response.p99"] == []
    assert kinds["slow.iops"] == [Failure] and kinds["slow.power"] == [Error]
    assert kinds["good.iops_per_w"] == [Skipped]
    slow = by_name["slow.iops"]
    assert slow.classname == "spek.gate" and slow.time == 3.0
    assert slow.result[0].message == "iops is 800 IOPS, less than 900 IOPS"
    values = {field.name: field.value for field in slow.child(Properties)}
    assert values["value"] == "800.5" and values["min"] == "900" and values["unit"] == "IOPS"
    assert values["file"] == "slow.json"


def test_only_the_figure_that_decides_can_fail(comparison: Callable[..., str]) -> None:
    first, second = parse(comparison("junit"))
    assert [type(result) for result in first.result] == [Failure] and not second.result
    assert first.result[0].message.startswith("worse: iops -20.00 %")


def test_undecided_is_not_a_pass(undecided: Callable[..., str]) -> None:
    (case,) = parse(undecided("junit"))
    assert [type(failure) for failure in case.result] == [Error]


TAGS = {
    Status.PASS: [],
    Status.DONE: [],
    Status.FAIL: [Failure],
    Status.ERROR: [Error],
    Status.MISS: [Error],
    Status.SKIP: [Skipped],
}


def test_no_text_breaks_it(odd_suite: Suite, status: Status) -> None:
    (case,) = parse(junit.render(odd_suite))
    assert [type(failure) for failure in case.result] == TAGS[status]


def test_no_file_name_breaks_it(gate_of_strange_names: Callable[..., str]) -> None:
    cases = parse(gate_of_strange_names("junit"))
    assert len({case.name for case in cases}) == len(STRANGE_NAMES) * 5


def test_the_suite_says_its_verdict(odd_suite: Suite) -> None:
    (inner,) = JUnitXml.fromstring(junit.render(odd_suite).encode())
    assert {field.name: field.value for field in inner.properties()}["verdict"] == "failed"
    assert inner.timestamp == "2026-01-01T00:00:00"
