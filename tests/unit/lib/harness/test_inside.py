# SPDX-License-Identifier: GPL-2.0
"""The guest's half of the tests, without a guest."""

from __future__ import annotations

from pathlib import Path

from lib.harness.inside import Reporter


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
