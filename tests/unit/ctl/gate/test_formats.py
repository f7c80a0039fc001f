# SPDX-License-Identifier: GPL-2.0
"""Formats, each read by its consumer's parser, or by one that follows the consumer's document."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from junitparser import Error, Failure, JUnitXml, Properties, Skipped, TestCase, TestSuite
from kcidb_io.schema.v05_03 import Version
from lib.ctl.command_line import Spekctl
from lib.ctl.verdicts import measured, put, sides

from spekctl.errors import ExitCode
from spekctl.gate.cases import Case, Status, Suite, path_of
from spekctl.gate.formats import junit, kcidb, keyval, ktap, lava

LIMITS = """
[gate]
report = ["response.p99", "iops_per_w"]
[[limit]]
metric = "iops"
min = 900
[[limit]]
metric = "power"
max = "5W"
"""
# What a file name can hold, and no format may break at.
NASTY = 'x]]>\n&<"# ok 1 \x07\u202e$(id)'


@pytest.fixture
def gate_words(tmp_path: Path) -> list[str]:
    (tmp_path / "limits.toml").write_text(LIMITS)
    put(tmp_path / "good.json", measured(1, 1000.0))
    put(tmp_path / "slow.json", measured(2, 800.5))
    return ["gate", "limits.toml", "good.json", "slow.json"]


def rendered(spekctl: Spekctl, words: list[str], name: str, *more: str) -> str:
    found = spekctl(*words, "--format", name, *more)
    assert (found.code, found.err) == (ExitCode.LIMIT_MISSED, "")
    return found.out


def suite(*statuses: Status, text: str = "iops is 5") -> Suite:
    cases = [Case(f"case{number}", one, text, 5.5, "IOPS") for number, one in enumerate(statuses)]
    return Suite("spek.gate", "2026-01-01T00:00:00Z", "failed", text, cases, (text,))


# --- KTAP ----------------------------------------------------------------------------------------


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


def parse_ktap(text: str) -> Ktap:
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    assert lines[0] == "KTAP version 1"
    plan = re.fullmatch(r"1\.\.([0-9]+)", lines[1])
    assert plan is not None
    found = Ktap()
    for line in lines[2:]:
        if line.startswith("# "):
            found.diagnostics.append(line[2:])
            continue
        result = re.fullmatch(r"(ok|not ok) ([0-9]+) (?:- )?([^#]+?)(?: # ([A-Z]+)(?: .*)?)?", line)
        assert result is not None, line
        assert int(result[2]) == len(found.results) + 1
        assert result[4] is None or result[4] in DIRECTIVES
        found.results.append((result[1] == "ok", result[3], result[4] or ""))
    assert len(found.results) == int(plan[1])
    return found


def test_ktap_follows_the_kernels_document(spekctl: Spekctl, gate_words: list[str]) -> None:
    found = parse_ktap(rendered(spekctl, gate_words, "ktap"))
    assert found.results == [
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
    assert "slow.iops: 800.5 IOPS" in found.diagnostics
    assert "iops is 800 IOPS, less than 900 IOPS" in found.diagnostics


# --- JUnit ---------------------------------------------------------------------------------------


def parse_junit(text: str) -> list[TestCase]:
    xml = JUnitXml.fromstring(text.encode())
    (inner,) = xml
    assert isinstance(inner, TestSuite)
    cases = list(inner)
    kinds = [type(one.result[0]) if one.result else None for one in cases]
    for counted in (xml, inner):
        assert (counted.tests, counted.failures) == (len(cases), kinds.count(Failure))
        assert (counted.errors, counted.skipped) == (kinds.count(Error), kinds.count(Skipped))
    return cases


def test_junit_is_read_by_its_parser(spekctl: Spekctl, gate_words: list[str]) -> None:
    cases = parse_junit(rendered(spekctl, gate_words, "junit"))
    by_name = {one.name: one for one in cases}
    kinds = {name: [type(two) for two in one.result] for name, one in by_name.items()}
    assert kinds["good.iops"] == [] and kinds["good.response.p99"] == []
    assert kinds["slow.iops"] == [Failure] and kinds["slow.power"] == [Error]
    assert kinds["good.iops_per_w"] == [Skipped]
    slow = by_name["slow.iops"]
    assert slow.classname == "spek.gate" and slow.time == 3.0
    assert slow.result[0].message == "iops is 800 IOPS, less than 900 IOPS"
    values = {one.name: one.value for one in slow.child(Properties)}
    assert values["value"] == "800.5" and values["min"] == "900" and values["unit"] == "IOPS"
    assert values["file"] == "slow.json"


# --- LAVA ----------------------------------------------------------------------------------------

# What lava_dispatcher/actions/lava_test_shell.py takes for a signal, and its parameters.
SIGNAL = re.compile(r"<LAVA_SIGNAL_(\S+) ([^>]+)>")


def parse_lava(text: str) -> list[dict[str, str]]:
    found = []
    for line in text.splitlines():
        signal = SIGNAL.fullmatch(line)
        assert signal is not None and signal[1] == "TESTCASE"
        values = {}
        for word in signal[2].split():
            name, equals, value = word.partition("=")
            assert equals and value
            values[name.lower()] = value
        assert set(values) <= {"test_case_id", "result", "measurement", "units"}
        assert values["result"] in ("pass", "fail", "skip", "unknown")
        assert re.fullmatch(r"[\w.-]+", values["test_case_id"])
        if "measurement" in values:
            float(values["measurement"])
        found.append(values)
    return found


def test_lava_finds_its_signals(spekctl: Spekctl, gate_words: list[str]) -> None:
    found = {one["test_case_id"]: one for one in parse_lava(rendered(spekctl, gate_words, "lava"))}
    assert len(found) == 10
    assert found["slow.iops"] == {
        "test_case_id": "slow.iops",
        "result": "fail",
        "measurement": "800.5",
        "units": "IOPS",
    }
    results = {name: one["result"] for name, one in found.items()}
    assert results["good.power"] == "unknown" and results["good.iops_per_w"] == "skip"
    assert results["good.response.p99"] == "pass"
    assert found["good.response.p99"]["measurement"] == "1000000"


# --- KCIDB ---------------------------------------------------------------------------------------

BUILD = ("--kcidb-build", "acme:build-7")


def parse_kcidb(text: str) -> dict[str, Any]:
    data = json.loads(text)
    assert Version.is_compatible_exactly(data)
    Version.validate(data)
    ids = [one["id"] for one in data["tests"]]
    assert len(set(ids)) == len(ids)
    return {one["path"]: one for one in data["tests"]}


def test_kcidb_takes_its_json(spekctl: Spekctl, gate_words: list[str]) -> None:
    found = parse_kcidb(rendered(spekctl, gate_words, "kcidb", *BUILD))
    assert {one["status"] for one in found.values()} == {"PASS", "FAIL", "MISS", "DONE", "SKIP"}
    slow = found["spek.gate.slow.iops"]
    assert slow["status"] == "FAIL"
    assert slow["number"] == {"value": 800.5, "unit": "IOPS", "prefix": "metric"}
    assert (slow["origin"], slow["build_id"], slow["duration"]) == ("acme", "acme:build-7", 3.0)
    assert slow["environment"]["misc"]["workload"] == "random-read-4k"
    assert found["spek.gate.good.power"]["status"] == "MISS"
    assert "number" not in found["spek.gate.good.power"]
    assert found["spek.gate.good.response.p99"]["status"] == "DONE"


def test_ids_are_those_of_the_verdict_and_the_build() -> None:
    one = suite(Status.PASS, Status.FAIL)
    assert kcidb.render(one, "acme:1") == kcidb.render(one, "acme:1")
    ids = [
        test["id"]
        for build in ("acme:1", "acme:2")
        for test in json.loads(kcidb.render(one, build))["tests"]
    ]
    assert len(set(ids)) == 4


# --- key: value ----------------------------------------------------------------------------------


def parse_keyval(text: str) -> dict[str, float]:
    found = {}
    for line in text.splitlines():
        name, colon, value = line.partition(": ")
        assert colon and re.fullmatch(r"[\w.-]+", name), line
        assert name not in found
        found[name] = float(value)
    return found


def test_key_value_lines_are_numbers(spekctl: Spekctl, gate_words: list[str]) -> None:
    found = parse_keyval(rendered(spekctl, gate_words, "keyval"))
    assert (found["slow.iops"], found["slow.iops.pass"], found["good.iops.pass"]) == (800.5, 0, 1)
    assert "good.power" not in found and "good.power.pass" not in found
    assert "good.response.p99" in found and "good.response.p99.pass" not in found


def test_one_result_needs_no_name(spekctl: Spekctl, gate_words: list[str]) -> None:
    found = spekctl(*gate_words[:-1], "--format", "keyval")
    assert parse_keyval(found.out)["iops"] == 1000


# --- all of them ---------------------------------------------------------------------------------


def test_comparisons_have_all_formats(spekctl: Spekctl, tmp_path: Path) -> None:
    a = [1000.0, 1004.0, 997.0, 1001.0, 999.0]
    words = ["compare", "--also", "bandwidth", *sides(tmp_path, a, [one * 0.8 for one in a])]
    ktap_ = parse_ktap(rendered(spekctl, words, "ktap"))
    assert ktap_.results == [(False, "iops", ""), (True, "bandwidth", "")]
    first, second = parse_junit(rendered(spekctl, words, "junit"))
    assert [type(one) for one in first.result] == [Failure] and not second.result
    assert first.result[0].message.startswith("worse: iops -20.00 %")
    signals = parse_lava(rendered(spekctl, words, "lava"))
    assert [(one["result"], one["units"]) for one in signals] == [("fail", "%"), ("pass", "%")]
    tests = parse_kcidb(rendered(spekctl, words, "kcidb", *BUILD))
    assert tests["spek.compare.iops"]["status"] == "FAIL"
    assert tests["spek.compare.bandwidth"]["status"] == "DONE"
    values = parse_keyval(rendered(spekctl, words, "keyval"))
    assert values["iops"] == pytest.approx(-20) and values["iops.pass"] == 0


def test_undecided_passes_in_no_format(spekctl: Spekctl, tmp_path: Path) -> None:
    words = ("compare", *sides(tmp_path, [1000.0], [1000.0]))

    def out(name: str, *more: str) -> str:
        found = spekctl(*words, "--format", name, *more)
        assert found.code == ExitCode.UNDECIDED
        return found.out

    assert parse_ktap(out("ktap")).results == [(False, "iops", "ERROR")]
    assert [type(one) for one in parse_junit(out("junit"))[0].result] == [Error]
    assert parse_lava(out("lava"))[0]["result"] == "unknown"
    assert parse_kcidb(out("kcidb", *BUILD))["spek.compare.iops"]["status"] == "ERROR"
    assert parse_keyval(out("keyval")) == {"iops": 0}


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("text", ["plain", NASTY, "\ud800", "\x00"])
def test_no_text_breaks_a_format(status: Status, text: str) -> None:
    one = suite(status, text=text)
    assert len(parse_ktap(ktap.render(one)).results) == 1
    assert len(parse_junit(junit.render(one))) == 1
    assert len(parse_lava(lava.render(one))) == 1
    assert len(parse_kcidb(kcidb.render(one, "acme:1"))) == 1
    parse_keyval(keyval.render(one))


def test_no_file_name_breaks_a_format(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(LIMITS)
    names = ["é #1.json", "x y.json", "x_y.json", "..json", "q>.json", "\udcff.json"]
    for number, name in enumerate(names):
        put(tmp_path / name, measured(number, 100.0))
    words = ["gate", "limits.toml", *names]

    def out(name: str, *more: str) -> str:
        (tmp_path / "seen").unlink(missing_ok=True)
        assert spekctl(*words, "--format", name, *more, "-o", "seen").code == ExitCode.LIMIT_MISSED
        return (tmp_path / "seen").read_text()

    count = len(names) * 5
    results = parse_ktap(out("ktap")).results
    assert len({name for _, name, _ in results}) == count
    assert len({one.name for one in parse_junit(out("junit"))}) == count
    assert len({one["test_case_id"] for one in parse_lava(out("lava"))}) == count
    assert len(parse_kcidb(out("kcidb", *BUILD))) == count
    parse_keyval(out("keyval"))
    assert len(json.loads(out("json"))["runs"]) == len(names)


def test_dots_of_numbers_are_no_levels() -> None:
    assert path_of("read.response.p99.99") == "read.response.p99_99"
    assert path_of("iops") == "iops"
