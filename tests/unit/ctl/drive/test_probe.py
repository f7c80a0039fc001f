# SPDX-License-Identifier: GPL-2.0
"""Measuring a disk finds the parameters of the model behind it again."""

from __future__ import annotations

import pytest
from lib.ctl.characterised import Deviation
from lib.fakes.modelled_disk import ModelledDisk

from spekctl.drive import file
from spekctl.drive.model import Model
from spekctl.drive.probe import FoundCache, FoundDisk, Probe, UnknownDisk

CACHE = ("cache.segments=16", "cache.segment_kib=512", "cache.ahead_kib=256", "cache.hit_ms=0.1")


DRIVES = ("barracuda-es", "cheetah9lp", "dnes-309170w", "st32171w", "atlas-iii", "cheetah-x15-36lp")


def check(disk: FoundDisk, model: Model) -> None:
    off = Deviation.of(disk, model)
    assert off.period < 1e-6
    assert off.seek < 0.03
    assert not off.zones


@pytest.mark.parametrize("name", DRIVES)
def test_parameters_are_found_again(name: str) -> None:
    model = file.load(name)
    disk = Probe(ModelledDisk(model)).measure()
    check(disk, model)
    assert disk.head_switch_ns == pytest.approx(model.head_switch_ns, abs=2000)
    assert disk.overhead_ns == pytest.approx(20_000, abs=2000)
    first, zone = disk.zones[0], model.zones[0]
    assert first.track_skew == pytest.approx(zone.track_skew / 2**64 * zone.spt, abs=0.6)
    assert first.cylinder_skew == pytest.approx(zone.cylinder_skew / 2**64 * zone.spt, abs=0.6)


@pytest.mark.parametrize("name", ["barracuda-es", "cheetah9lp"])
def test_late_ends_change_little(name: str) -> None:
    model = file.load(name)
    check(Probe(ModelledDisk(model, late_ns=20_000), repeats=3).measure(30), model)


@pytest.mark.parametrize("rpm", [4200, 15_000])
def test_speed_is_found_within_a_thousandth(rpm: int) -> None:
    probe = Probe(ModelledDisk(file.load("barracuda-es").at_rpm(rpm), late_ns=100_000))
    assert 60e9 / probe.find_period() == pytest.approx(rpm, rel=1e-4)


def test_a_cache_is_found() -> None:
    cache = Probe(ModelledDisk(file.load("barracuda-es", CACHE))).cache()
    assert (cache.segments, cache.ahead_sectors) == (16, 512)
    # With the way of the request: 20 us.
    assert cache.hit_ns == pytest.approx(120_000, abs=5000)
    assert Probe(ModelledDisk(file.load("barracuda-es"))).cache() == FoundCache()


def test_behind_a_cache_nothing_is_measured() -> None:
    with pytest.raises(UnknownDisk, match="less than a turn: switch the read cache off"):
        Probe(ModelledDisk(file.load("barracuda-es", CACHE))).measure()


def test_bands_are_not_taken_for_zones() -> None:
    with pytest.raises(UnknownDisk, match="tracks are arranged in bands"):
        Probe(
            ModelledDisk(
                file.load("mach2", ["arms.split=false", "arms.count=1", "arms.channels=1"])
            )
        ).measure()
