# SPDX-License-Identifier: GPL-2.0
"""KCIDB, checked by the schema of kcidb_io."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from kcidb_io.schema.v05_03 import Version
from lib.ctl.verdicts import STRANGE_NAMES

from spekctl.errors import UsageError
from spekctl.gate.cases import Case, Status, Suite
from spekctl.gate.formats import kcidb

BUILD = ("--kcidb-build", "acme:build-7")


def parse(text: str) -> dict[str, Any]:
    data = json.loads(text)
    assert Version.is_compatible_exactly(data)
    Version.validate(data)
    ids = [test["id"] for test in data["tests"]]
    assert len(set(ids)) == len(ids)
    return {test["path"]: test for test in data["tests"]}


def test_its_schema_takes_it(gate: Callable[..., str]) -> None:
    tests = parse(gate("kcidb", *BUILD))
    assert {test["status"] for test in tests.values()} == {"PASS", "FAIL", "MISS", "DONE", "SKIP"}
    slow = tests["spek.gate.slow.iops"]
    assert slow["status"] == "FAIL"
    assert slow["number"] == {"value": 800.5, "unit": "IOPS", "prefix": "metric"}
    assert (slow["origin"], slow["build_id"], slow["duration"]) == ("acme", "acme:build-7", 3.0)
    assert slow["environment"]["misc"]["workload"] == "random-read-4k"
    assert tests["spek.gate.good.power"]["status"] == "MISS"
    assert "number" not in tests["spek.gate.good.power"]
    assert tests["spek.gate.good.response.p99"]["status"] == "DONE"


def test_ids_are_those_of_the_verdict_and_the_build() -> None:
    cases = [Case("iops", Status.PASS, ""), Case("power", Status.FAIL, "")]
    suite = Suite("spek.gate", "2026-01-01T00:00:00Z", "failed", "", cases)
    assert kcidb.render(suite, "acme:1") == kcidb.render(suite, "acme:1")
    ids = [
        test["id"]
        for build in ("acme:1", "acme:2")
        for test in json.loads(kcidb.render(suite, build))["tests"]
    ]
    assert len(set(ids)) == 4


def test_only_the_figure_that_decides_can_fail(comparison: Callable[..., str]) -> None:
    tests = parse(comparison("kcidb", *BUILD))
    assert tests["spek.compare.iops"]["status"] == "FAIL"
    assert tests["spek.compare.bandwidth"]["status"] == "DONE"


def test_undecided_is_not_a_pass(undecided: Callable[..., str]) -> None:
    assert parse(undecided("kcidb", *BUILD))["spek.compare.iops"]["status"] == "ERROR"


def test_no_text_breaks_it(odd_suite: Suite, status: Status) -> None:
    (test,) = parse(kcidb.render(odd_suite, "acme:1")).values()
    assert (test["status"], "number" in test) == (status.value.upper(), status != Status.MISS)


def test_no_file_name_breaks_it(gate_of_strange_names: Callable[..., str]) -> None:
    assert len(parse(gate_of_strange_names("kcidb", *BUILD))) == len(STRANGE_NAMES) * 5


@pytest.mark.parametrize("build", ["maestro:5f3c", "a_1:x/y#2", "a:b:c"])
def test_an_origin_is_what_precedes_the_first_colon(build: str) -> None:
    assert kcidb.origin_of(build) == build.split(":")[0]


@pytest.mark.parametrize(
    "build", ["", "x", ":1", "x:", "Acme:1", "a-b:1", "a:1 2", "a:1\n", "é:1", "a:\udcff"]
)
def test_what_is_no_id_of_a_build_is_refused(build: str) -> None:
    with pytest.raises(UsageError, match="is not the id of a build in KCIDB; write ORIGIN:ID"):
        kcidb.origin_of(build)
