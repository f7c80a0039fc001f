# SPDX-License-Identifier: GPL-2.0
"""A host of a fleet as a process: the real `spekctl fleet join` on a fake kernel and fake disks.

`python fleet_host.py '{"keys": ..., "address": ..., "mark": ...}'`; see Script for what it can be
told. Its helper is a process of its own, fleet_helper.py.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from spekctl import __version__
from spekctl.errors import UsageError
from spekctl.kernel.records import IntervalRow, RunInfo, RunState

sys.path.insert(0, str(Path(__file__).parents[2]))

from lib.fakes import fleet_helper
from lib.fakes.kernel import START_NS, FakeKernel
from lib.fakes.machine import disk


class Script(msgspec.Struct):
    """What a host is and does."""

    keys: str
    address: str
    mark: str
    wwn: str = ""  # of /dev/fake0
    in_use: str = ""
    pace_s: float = 0.05  # a second of its kernel
    patience_s: float = 60.0
    version: str = __version__
    leash_s: float = 15.0
    refuse: str = ""  # a call of the kernel that is refused
    errors: int = 0
    missing: str = ""  # why it does not have the device of the plan
    counting: str = ""  # a file that it writes once it counts a log, without end


@dataclass
class PacedKernel(FakeKernel):
    """A fake kernel whose seconds pass, and whose runs start when they shall."""

    pace_s: float = 0.05
    never_ran: bool = False  # it was stopped before its start

    def run_stop(self, run: int) -> None:
        self.never_ran = self.never_ran or self.state is RunState.ARMED
        super().run_stop(run)

    def run_start(self, run: int, start_ns: int = 0) -> None:
        super().run_start(run, start_ns)
        self.never_ran = False
        self.armed_waits = -1

    def wait(self, timeout_s: float) -> None:
        if self.state is RunState.ARMED:
            left_s = (self.start_ns - time.monotonic_ns()) / 1e9
            if left_s > 0:
                time.sleep(min(left_s, 0.1))
                return
            self.state = RunState.RUNNING
        time.sleep(self.pace_s)
        super().wait(min(timeout_s, 1))

    @property
    def _real_less_mono_ns(self) -> int:
        return time.time_ns() - time.monotonic_ns()

    @property
    def _shift_ns(self) -> int:
        return self.start_ns - START_NS if self.start_ns else 0

    def _info(self) -> RunInfo:
        info = super()._info()
        shift = self._shift_ns
        return replace(
            info,
            started_ns=0 if self.never_ran else self.start_ns or info.started_ns,
            measure_ns=info.measure_ns and info.measure_ns + shift,
            drain_ns=info.drain_ns and info.drain_ns + shift,
            ended_ns=info.ended_ns and info.ended_ns + shift,
            now_ns=info.now_ns + shift,
            start_real_ns=self._real_less_mono_ns + self.start_ns if self.start_ns else 0,
        )

    def intervals(self, run: int, since: int) -> list[IntervalRow]:
        return [
            msgspec.structs.replace(
                row, start_ns=row.start_ns + self._shift_ns, end_ns=row.end_ns + self._shift_ns
            )
            if isinstance(row, msgspec.Struct)
            else row
            for row in super().intervals(run, since)
        ]


def serve(script: Script) -> int:
    """Join, and serve a run."""
    from spekctl.block import device
    from spekctl.errors import RefusedError, SpekError
    from spekctl.fleet import keys, member, selector
    from spekctl.fleet.join import Joined
    from spekctl.log import tally
    from spekctl.run import observe

    fake = disk(wwn=script.wwn, serial=f"S-{script.mark}")
    replacements: list[tuple[Any, str, Any]] = [
        (device, "find", lambda path, *roots: fake),
        (device, "every", lambda *roots, **more: iter([fake])),
        (selector, "find", lambda text, *roots: fake),
        (observe, "connect", lambda *wishes: ((), "")),
        (member, "__version__", script.version),
        (member, "LEASH_S", script.leash_s),
    ]
    if script.missing:
        replacements.append((selector, "find", refusing(script.missing)))
    if script.counting:
        replacements.append((tally, "of_log", endless_count(Path(script.counting))))
    for place, name, value in replacements:
        setattr(place, name, value)
    refused = {script.refuse: RefusedError("The device is in use.")} if script.refuse else {}

    def connect() -> FakeKernel:
        return PacedKernel(
            pace_s=script.pace_s,
            # One boot of one machine: the runs of its hosts differ by their numbers.
            number=os.getpid(),
            refuse=dict(refused),
            errors=script.errors,
        )

    words = [sys.executable, fleet_helper.__file__, script.mark, script.in_use]
    joined = Joined(words, connect)
    try:
        bundle = keys.load(Path(script.keys))
        return joined.serve(script.address, bundle, script.patience_s)
    except SpekError as error:
        print(f"spekctl: {error.message}", file=sys.stderr)
        return int(error.exit_code)


def refusing(sentence: str) -> Callable[..., None]:
    """What no host has."""

    def find(text: str, *roots: Any) -> None:
        raise UsageError(sentence)

    return find


def endless_count(mark: Path) -> Callable[..., None]:
    """A count of a log that only its check ends."""

    def count(log: Any, selection: Any, interval_ns: int, check: Callable[[], None]) -> None:
        mark.touch()
        while True:
            check()
            time.sleep(0.01)

    return count


def main(text: str) -> int:
    """@text: a Script in JSON."""
    return serve(msgspec.json.decode(text, type=Script))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
