# SPDX-License-Identifier: GPL-2.0
"""The guest's half of the tests, without a guest."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lib.harness.inside import WATCH, Reporter
from lib.harness.leaks import Leak


def test_only_files_with_wanted_tests_are_read() -> None:
    """What lies beside them, as conftest.py, and directories are read in any case."""
    reporter = Reporter.__new__(Reporter)
    reporter.files = {"test_law.py"}
    ignored = {
        name: reporter.pytest_ignore_collect(Path("/clone/tests/guest", name))
        for name in ("test_law.py", "test_lifecycle.py", "conftest.py", "faults", "holders.py")
    }
    assert ignored == {
        "test_law.py": None,
        "test_lifecycle.py": True,
        "conftest.py": None,
        "faults": None,
        "holders.py": None,
    }


class FakeLeaks:
    """One object of ours is lost in each test."""

    def __init__(self, due: bool) -> None:
        self.due, self.looks, self.rests = due, 0, False

    def are_due(self) -> bool:
        return self.due

    def rest(self) -> None:
        self.rests = True

    def by_test(self) -> dict[str, list[Leak]]:
        if self.rests:
            return {}
        self.looks += 1
        return {"lost": [Leak(8, "a program", 1, "[<0>] spek_run_alloc+0x1/0x2 [spek]")]}


@pytest.mark.parametrize(
    ("files", "due", "looks"),
    [
        (["test_a.py", "test_a.py"], True, 1),  # at the end
        (["test_a.py", "test_b.py"], True, 2),
        (["test_a.py", "test_b.py"], False, 1),
        (["test_a.py", WATCH, WATCH], False, 1),  # before it, and not after it
        ([WATCH, WATCH], False, 1),  # alone
    ],
)
def test_leaks_are_looked_for_between_files(files: list[str], due: bool, looks: int) -> None:
    reporter = Reporter.__new__(Reporter)
    leaks: Any = FakeLeaks(due)
    told: list[str] = []
    parts: Any = {
        "leaks": leaks,
        "places": {},
        "refuse_trouble": lambda item: None,
        "report_leaks": lambda nodeid, lost: told.append(nodeid),
    }
    vars(reporter).update(parts)
    items: list[Any] = [
        SimpleNamespace(path=Path(name), nodeid=name, location=name) for name in files
    ]
    for item, after in zip(items, [*items[1:], None], strict=True):
        hook = reporter.pytest_runtest_teardown(item, after)
        next(hook)
        with pytest.raises(StopIteration):
            hook.send(None)
    assert told == ["lost"] * looks
    assert leaks.looks == looks
