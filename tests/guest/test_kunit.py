# SPDX-License-Identifier: GPL-2.0
"""spek's objects tested inside the kernel by KUnit (tests/kunit): each case is a test here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.guest import modules
from lib.guest.disks import null_disk

pytestmark = pytest.mark.debug_kernel_only("debug", "kcsan")

SOURCES = Path(__file__).resolve().parents[1] / "kunit"
RESULTS = Path("/sys/kernel/debug/kunit")
RESULT = re.compile(r"^ {4}(ok|not ok) \d+ -? ?(\S+)(.*)$", re.MULTILINE)


def cases() -> list[tuple[str, str]]:
    """(suite, case) of every case in the sources."""
    pairs = []
    for path in sorted(SOURCES.glob("*_test.c")):
        text = path.read_text()
        (suite,) = re.findall(r'\.name = "(\w+)",', text)
        pairs += [(suite, case) for case in re.findall(r"KUNIT_CASE(?:_PARAM)?\((\w+)", text)]
    return pairs


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, str]]:
    """What each suite says, by its name; they run when the module is loaded."""
    with null_disk(size_mb=64, irqmode=0) as node:
        path = Path(os.environ["SPEK_TEST_MODULES"], "spek_kunit.ko")
        modules.load(path, f"device={node}")
        yield {suite.name: (suite / "results").read_text() for suite in RESULTS.glob("spek_*")}
        modules.unload_soon("spek_kunit")


@pytest.mark.parametrize(("suite", "case"), cases())
def test_case(results: dict[str, str], suite: str, case: str) -> None:
    assert suite in results, f"the suite did not run; there are {sorted(results)}"
    told = {name: (verdict, rest) for verdict, name, rest in RESULT.findall(results[suite])}
    assert case in told, results[suite]
    verdict, rest = told[case]
    assert verdict == "ok" and "SKIP" not in rest, results[suite]


def test_no_case_is_missing(results: dict[str, str]) -> None:
    told = {(suite, name) for suite, text in results.items() for _, name, _ in RESULT.findall(text)}
    assert told == set(cases())
