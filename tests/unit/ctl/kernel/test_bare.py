# SPDX-License-Identifier: GPL-2.0
"""pyroute2 without its package: only what is imported is loaded, and the remainder on demand."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str, before: str = "") -> str:
    """Output of @code after spekctl.kernel, which enters the package, and @before it."""
    lines = ("import sys", before, "import spekctl.kernel", code)
    command = [sys.executable, "-c", "\n".join(lines)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_netlink_alone_is_loaded() -> None:
    output = run(
        "import pyroute2.netlink\n"
        "print(sum(name.startswith('pyroute2') for name in sys.modules), pyroute2.netlink.__name__)"
    )
    count, name = output.split()
    assert name == "pyroute2.netlink" and int(count) < 40


def test_a_name_of_the_package_brings_all_of_it() -> None:
    output = run(
        "import pyroute2\nbefore = len(sys.modules)\n"
        "pyroute2.IPRoute\nprint(before, len(sys.modules), type(pyroute2).__name__)"
    )
    before, after, kind = output.split()
    assert int(after) > int(before) + 50 and kind == "module"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(subprocess.CalledProcessError) as failure:
        run("import pyroute2\npyroute2.no_such_name")
    assert "AttributeError" in failure.value.stderr


def test_a_package_that_is_loaded_stays_as_it_is() -> None:
    output = run(
        "print(before is sys.modules['pyroute2'], type(before).__name__)",
        before="import pyroute2 as before",
    )
    assert output == "True module"
