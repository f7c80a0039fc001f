# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a model file from the measurements of a disk."""

from __future__ import annotations

import json
from collections.abc import Sequence

from spekctl.drive.probe import FoundCache, FoundDisk

WIDTH = 98


def model_text(disk: FoundDisk, cache: FoundCache, title: str, source: str) -> str:
    """The model file. Reads reveal neither write settle, nor angles of other arms, nor power."""
    rpm = 60e9 / disk.period_ns
    zones = []
    cylinder = 0
    for zone in disk.zones:
        zones.append(
            f"    [{cylinder}, {zone.cylinders}, {zone.spt}, {zone.track_skew},"
            f" {zone.cylinder_skew}],"
        )
        cylinder += zone.cylinders
    points = [f"[{distance}, {ns / 1e6:.6f}]" for distance, ns in disk.seek]
    lines = [
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        f"# Measured by {disk.reads} reads of single sectors. Not measured: write settle, power,",
        "# unused cylinders between zones. Disk and system need",
        f"# {disk.overhead_ns / 1e6:.3f} ms from the end of a read to the next one on its track.",
        f"title = {json.dumps(title)}",
        "sources = [",
        f"    {json.dumps(source)},",
        "]",
        f"heads = {disk.heads}",
        'layout = "cylinder"',
        f"period_ps = {round(disk.period_ns * 1000)}  # {rpm:.2f} rpm",
        f"sectors = {disk.sectors}",
        f"head_switch_ms = {disk.head_switch_ns / 1e6:.6f}",
        "# first cylinder, cylinders, sectors per track, track and cylinder skew in sectors",
        "zones = [",
        *zones,
        "]",
        "# cylinders, ms",
        "seek_points = [",
        *_filled(points),
        "]",
    ]
    if cache.hit_ns:
        lines += [
            "",
            "[cache]",
            f"segments = {cache.segments}",
            f"segment_kib = {max(1, cache.ahead_sectors // 2)}",
            f"ahead_kib = {cache.ahead_sectors // 2}",
            f"hit_ms = {cache.hit_ns / 1e6:.6f}",
        ]
    return "\n".join(lines) + "\n"


def _filled(items: Sequence[str]) -> list[str]:
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return [*lines, line]
