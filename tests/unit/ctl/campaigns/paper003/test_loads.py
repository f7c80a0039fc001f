# SPDX-License-Identifier: GPL-2.0
"""Loads of the study of paper 003: the synthetic one, stand-ins, and real traces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lib.ctl.traces import spc_file

from spekctl.campaigns.paper003 import loads
from spekctl.campaigns.paper003.loads import LOADS, STRIPE_SECTORS
from spekctl.drive import file


def test_the_synthetic_load_is_the_papers() -> None:
    requests = loads.synthetic(4.0, 10**7, 50_000, 3)
    gaps = np.diff(requests["arrival_ns"].astype(np.int64)) / 1e6
    assert gaps.mean() == pytest.approx(4, rel=0.02)
    assert gaps.std() == pytest.approx(4, rel=0.03)
    assert requests["write"].mean() == pytest.approx(0.4, abs=0.01)
    # Rounded up to 8: the mean of a geometric distribution.
    assert requests["sectors"].mean() == pytest.approx(8 / (1 - np.exp(-1)), rel=0.02)
    ends = requests["lba"] + requests["sectors"]
    assert (requests["lba"][1:] == ends[:-1]).mean() == pytest.approx(0.2, abs=0.01)
    assert ends.max() <= 10**7


@pytest.mark.parametrize("drives", [1, 3, 16])
def test_striping_loses_and_invents_nothing(drives: int) -> None:
    requests = loads.synthetic(1.0, 10**6, 3000, 5)
    streams = loads.striped(requests, drives)
    total = np.zeros(len(requests), np.int64)
    for number, (parts, of) in enumerate(streams):
        np.add.at(total, of, parts["sectors"])
        assert (np.diff(parts["arrival_ns"].astype(np.int64)) >= 0).all()
        assert (parts["arrival_ns"] == requests["arrival_ns"][of]).all()
        # Where the first sector of a part is in the array.
        unit = parts["lba"] // STRIPE_SECTORS * drives + number
        place = unit * STRIPE_SECTORS + parts["lba"] % STRIPE_SECTORS
        begins = requests["lba"][of]
        assert ((begins <= place) & (place < begins + requests["sectors"][of])).all()
    assert (total == requests["sectors"]).all()


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_stand_ins_have_what_is_known(load: loads.Load) -> None:
    sectors = file.load(load.member).capacity
    requests, disk = loads.of_trace(load, sectors, 20_000, 2)
    assert disk.max() == load.disks - 1
    assert requests["write"].mean() == pytest.approx(1 - load.read_share, abs=0.02)
    assert (requests["lba"] + requests["sectors"]).max() <= sectors
    assert str(load.disks) in load.known


FINANCIAL = LOADS[0]


def test_a_real_trace_takes_the_place_of_its_stand_in(tmp_path: Path) -> None:
    sectors = 1_000_000
    rows = [
        (0, 16, 4096, "R", 10.0),
        (1, 999_999, 1024, "w", 10.001),
        (25, 2_000_003, 512, "R", 10.0025),
        (2, 5, 0, "r", 10.003),
        (2, 7, 100, "W", 10.004),
    ]
    load, requests, disk = loads.from_files(FINANCIAL, sectors, 100, [spc_file(tmp_path, rows)])
    assert load.name == "Financial trace"
    assert list(requests["arrival_ns"]) == [0, 1_000_000, 2_500_000, 4_000_000]
    assert list(requests["sectors"]) == [8, 2, 1, 1]
    assert list(requests["write"]) == [0, 1, 0, 1]
    # Two reach beyond their disk.
    assert list(requests["lba"]) == [16, 999_999 % 999_999, 2_000_003 % sectors, 7]
    # The fourth address space is that of the third row.
    assert list(disk) == [0, 1, 2, 3]
    assert load.known == f"the first 4 reads and writes of {tmp_path / 'financial.spc'}"
    assert "4 address spaces; 50.0% of the addresses are beyond a disk" in load.assumed
    _, truncated, _ = loads.from_files(FINANCIAL, sectors, 2, [tmp_path / "financial.spc"])
    assert len(truncated) == 2
