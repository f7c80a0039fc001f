# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of reading a trace."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a trace."""

    # Name of the format; empty: told by the contents.
    format: str = ""
    strict: bool = False
    # SPC: bytes of an LBA's block, which is stated outside the file.
    block_bytes: int = 512
    # blktrace, blkparse: which event is an I/O's arrival, queue (Q) or issue (D).
    event: str = "queue"
    # CSV: FIELD=COLUMN[:UNIT] each.
    columns: tuple[str, ...] = ()
