# SPDX-License-Identifier: GPL-2.0
"""The rest of several hosts as that of a fleet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from lib.fakes.fleet import FACTS

from spekctl.campaigns.idle import Idle
from spekctl.documents import power as powers
from spekctl.documents.device import TargetFacts
from spekctl.documents.power import PowerFigures
from spekctl.documents.result_parts import RailPower
from spekctl.errors import SpekError
from spekctl.fleet import plan, rests, wire
from spekctl.fleet.outcome import Part

SECOND = 10**9


def power_of(*watts: float) -> PowerFigures:
    """Rails of these means over 2 s."""
    rails = [
        RailPower(f"r{at}", 2 * mean, mean, None, None, 2.0, 0.0, 9, energy_fj=int(2 * mean * 1e15))
        for at, mean in enumerate(watts)
    ]
    return PowerFigures(rails, powers.total_of(rails), 0.0)


def idle_of(serial: str, power: PowerFigures | None, **changes: Any) -> Idle:
    device = {**msgspec.structs.asdict(FACTS), "serial": serial}
    values: dict[str, Any] = {
        "length_ns": 2 * SECOND,
        "start_ns": 7,
        "end_ns": 7 + 2 * SECOND,
        "targets": [TargetFacts(**device, disk_before=None)],
        "power": power,
        "foreign_ios": 1,
        "foreign_discard_bytes": 512,
    }
    return Idle(**{**values, **changes})


def test_power_and_foreign_ios_are_sums_and_devices_are_in_the_order_of_names() -> None:
    whole = rests.together(
        {"b": idle_of("S2", power_of(1.0, 2.0)), "a": idle_of("S1", power_of(4.0))}, 50
    )
    assert (whole.length_ns, whole.start_ns, whole.end_ns) == (2 * SECOND, 50, 50 + 2 * SECOND)
    assert [target.serial for target in whole.targets] == ["S1", "S2"]
    assert (whole.foreign_ios, whole.foreign_discard_bytes) == (2, 1024)
    assert whole.power is not None and whole.power.net_w == 7.0 and whole.power.is_known
    assert [(rail.name, rail.mean_w) for rail in whole.power.rails] == [("a", 4.0), ("b", 3.0)]
    assert whole.power.remark == ""


def test_what_a_host_does_not_know_is_unknown_of_all() -> None:
    whole = rests.together(
        {
            "a": idle_of("S1", power_of(4.0), foreign_ios=None, foreign_discard_bytes=None),
            # Without a meter it does not wait.
            "b": idle_of("S2", None, end_ns=7),
        },
        50,
    )
    assert whole.foreign_ios is None and whole.foreign_discard_bytes is None
    assert whole.power is not None and whole.power.net_w is None and not whole.power.is_known
    assert whole.power.remark == "power is not known: no samples of b"
    nothing = rests.together({"a": idle_of("S1", None), "b": idle_of("S2", None)}, 50)
    assert nothing.power is None


def part_of(name: str, document: bytes, role: str = "client") -> Part:
    text = '[fleet]\nlisten = "tls://10.0.0.1:1"\nworkload = "random-read-4k"\n'
    text += '[[host]]\nname = "a"\ndevices = ["/dev/fake0"]\n'
    text += '[[host]]\nname = "t"\nrole = "target"\n'
    hosts = {host.name: host for host in plan.parse(text).hosts}
    part = Part(hosts[name])
    part.collected = wire.Collected(0, "", None, msgspec.Raw(document))
    return part


def test_what_clients_have_sent_is_decoded_and_checked() -> None:
    sent = msgspec.json.encode(rests.Rested(idle_of("S1", power_of(4.0)), "why"))
    told = rests.rested_of([part_of("a", sent), part_of("t", b"{}")])
    assert list(told) == ["a"] and told["a"].missing == "why"
    assert told["a"].idle is not None and told["a"].idle.power == power_of(4.0)
    with pytest.raises(SpekError, match="a has sent a damaged result: "):
        rests.rested_of([part_of("a", b"[]")])
