# SPDX-License-Identifier: GPL-2.0
"""What is compared: the RAID alone, spek-augment, and models of the policies of stock caches.

Of dm-cache, dm-writecache and bcache only what their documentation says about what is cached and
when it is written back is modelled; all may put disks into standby as hd-idle does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bench.paper004.sim import NS, OURS, PLAIN, STOCK, Array, Config

from spekctl.drive import file
from spekctl.drive.model import Cache

REST_NS = 600 * NS
NEVER_BLOCKS = 1 << 40
SSD_BLOCKS = 62_500_000 // 8
LOG_BLOCKS = 2 << 20
SMALL_LOG_BLOCKS = 128 << 8
BLOCK_SECTORS = 8
# The disk's buffer by its data sheet is 32 MB, on by default; divided by assumption.
DISK_CACHE = Cache(
    segments=16,
    segment_sectors=2048,
    ahead_sectors=1024,
    write_sectors=32768,
    hit_ns=100_000,
    sector_ps=1_706_667,  # 300 MB/s
)


@dataclass(frozen=True, slots=True)
class System:
    """A policy. @rule: what it does, for people. @is_fine: its SSD maps blocks, not 128 KiB."""

    key: str
    name: str
    rule: str
    config: Config
    is_fine: bool = False


def _ours(**changes: int) -> Config:
    log = changes.get("log_blocks", LOG_BLOCKS)
    config = Config(
        system=OURS,
        rest_ns=REST_NS,
        ssd_blocks=SSD_BLOCKS,
        log_blocks=log,
        copy=1,
        sequential_blocks=256,
        high_blocks=log * 3 // 4,
        low_blocks=log // 2,
        quiet_ns=5 * NS,
    )
    return replace(config, **changes)


def _stock(**changes: int) -> Config:
    config = Config(system=STOCK, rest_ns=REST_NS, ssd_blocks=SSD_BLOCKS, log_blocks=LOG_BLOCKS)
    return replace(config, **changes)


PLAIN_RAID = System(
    "raid", "RAID", "four disks that never sleep", Config(system=PLAIN, log_blocks=LOG_BLOCKS)
)
HD_IDLE = System(
    "hd-idle",
    "RAID, hd-idle",
    "a disk without I/O for 10 minutes is put into standby",
    Config(system=PLAIN, rest_ns=REST_NS, log_blocks=LOG_BLOCKS),
)
AUGMENT = System(
    "augment",
    "spek-augment",
    "its core: reads copied at first touch as in the paper, writes to an 8 GiB log on the SSD and"
    " on one disk that is awake, defaults otherwise",
    _ours(),
)
AUGMENT_SMALL = System(
    "augment-128m",
    "spek-augment, log of 128 MiB",
    "so that write-back happens within the run",
    _ours(log_blocks=SMALL_LOG_BLOCKS),
)
AUGMENT_FINE = System(
    "augment-4k",
    "spek-augment, SSD in 4 KiB",
    "an SSD as fast that maps each 4 KiB: the model of the Mtron programs 128 KiB for every write,"
    " also where small ones continue each other, which the drive itself joins",
    _ours(),
    is_fine=True,
)
AUGMENT_SECOND = System(
    "augment-second",
    "spek-augment, second touch",
    "its defaults: reads copied at second touch",
    _ours(copy=2),
)
AUGMENT_PATIENT = System(
    "augment-patient",
    "spek-augment, --quiet 1d --age 1d",
    "as above, but written back at an age of a day, or when the log is 3/4 full, and not for the"
    " sole reason that all disks are awake: without the piggybacked writes of the paper's outlook",
    _ours(copy=2, quiet_ns=86_400 * NS, age_ns=86_400 * NS),
)
DM_CACHE = System(
    "dm-cache",
    "dm-cache (model)",
    "writeback, smq: units of 32 KiB, cached at the second touch; written back as soon as nothing"
    " was requested for 1 s; at most 16 migrations at a time",
    _stock(copy=2, unit_blocks=8, allocate=0, high_blocks=NEVER_BLOCKS, idle_ns=NS),
)
DM_WRITECACHE = System(
    "dm-writecache",
    "dm-writecache (model)",
    "takes all writes, caches no reads; write-back between half and 45 % of the SSD, not for 3 s"
    " after a read",
    _stock(high_blocks=SSD_BLOCKS // 2, low_blocks=SSD_BLOCKS * 45 // 100, pause_ns=3 * NS),
)
BCACHE = System(
    "bcache",
    "bcache (model)",
    "writeback: reads cached at first touch, sequences of 4 MiB pass by; write-back above 10 % of"
    " the SSD, after 30 s of age a block each second, all after 30 s without requests; oldest"
    " first where bcache goes by address; no bypass by congestion",
    _stock(
        copy=1,
        sequential_blocks=1024,
        high_blocks=SSD_BLOCKS // 10,
        low_blocks=SSD_BLOCKS // 10 - 1,
        trickle_blocks=1,
        delay_ns=30 * NS,
        idle_ns=30 * NS,
    ),
)  # fmt: skip
AHEAD_4 = System(
    "augment-ahead-4",
    "spek-augment, --prefetch 16KiB",
    "the paper's outlook: behind each miss that is copied, 4 blocks more are read and copied",
    _ours(prefetch_blocks=4),
)
AHEAD_16 = System(
    "augment-ahead-16",
    "spek-augment, --prefetch 64KiB",
    "as above, 16 blocks",
    _ours(prefetch_blocks=16),
)
OF_FIGURES = (
    PLAIN_RAID, HD_IDLE, AUGMENT, AUGMENT_FINE, AUGMENT_SMALL, DM_CACHE, DM_WRITECACHE, BCACHE,
)  # fmt: skip
OF_THE_WEEK = (
    PLAIN_RAID, HD_IDLE, AUGMENT_SECOND, AUGMENT_PATIENT, DM_CACHE, DM_WRITECACHE, BCACHE,
)  # fmt: skip
OF_PREFETCH = (AUGMENT, AHEAD_4, AHEAD_16)


def array(seed: int, is_fine: bool = False) -> Array:
    """The paper's devices. @is_fine: as System has it."""
    ssd = file.load("mtron-msd")
    if is_fine:
        assert ssd.flash is not None
        parts = ssd.flash.page_sectors // BLOCK_SECTORS
        flash = replace(
            ssd.flash,
            page_sectors=BLOCK_SECTORS,
            block_pages=ssd.flash.block_pages * parts,
            program_ns=ssd.flash.program_ns // parts,
        )
        ssd = replace(ssd, flash=flash)
    return Array(replace(file.load("st3500320as"), cache=DISK_CACHE), ssd, seed)
