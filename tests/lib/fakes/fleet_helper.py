# SPDX-License-Identifier: GPL-2.0
"""The helper of a fake host of a fleet, as a process: `python fleet_helper.py MARK IN_USE` is there
for as long as the file MARK is.

Every host starts its own, so this imports as little as it can: the fake kernel of the host would
take half a second of a processor.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spekctl import __version__
from spekctl.host import wire


def help_with(mark: Path, in_use: str) -> None:
    """As `spekctl host --stdio`, with what a run needs of it."""
    answers: dict[str, Callable[[], Any]] = {
        "devices": lambda: [candidate(in_use)],
        "check": list,
    }
    mark.write_text(str(os.getpid()))
    hello = wire.Hello(wire.PROTOCOL, __version__, wire.VERBS)
    sys.stdout.buffer.write(wire.line(hello))
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        value = answers.get(asked["do"], lambda: None)()
        sys.stdout.buffer.write(wire.line({"id": asked["id"], "answer": value}))
        sys.stdout.buffer.flush()
    mark.unlink()


def candidate(in_use: str) -> dict[str, Any]:
    """/dev/fake0 as `spekctl devices` lists it."""
    return {
        "path": "/dev/fake0",
        "bytes": 1 << 30,
        "logical_block": 512,
        "model": "FAKE",
        "id": "S0",
        "serial": "S0",
        "wwn": "",
        "driver": "fake",
        "partition_of": None,
        "read_only": False,
        "in_use": in_use,
        "open_for_writing": [],
        "data": [],
        "state": "reading and writing",
    }


if __name__ == "__main__":
    help_with(Path(sys.argv[1]), sys.argv[2])
