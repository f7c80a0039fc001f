# SPDX-License-Identifier: GPL-2.0-or-later
"""Verification as text: of a run, and of devices afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.documents.verification import VerifyCounts, VerifyResult, WrongBlock
from spekctl.documents.verify import VerifyReport

SHOWN = 10


def result_lines(result: VerifyResult) -> list[str]:
    """Lines on the verification of a run."""
    lines = [f"verified: {result.text}"]
    for name, counts in (("while loaded", result.load), ("read back", result.final)):
        if counts is not None:
            lines.append(f"  {name}: {_counted(counts)}")
    if result.waits:
        lines.append(f"  {result.waits:,} I/Os waited for another one on the same block")
    return lines + _wrong(result.first, result.mismatches)


def report_lines(report: VerifyReport) -> list[str]:
    """Lines on a check of devices."""
    devices = " ".join(target.path for target in report.targets)
    return [
        f"{devices}, written {report.written}: {report.text}",
        f"  {_counted(report.counts)}",
        *_wrong(report.first, report.counts.mismatches),
    ]


def _counted(counts: VerifyCounts) -> str:
    line = f"{counts.checked:,} blocks compared, {counts.never_written:,} never written"
    if counts.uncertain:
        line += f", {counts.uncertain:,} unknown after failed writes"
    if counts.discarded:
        line += f", {counts.discarded:,} unknown after discards"
    for kind, count in counts.by_kind.items():
        line += f", {count:,} {kind}"
    return line


def _wrong(first: Sequence[WrongBlock], total: int) -> list[str]:
    """The first wrong blocks."""
    lines = [
        f"  {block.device} byte {block.offset:,}: {block.kind} ({block.when}): {block.text}"
        for block in first[:SHOWN]
    ]
    if total > SHOWN and lines:
        lines.append(f"  and {total - len(lines):,} more")
    return lines
