# SPDX-License-Identifier: GPL-2.0
"""The client of modelled drives: a model as attributes, and the life of a drive."""

from __future__ import annotations

import errno
import struct
from pathlib import Path

import pytest
from lib.fakes.drives import DEFAULTS, FakeDrives
from lib.fakes.link import read_back

from spekctl.drive import file
from spekctl.errors import SpekError
from spekctl.kernel import drives
from spekctl.kernel.drives import Drives, Making, values_of
from spekctl.kernel.gen import spek_drive as uapi
from spekctl.kernel.gen.spek_drive_records import (
    Condition,
    DriveState,
    Layout,
    Policy,
    SeekRecord,
    Store,
    ZoneRecord,
)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeDrives:
    link = FakeDrives(tmp_path)
    monkeypatch.setattr(drives, "Link", link)
    return link


FLASH = ("mtron-msd", "vertex2")


@pytest.mark.parametrize("name", FLASH)
def test_flash_fits_into_a_message(name: str) -> None:
    model = file.load(name)
    got = read_back(uapi, uapi.Cmd.DRIVE_NEW, values_of(model, Making(serial="S1", queue_depth=8)))
    assert model.flash is not None
    assert (got["flash_channels"], got["sectors"]) == (model.flash.channels, model.capacity)
    assert (got["page_sectors"], got["block_pages"]) == (
        model.flash.page_sectors,
        model.flash.block_pages,
    )
    assert (got["blocks"], got["low_blocks"]) == (model.flash.blocks, model.flash.low_blocks)
    assert (got["page_read_ns"], got["page_program_ns"]) == (
        model.flash.read_ns,
        model.flash.program_ns,
    )
    assert (got["block_erase_ns"], got["channel_sector_ps"]) == (
        model.flash.erase_ns,
        model.flash.sector_ps,
    )
    assert (got["erase_uw"], got["hit_ns"]) == (model.watts.erase, model.cache.hit_ns)
    assert (got["serial"], got["queue_depth"]) == ("S1", 8)
    assert not {"heads", "zones", "seek_points", "period_ps", "arms", "hold_uw"} & set(got)


@pytest.mark.parametrize("name", [name for name in file.names() if name not in FLASH])
def test_every_model_fits_into_a_message(name: str) -> None:
    model = file.load(name)
    got = DEFAULTS | read_back(uapi, uapi.Cmd.DRIVE_NEW, values_of(model, Making()))
    assert (got["heads"], got["sectors"]) == (model.heads, model.capacity)
    assert (got["layout"], got["policy"]) == (Layout(model.layout), Policy.SPTF)
    assert got["period_ps"] == model.period_ps
    zones = ZoneRecord.unpack(got["zones"])
    assert [row[:3] for row in zones] == [
        (zone.first_cylinder, zone.cylinders, zone.spt) for zone in model.zones
    ]
    assert [row[4:] for row in zones] == [
        (zone.track_skew, zone.cylinder_skew) for zone in model.zones
    ]
    assert tuple(SeekRecord.unpack(got["seek_points"])) == model.points()
    assert len(got["zones"]) <= uapi.MAX_ZONES_BYTES
    assert len(got["seek_points"]) <= uapi.MAX_SEEK_BYTES


def test_arms_watts_and_options() -> None:
    model = file.load("mach2")
    making = Making(Policy.CLOOK, 8, 16, 500_000_000, 2**63, "name", "S1", Store.NONE, 4096, 50_000)
    got = DEFAULTS | read_back(uapi, uapi.Cmd.DRIVE_NEW, values_of(model, making))
    assert (got["arms"], got["channels"], got["split"], got["band_cylinders"]) == (2, 2, 1, 128)
    assert struct.unpack("=2Q", got["arm_angles"]) == (0, 2**63)
    assert (got["policy"], got["window"], got["queue_depth"]) == (Policy.CLOOK, 8, 16)
    assert (got["max_wait_ns"], got["phase"], got["name"]) == (500_000_000, 2**63, "name")
    assert (got["serial"], got["store"], got["store_bytes"]) == ("S1", Store.NONE, 4096)
    assert got["spin_ns"] == 50_000
    power = {
        nest["condition"]: (nest.get("uw_v5", 0), nest.get("uw_v12", 0))
        for nest in got["condition_powers"]
    }
    assert power == dict(zip(Condition, model.watts.base, strict=True))
    assert (got["hold_uw"], got["seek_uw"]) == (1_000_000, 3_000_000)


def test_parts_that_work_together_and_a_cache() -> None:
    settings = ["surfaces=2", "stacks=2", "zero_latency=true", "head_angles=[0, 0.5]"]
    settings += ["arms.count=4", "arms.channels=2", "arms.moving=4", "cache.segments=16"]
    settings += ["cache.segment_kib=512", "cache.ahead_kib=256", "cache.write_kib=1024"]
    settings += ["cache.hit_ms=0.1", "cache.bus_mb_s=300"]
    got = read_back(
        uapi, uapi.Cmd.DRIVE_NEW, values_of(file.load("barracuda-es", settings), Making())
    )
    assert (got["surfaces"], got["stacks"], got["moving"], got["channels"]) == (2, 2, 4, 2)
    assert (got["zero_latency"], got["heads_per_surface"]) == (1, 2)
    assert struct.unpack("=2Q", got["head_angles"]) == (0, 2**63)
    assert (got["cache_segments"], got["segment_sectors"]) == (16, 1024)
    assert (got["ahead_sectors"], got["write_cache_sectors"]) == (512, 2048)
    assert (got["hit_ns"], got["sector_ps"]) == (100_000, 1_706_667)
    plain = values_of(file.load("barracuda-es"), Making())
    assert not {"surfaces", "stacks", "cache_segments", "band_cylinders", "layout"} & set(plain)


def test_life_of_a_drive(fake: FakeDrives) -> None:
    fake.polls = 3
    with Drives() as link:
        number = link.new(file.load("barracuda-es"), Making())
        assert link.drives()[0].state is DriveState.CREATING
        info = link.wait_ready(number, 5)
        assert (info.state, info.host, info.arms) == (DriveState.READY, 5, 1)
        stats = link.stats(number)
        assert sum(energy.nj for energy in stats.energies) == 93 * 10**9
        link.delete(number)
        assert link.wait_gone(number, 5)
    assert fake.closed == 1


def test_a_drive_that_cannot_be_made(fake: FakeDrives) -> None:
    fake.fails = "the host could not be added"
    with Drives() as link:
        number = link.new(file.load("barracuda-es"), Making())
        with pytest.raises(SpekError, match="no drive: the host could not be added") as refused:
            link.wait_ready(number, 5)
    assert refused.value.errno == errno.ENOMEM


def test_waiting_ends(fake: FakeDrives) -> None:
    fake.polls, fake.stays = 10**9, True
    with Drives() as link:
        number = link.new(file.load("barracuda-es"), Making())
        with pytest.raises(SpekError, match=r"drive 1 is not ready after 0.01 s"):
            link.wait_ready(number, 0.01)
        link.delete(number)
        assert not link.wait_gone(number, 0.01)
