# SPDX-License-Identifier: GPL-2.0
"""The line that tells the probe of a machine."""

from __future__ import annotations

from lib.fakes.prober import SECOND, FakeProber

from spekctl.kernel.records import ProbeState
from spekctl.run import probe_line


def test_it_tells_whose_it_is_and_what_it_does() -> None:
    fake = FakeProber()
    fake.start(SECOND // 2)
    assert probe_line.text(fake.info()) == (
        "probe 4 of process 77 (spekctl) samples: 1 rows, one every 500ms"
    )
    fake.start(SECOND, detached=True)
    fake.state = ProbeState.DONE
    assert probe_line.text(fake.info()) == (
        "probe 4 of `spekctl prober start --detach` has ended: 1 rows, one every 1s"
    )
