# SPDX-License-Identifier: GPL-2.0
"""Verification in words: the first wrong blocks, and how many more there are."""

from __future__ import annotations

import msgspec
import pytest
from lib.ctl.plot_files import facts

from spekctl.documents.verification import VerifyCounts, VerifyResult, WrongBlock
from spekctl.documents.verify import VerifyReport
from spekctl.kernel.records import Mismatch
from spekctl.render.verify import SHOWN, report_lines, result_lines

COUNTS = VerifyCounts(12_345, 6_789, 0, 0, {})


def wrong(number: int) -> WrongBlock:
    return WrongBlock(
        kind=Mismatch.STALE,
        when="final",
        device="/dev/x",
        offset=number * 4096,
        bytes=512,
        expected_generation=2,
        text="an older version",
    )


def report(count: int, mismatches: int) -> VerifyReport:
    return VerifyReport(
        written="2027-01-01T00:00:00Z",
        ok=not mismatches,
        text="all data correct" if not mismatches else f"{mismatches} wrong blocks",
        stamp_id=1,
        grain_bytes=4096,
        targets=[facts()],
        counts=msgspec.structs.replace(COUNTS, mismatches=mismatches),
        complete=True,
        first=[wrong(number) for number in range(count)],
    )


def test_counts_are_grouped_and_failed_writes_are_told_if_there_are_any() -> None:
    (head, counts) = report_lines(report(0, 0))
    assert head == "/dev/x, written 2027-01-01T00:00:00Z: all data correct"
    assert counts.startswith("  12,345 blocks compared, 6,789 never written")
    assert "unknown after failed writes" not in counts
    uncertain = msgspec.structs.replace(COUNTS, uncertain=1000)
    lines = report_lines(msgspec.structs.replace(report(0, 0), counts=uncertain))
    assert lines[1].endswith("1,000 unknown after failed writes")
    discarded = msgspec.structs.replace(COUNTS, discarded=2000)
    lines = report_lines(msgspec.structs.replace(report(0, 0), counts=discarded))
    assert lines[1].endswith("2,000 unknown after discards")


@pytest.mark.parametrize(
    ("count", "total", "more"), [(3, 3, ""), (10, 10, ""), (16, 5000, "4,990")]
)
def test_some_wrong_blocks_stand_for_all(count: int, total: int, more: str) -> None:
    lines = report_lines(report(count, total))[2:]
    blocks = [line for line in lines if "byte" in line]
    assert len(blocks) == min(count, SHOWN)
    assert blocks[1] == "  /dev/x byte 4,096: stale (final): an older version"
    assert lines[len(blocks) :] == ([f"  and {more} more"] if more else [])


def test_a_run_tells_load_and_read_back_apart() -> None:
    result = VerifyResult(
        mismatches=0,
        complete=True,
        text="all data correct; read-back complete",
        stamp_id=1,
        grain_bytes=4096,
        map_bytes=0,
        load=COUNTS,
        waits=1200,
    )
    lines = result_lines(result)
    assert lines[0] == "verified: all data correct; read-back complete"
    assert lines[1].startswith("  while loaded: 12,345") and "1,200 I/Os waited" in lines[2]
    both = result_lines(msgspec.structs.replace(result, final=COUNTS, waits=0))
    assert both[2].startswith("  read back: 12,345") and len(both) == 3
