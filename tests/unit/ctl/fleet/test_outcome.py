# SPDX-License-Identifier: GPL-2.0
"""What the check found out about hosts, in lines."""

from __future__ import annotations

from lib.fakes.fleet import FakeHost, device
from lib.fakes.fleet_coordinator import Rig

from spekctl import __version__
from spekctl.fleet.clock import Bound
from spekctl.fleet.examined import checked_lines


def test_each_host_has_a_line_and_each_of_its_devices() -> None:
    rig = Rig(hosts="ab")
    parts = rig.coordinator().parts
    host = FakeHost("a", devices=(device(), device("/dev/fake1", in_use="mounted on /srv")))
    parts["a"].described = host.described(clock=Bound(None, "no chrony"))
    assert list(checked_lines(parts.values())) == [
        f"a: spekctl {__version__}, spek 0.1, Linux 6.12; clock not known (no chrony)",
        "  /dev/fake0: /dev/fake0, 1 GiB, serial S1, WWN -; free",
        "  /dev/fake1: /dev/fake1, 1 GiB, serial S1, WWN -; in use: mounted on /srv",
        "b: it has not answered",
    ]
