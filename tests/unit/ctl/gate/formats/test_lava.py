# SPDX-License-Identifier: GPL-2.0
"""LAVA signals, read as LAVA's dispatcher reads them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from lib.ctl.verdicts import STRANGE_NAMES

from spekctl.gate.cases import Case, Status, Suite
from spekctl.gate.formats import lava

# What lava_dispatcher/actions/lava_test_shell.py takes for a signal, and its parameters.
SIGNAL = re.compile(r"<LAVA_SIGNAL_(\S+) ([^>]+)>")


def parse(text: str) -> list[dict[str, str]]:
    signals = []
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
        signals.append(values)
    return signals


def test_its_signals_are_found(gate: Callable[..., str]) -> None:
    by_case = {signal["test_case_id"]: signal for signal in parse(gate("lava"))}
    assert len(by_case) == 10
    assert by_case["slow.iops"] == {
        "test_case_id": "slow.iops",
        "result": "fail",
        "measurement": "800.5",
        "units": "IOPS",
    }
    results = {name: signal["result"] for name, signal in by_case.items()}
    assert results["good.power"] == "fail" and results["good.iops_per_w"] == "skip"
    assert results["good.response.p99"] == "pass"
    assert by_case["good.response.p99"]["measurement"] == "1000000"


def test_only_the_figure_that_decides_can_fail(comparison: Callable[..., str]) -> None:
    signals = parse(comparison("lava"))
    assert [(signal["result"], signal["units"]) for signal in signals] == [
        ("fail", "%"),
        ("pass", "%"),
    ]


def test_undecided_is_not_a_pass(undecided: Callable[..., str]) -> None:
    assert parse(undecided("lava"))[0]["result"] == "unknown"


def test_no_text_breaks_it(odd_suite: Suite) -> None:
    (signal,) = parse(lava.render(odd_suite))
    assert (signal["test_case_id"], signal["measurement"]) == ("case0", "5.5")


def test_no_file_name_breaks_it(gate_of_strange_names: Callable[..., str]) -> None:
    signals = parse(gate_of_strange_names("lava"))
    assert len({signal["test_case_id"] for signal in signals}) == len(STRANGE_NAMES) * 5


@pytest.mark.parametrize(
    ("unit", "seen"), [("MiB/s", "MiB/s"), ("%", "%"), ("I/O per W", "I/O_per_W"), ("µs", "_s")]
)
def test_a_unit_is_one_word(unit: str, seen: str) -> None:
    case = Case("power", Status.PASS, "", 1e300, unit)
    (signal,) = parse(lava.render(Suite("spek.gate", "", "passed", "", [case])))
    assert (signal["units"], float(signal["measurement"])) == (seen, 1e300)


def test_a_figure_without_unit_has_none() -> None:
    case = Case("errors", Status.PASS, "", 0.0)
    (signal,) = parse(lava.render(Suite("spek.gate", "", "passed", "", [case])))
    assert signal == {"test_case_id": "errors", "result": "pass", "measurement": "0"}
