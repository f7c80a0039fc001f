# SPDX-License-Identifier: GPL-2.0
"""Places and lengths in zones of the device."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lib.ctl.resolved import DISK, HEAD, MIB, STREAM, run_config

from spekctl.errors import UsageError
from spekctl.workload import file, zoned
from spekctl.workload.layout import Target

SMR = replace(DISK, bytes=100 * MIB, zone_bytes=4 * MIB, open_zones_max=6)
IN_ZONES = HEAD + STREAM + 'start = "2z"\nrange = "3z"\nasu = "b"\n[[asu]]\nname = "a"\n'
IN_ZONES += 'size = "4z"\n[[asu]]\nname = "b"\nstart = "5z"\nsize = "8z"\n'


def test_places_in_zones_are_those_of_the_device() -> None:
    config = run_config(IN_ZONES, SMR)
    assert [(asu.extents[0].start, asu.bytes) for asu in config.asus] == [
        (0, 16 * MIB),
        (20 * MIB, 32 * MIB),
    ]
    (stream,) = config.streams
    assert (stream.range_start, stream.range_bytes) == (8 * MIB, 12 * MIB)


def test_what_is_not_in_zones_stays() -> None:
    workload = file.parse(HEAD + STREAM + 'start = "2MiB"\nrange = "50%"\n')
    assert not zoned.has_any(workload)
    assert zoned.in_bytes(workload, [DISK]) is workload
    mixed = file.parse(IN_ZONES)
    assert zoned.has_any(mixed)
    assert not zoned.has_any(zoned.in_bytes(mixed, [SMR]))


@pytest.mark.parametrize(
    ("table", "targets", "sentence"),
    [
        (
            '[[asu]]\nname = "a"\nsize = "2z"\n',
            (DISK,),
            "asu 'a': size = 2z needs zones, which /dev/x lacks",
        ),
        ('start = "1z"\n', (DISK,), "stream 's': start = 1z needs zones, which /dev/x lacks"),
        (
            'range = "2z"\n',
            (SMR, replace(SMR, path="/dev/y", minor=1)),
            "stream 's': range = 2z is of one device, and not striped over",
        ),
    ],
)
def test_devices_without_one_size_of_zones_are_refused(
    table: str, targets: tuple[Target, ...], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        zoned.in_bytes(file.parse(HEAD + STREAM + table), targets)
