# SPDX-License-Identifier: GPL-2.0
"""What drives with several arms cost by table 9(a) of paper 003."""

from __future__ import annotations

import pytest

from spekctl.campaigns.paper003 import costs

# As printed: lowest and highest for 1, 2 and 4 arms.
PRINTED = {
    "media": ((24, 28), (24, 28), (24, 28)),
    "spindle motor": ((5, 10), (5, 10), (5, 10)),
    "voice-coil motor": ((1, 2), (2, 4), (4, 8)),
    "head suspension": ((2, 3.6), (4, 7.2), (8, 14.4)),
    "head": ((24, 24), (48, 48), (96, 96)),
    "pivot bearing": ((3, 3), (6, 6), (12, 12)),
    "disk controller": ((4, 5), (4, 5), (4, 5)),
    "motor driver": ((3.5, 4), (5, 6), (8, 10)),
    "preamplifier": ((1.2, 1.2), (2.4, 2.4), (4.8, 4.8)),
}


@pytest.mark.parametrize("component", costs.COMPONENTS, ids=lambda component: component.name)
def test_each_component_costs_what_is_printed(component: costs.Component) -> None:
    cents = [component.of_drive(arms) for arms in costs.ARMS]
    assert tuple((low / 100, high / 100) for low, high in cents) == PRINTED[component.name]


def test_drives_and_arrays_are_sums() -> None:
    assert [costs.of_drive(arms) for arms in costs.ARMS] == [
        (67.7, 80.8),
        (100.4, 116.6),
        (165.8, 188.2),
    ]
    means = {array.name: array.mean for array in costs.arrays()}
    assert means == pytest.approx(
        {"4 x conventional": 297, "2 x 2-actuator": 217, "1 x 4-actuator": 177}
    )
