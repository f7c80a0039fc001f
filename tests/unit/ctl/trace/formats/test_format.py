# SPDX-License-Identifier: GPL-2.0
"""What every format promises: columns of the same types, devices that have names, and the same
records each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lib.ctl.traces import SAMPLES, sample

from spekctl.trace.columns import NAMES, Batch, Devices, Op, concatenated
from spekctl.trace.faults import Faults
from spekctl.trace.formats.format import Format, Reading, ReadOptions
from spekctl.trace.registry import FORMATS, by_name
from spekctl.trace.source import Source

TYPES = ("int64", "uint32", "uint64", "uint64", "uint8", "uint8")


def once(path: Path, format: Format) -> tuple[Batch, Devices, Faults]:
    reading = Reading(Source(path), Devices(), Faults(), ReadOptions())
    batches = list(format.read(reading))
    for batch in batches:
        assert [getattr(batch, name).dtype for name in NAMES] == list(TYPES)
        assert len({len(getattr(batch, name)) for name in NAMES}) == 1
    return concatenated(batches), reading.devices, reading.faults


@pytest.mark.parametrize(("seed", "name"), SAMPLES.items())
def test_a_reader_keeps_to_the_interface(seed: str, name: str, tmp_path: Path) -> None:
    path = sample(tmp_path, seed)
    batch, devices, faults = once(path, by_name(name))
    assert len(batch)
    assert set(batch.device.tolist()) == set(range(len(devices.names)))
    assert set(batch.op.tolist()) <= set(Op)
    assert not np.any(batch.flags[batch.op != Op.WRITE])
    again, same_devices, same_faults = once(path, by_name(name))
    assert all(np.array_equal(getattr(batch, name), getattr(again, name)) for name in NAMES)
    assert (same_devices.names, same_faults) == (devices.names, faults)


def test_each_format_has_a_sample_but_the_logs_of_spek() -> None:
    assert {format_.name for format_ in FORMATS} - set(SAMPLES.values()) == {"spek-log"}
