# SPDX-License-Identifier: GPL-2.0
"""A document of power states: a disk that stood, started and stood again."""

from __future__ import annotations

from spekctl.documents.disk_states import Basis, DiskStates, PowerState, StateChange
from spekctl.documents.power_states import PowerStates
from spekctl.documents.result_parts import Clocks

SECOND = 10**9
START = 1000 * SECOND
CHANGES = [
    StateChange(START, 0, PowerState.STANDBY, Basis.COMMAND, "by timer"),
    StateChange(START + 60 * SECOND, 2 * SECOND, PowerState.ACTIVE, Basis.IO),
    StateChange(START + 75 * SECOND, 2 * SECOND, PowerState.STANDBY, Basis.COMMAND),
]
DISK = DiskStates(
    disk="/dev/sda",
    model="ST3500320AS",
    serial="9QM",
    wwn="naa.5000",
    protocol="ata",
    stops_on_suspend=False,
    looks=26,
    commands=23,
    changes=CHANGES,
    seconds={PowerState.STANDBY: 85.0, PowerState.ACTIVE: 15.0},
    spin_ups=1,
    hidden_starts=0,
)
STATES = PowerStates(
    hostname="nas",
    interval_ns=4 * SECOND,
    started=Clocks(START, START, START),
    ended=Clocks(START + 100 * SECOND, START, START),
    disks=[DISK],
)
