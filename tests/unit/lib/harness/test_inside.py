# SPDX-License-Identifier: GPL-2.0
"""The guest's half of the tests, without a guest."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lib.harness.inside import WATCH, Reporter, set_kernel
from lib.harness.leaks import Leak


def test_only_files_with_wanted_tests_are_read() -> None:
    """What lies beside them, as conftest.py, and directories are read in any case."""
    reporter = Reporter.__new__(Reporter)
    reporter.want(["tests/guest/test_law.py::test_law[6.1]"])
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


def test_of_a_file_only_wanted_tests_become_items(tmp_path: Path) -> None:
    """Each with the variants that are wanted; a file's other names are left to pytest."""
    path = tmp_path / "test_guest.py"
    path.write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('many', range(3))\n"
        "def test_wanted(many): pass\n"
        "@pytest.mark.parametrize('many', range(3))\n"
        "def test_left_to_others(many): pass\n"
        "class TestClass:\n"
        "    def test_wanted(self): pass\n"
        "    def test_left_to_others(self): pass\n"
    )
    wanted = ["test_guest.py::test_wanted[1]", "test_guest.py::TestClass::test_wanted"]
    reporter = Reporter.__new__(Reporter)  # it would open the kernel's log
    reporter.want(wanted)

    class Watch:
        """The items that there are before the reporter chooses among them."""

        @pytest.hookimpl(tryfirst=True)
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            self.items = [item.nodeid for item in items]

        def pytest_collection_finish(self, session: pytest.Session) -> None:
            self.kept = [item.nodeid for item in session.items]

    watch = Watch()
    words = ["-q", "--collect-only", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(path)]
    assert pytest.main(words, plugins=[reporter, watch]) == pytest.ExitCode.OK
    variants = [f"test_guest.py::test_wanted[{many}]" for many in range(3)]
    assert watch.items == [*variants, wanted[1]]
    assert watch.kept == wanted


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


def test_a_kernel_is_set_in_what_it_has(tmp_path: Path) -> None:
    """A file that is not there is not created: that would hide a name that is wrong."""
    there = tmp_path / "proc/sys/kernel/watchdog_thresh"
    there.parent.mkdir(parents=True)
    there.write_text("10")
    set_kernel({"/proc/sys/kernel/watchdog_thresh": "60", "/proc/sys/kernel/other": "1"}, tmp_path)
    assert there.read_text() == "60"
    assert [path.name for path in there.parent.iterdir()] == ["watchdog_thresh"]


def test_a_kernel_is_set_by_files_that_cannot_seek(tmp_path: Path) -> None:
    """As that of KCSAN."""
    os.mkfifo(tmp_path / "kcsan")
    fd = os.open(tmp_path / "kcsan", os.O_RDONLY | os.O_NONBLOCK)
    set_kernel({"/kcsan": "on"}, tmp_path)
    assert os.read(fd, 16) == b"on"
    os.close(fd)
