# SPDX-License-Identifier: GPL-2.0
"""Power cuts under spek_augment.ko: no byte whose flush or FUA was acknowledged is lost, and file
systems are consistent.

A few cuts in `make test`; `make augment-guest-cuts CUTS=1000` makes as many as wanted, a tenth as
many below each file system, and says how far it has come in out/tests/guest-6.1/output-1.log.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import uuid
from collections.abc import Callable, Iterator

import pytest
from guest.augment_cuts import (
    BLOCK,
    NAME,
    Blocks,
    Campaign,
    History,
    NoCache,
    Setting,
    contents,
    read_all,
    volatile_disks,
    write,
)
from guest.augment_files import Files
from lib.guest.disks import mapped_disk, udev_at_rest
from lib.waiting import eventually

pytestmark = [pytest.mark.any_kernel, pytest.mark.usefixtures("augment_module")]

CUTS = int(os.environ.get("SPEK_AUGMENT_CUTS", "20"))
MANY_CUTS = 10  # below a file system: some of them under load
SEED = int(os.environ.get("SPEK_AUGMENT_SEED", "1"))
# RAID, SSD, spare areas
SMALL = (4, 4, 2, 2)
LARGE = (64, 16, 8, 8)


@pytest.fixture(scope="module", autouse=True)
def udev_rests() -> Iterator[None]:
    """Also between tests: what it would have to look at after a campaign are thousands of devices
    that are gone."""
    with udev_at_rest():
        yield


@pytest.fixture
def say(
    record_property: Callable[[str, object], None], capfd: pytest.CaptureFixture[str]
) -> Callable[[Campaign], None]:
    """How far it has come, in the guest's output, and at the end in the summary."""

    def counts(campaign: Campaign) -> None:
        with capfd.disabled():
            print(campaign, flush=True)
        if campaign.is_over:
            record_property("count", str(campaign))

    return counts


def blocks(setting: Setting) -> Blocks:
    return Blocks(setting, history=History((SMALL[0] << 20) // BLOCK))


def test_what_was_flushed_survives_cuts(say: Callable[[Campaign], None]) -> None:
    with volatile_disks(*SMALL) as power:
        campaign = blocks(Setting(power, random.Random(SEED)))
        campaign.run(CUTS, say)
        assert power.get("cuts") >= CUTS and power.get("dropped") > CUTS


def check_files(setting: Setting, kind: str, say: Callable[[Campaign], None]) -> None:
    """Cut the power below a file system, in most lives when the load has begun."""
    cuts = max(2, CUTS // 10)
    campaign = Files(setting, kind=kind)
    campaign.run(cuts, say)
    assert setting.power.get("cuts") >= cuts and campaign.checked
    assert campaign.ios or cuts < MANY_CUTS


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_file_systems_survive_cuts(kind: str, say: Callable[[Campaign], None]) -> None:
    with volatile_disks(*LARGE) as power:
        check_files(Setting(power, random.Random(SEED), log_blocks=1024), kind, say)


@pytest.mark.at_length
@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_file_systems_survive_cuts_without_the_cache(
    kind: str, say: Callable[[Campaign], None]
) -> None:
    """So that what a campaign finds is the cache's."""
    with volatile_disks(*LARGE) as power:
        check_files(NoCache(power, random.Random(SEED)), kind, say)


def test_disks_that_lie_are_noticed() -> None:
    """Flushes that do nothing: a check that lets that pass would prove nothing."""
    with volatile_disks(*SMALL) as power:
        campaign = blocks(Setting(power, random.Random(SEED)))
        power.set(lies=1)
        with pytest.raises(AssertionError, match=r"may hold|refused"):
            campaign.run(50, lambda _: None)


def test_a_record_that_is_read_wrongly_is_not_copied() -> None:
    """Recovery has compared it with its checksums, and reads it again for the second copy: its
    mirror is missing."""
    blocks, last = 32, 20  # of the record; the one that is read wrongly, in its second part
    with volatile_disks(*SMALL) as power:
        raid, ssd, *spares = (power.node(disk) for disk in range(4))

        @contextlib.contextmanager
        def attached(*devices: str, more: str = "") -> Iterator[str]:
            ssd, *spares = devices
            # Never: a guest beside others may have been up for longer than any time.
            features = f"quiet_ms {2**32 - 1} retry_ms 50 {more}".split()
            words = f"{raid} {ssd} {len(spares)} {' '.join(spares)} 256 {len(features)}"
            line = f"0 {SMALL[0] << 11} spek-augment {words} {' '.join(features)}"
            with mapped_disk(NAME, line) as node:
                yield node

        def status() -> list[str]:
            done = subprocess.run(
                ["dmsetup", "status", NAME], check=True, capture_output=True, text=True
            )
            return done.stdout.split()[3:]

        def mode() -> str:
            return status()[0]

        with attached(ssd, *spares, more=f"format {uuid.uuid4()}") as node:
            fd = os.open(node, os.O_RDWR | os.O_DIRECT)
            write(fd, 0, blocks, 1)
            os.fsync(fd)
            os.close(fd)
        # It is read for recovery, and then for the copy.
        sector = (2 + 1 + last) * BLOCK // 512
        power.set(garble_disk=1, garble_sector=sector, garble_after=2, garble_reads=2)
        with attached(ssd, "-", spares[1]):
            eventually(lambda: mode() == "failed", "the copy is not refused")
            assert status()[-1] == "1"
        assert power.get("garble_after") == 0
        # Once only, it is read again: of the superblocks, and of the log for recovery and the copy.
        for failing, reads in ((0, 1), (sector, 2)):
            power.set(garble_sector=failing, refuse_reads=reads)
            with attached(ssd, "-", spares[1]):
                eventually(lambda: mode() == "normal", "the record is not recovered")
                assert status()[5] == str(blocks)
            assert power.get("refuse_reads") == 0
        # The copy is whole, and all that is left.
        with attached("-", "-", spares[1]) as node:
            eventually(lambda: mode() == "passing", "the log is not drained")
            fd = os.open(node, os.O_RDONLY | os.O_DIRECT)
            data = read_all(fd, blocks)
            os.close(fd)
        assert data == b"".join(contents(block, 1) for block in range(blocks))
