# SPDX-License-Identifier: GPL-2.0
"""How much a command imports before it does anything: a guest under TCG is twenty times slower."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What Python itself has imported, about 80, is part of these numbers.
MOST = {
    "--help": 150,
    "run --help": 190,
    "workloads --json": 190,
    "show spc1 --json": 200,
    "doctor --json": 220,
    "status --json": 260,
    "devices --json": 270,
}
# Python 3.14's shutil and typing import these; the limits are for what spekctl imports.
SINCE_3_14 = {"_zstd", "annotationlib", "compression"}
HEAVY = {"pyarrow", "numpy", "matplotlib", "tomlkit", "pyroute2.iproute", "pyroute2.ndb"}


def imported(*words: str) -> set[str]:
    code = (
        "import sys\n"
        "from spekctl import cli\n"
        "cli.run(sys.argv[1:])\n"
        "print('\\n' + ' '.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    modules = done.stderr.splitlines()[-1].split()
    return {name for name in modules if name.split(".")[0] not in SINCE_3_14}


@pytest.mark.parametrize("line", MOST)
def test_a_command_imports_little(line: str) -> None:
    modules = imported(*line.split())
    assert not modules & HEAVY
    assert len(modules) <= MOST[line], len(modules)
    if "--json" in line:
        assert "rich" not in modules


def test_the_whole_of_pyroute2_is_there_for_who_asks() -> None:
    code = (
        "import spekctl.kernel\n"
        "import pyroute2.netlink\n"
        "import sys\n"
        "assert 'pyroute2.iproute' not in sys.modules\n"
        "from pyroute2 import GenericNetlinkSocket, IPRoute\n"
        "from pyroute2.netlink.generic import GenericNetlinkSocket as same\n"
        "assert same is GenericNetlinkSocket and 'pyroute2.iproute' in sys.modules\n"
        "try:\n"
        "    from pyroute2 import nothing_of_that_name\n"
        "except ImportError:\n"
        "    print('fine')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("fine\n", "")
