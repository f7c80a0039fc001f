# SPDX-License-Identifier: GPL-2.0
"""Augment caches as people read them."""

from __future__ import annotations

import msgspec
from lib.ctl.augment import CHECK, STATUS
from lib.ctl.shown import contents, row_of

from spekctl.documents.augment import Cache, Mode
from spekctl.render import augment


def with_cache(**fields: object) -> str:
    cache: Cache = msgspec.structs.replace(STATUS.caches[0], **fields)
    return contents(msgspec.structs.replace(STATUS, caches=[cache]))


def test_a_state_has_figures_and_devices() -> None:
    lines = contents(STATUS).splitlines()
    assert lines[:6] == [
        "nas: normal, /dev/mapper/nas in front of /dev/md0",
        "  set 6b1f0c52-84b1-4f6b-9d57-0a3c5f6e7d80, generation 3",
        "  the RAID lacks 48 KiB, the oldest 1:05 old; log 7.8% of 1 MiB",
        "  hits 90.0% (90 of 100 blocks), copies 5, records 20, destaged 8",
        "  read ahead 4 blocks, of which 3 were used",
        "  wake-ups 2 (1 by writes, 1 by reads); flushes 3, errors 0",
    ]
    text = contents(STATUS)
    assert row_of(text, "ssd") == ["ssd", "/dev/sdz", "in", "use"]
    assert row_of(text, "member:0") == ["member:0", "/dev/sda2", "in", "use,", "awake,", "mirror"]
    assert row_of(text, "member:1") == ["member:1", "/dev/sdb2", "in", "use,", "asleep"]
    assert row_of(text, "member:2") == ["member:2", "-", "missing"]
    assert row_of(text, "member:3") == ["member:3", "/dev/sdd2", "lost"]


def test_nothing_dirty_and_nothing_read_is_told() -> None:
    text = with_cache(dirty_blocks=0, hits=0, misses=0)
    assert "the RAID lacks nothing; log 7.8%" in text
    assert "hits - (0 of 0 blocks)" in text


def test_lost_blocks_are_told() -> None:
    assert "LOST" not in contents(STATUS)
    text = with_cache(mode=Mode.FAILED, lost_blocks=1200, lost=[(7, 8), (5000, 6199)])
    assert "nas: failed" in text
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("LOST: 1,200 blocks have no readable copy left")
    assert lines[at + 1 : at + 3] == ["blocks 7 to 7", "blocks 5,000 to 6,198"]
    many = with_cache(
        mode=Mode.FAILED, lost_blocks=12, lost=[(2 * i, 2 * i + 1) for i in range(12)]
    )
    assert "and 2 more ranges" in many


def test_no_cache_is_told_and_several_are_apart() -> None:
    assert contents(msgspec.structs.replace(STATUS, caches=[])) == "no augment cache is attached\n"
    both = contents(msgspec.structs.replace(STATUS, caches=[*STATUS.caches, *STATUS.caches]))
    assert both.count("\n\nnas: normal") == 1


def test_a_check_has_devices_and_the_log() -> None:
    text = contents(CHECK)
    lines = text.splitlines()
    assert lines[0] == (
        "set 6b1f0c52-84b1-4f6b-9d57-0a3c5f6e7d80, generation 3: SSD and 2 members, log of 1 MiB"
    )
    assert row_of(text, "ssd") == ["ssd", "/dev/sdz", "3", "17", "2", "of", "2"]
    assert row_of(text, "member:0")[:7] == ["member:0", "/dev/sda2", "2", "5", "1", "of", "2"]
    assert "stale: its log does not count" in text
    assert lines[4:] == [
        "member:1 is missing",
        "log from block 7, record 40: 1,000 records, with 6 blocks (24 KiB) that the RAID lacks",
        "  blocks 100 to 105",
        "2 records are intact on one device only",
        "3 records are intact on no device, but on all of them together",
        "it ends at record 1040, at block 30, which is torn, damaged or unreadable: the header on"
        " the SSD is damaged; record 1041 is there instead on member 0",
    ]


def test_a_check_names_the_raid() -> None:
    text = contents(msgspec.structs.replace(CHECK, raid="wwn=naa.5000c500a1b2c3d4"))
    assert text.splitlines()[1] == "for the RAID wwn=naa.5000c500a1b2c3d4"


def test_a_clean_end_and_many_ranges_are_told() -> None:
    ranges = [(2 * block, 2 * block + 1) for block in range(augment.MOST_RANGES + 2)]
    assert CHECK.log is not None
    log = msgspec.structs.replace(CHECK.log, broken=None, single=0, scattered=0, ranges=ranges)
    lines = contents(msgspec.structs.replace(CHECK, log=log)).splitlines()
    assert lines[-2:] == ["  and 2 more ranges", "it ends cleanly"]


def test_a_log_that_is_not_known_is_told() -> None:
    text = contents(msgspec.structs.replace(CHECK, log=None))
    assert text.endswith("are missing, so that what the log holds is not known\n")
