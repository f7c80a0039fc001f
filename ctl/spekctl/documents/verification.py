# SPDX-License-Identifier: GPL-2.0-or-later
"""Verification of written data, as documents have it: what was compared, and wrong blocks."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from spekctl.documents.document import Part
from spekctl.kernel.records import Mismatch


class WrongBlock(Part, frozen=True):
    """A block with unexpected content."""

    kind: Annotated[
        Mismatch,
        Meta(
            description="corrupt: flipped bits. misdirected: written for another place. stale: an"
            " older version, so a write was lost. torn: of two versions. unwritten: a version of"
            " this run that was never written here. unstamped: written, but without a stamp."
            " foreign: the stamp of another run."
        ),
    ]
    when: Annotated[
        Literal["load", "final"], Meta(description="final: during the read-back at the end.")
    ]
    device: str
    offset: Annotated[int, Meta(description="First byte of the block on the device.")]
    bytes: Annotated[int, Meta(description="Of the block.")]
    expected_generation: Annotated[
        int, Meta(description="Number of the write whose data it should hold, from 1; 0: none.")
    ]
    text: Annotated[str, Meta(description="What was found, as a sentence.")]
    found_device: Annotated[str, Meta(description="For which it was written; empty: unknown.")] = ""
    found_offset: int | None = None
    found_generation: int | None = None
    found_id: Annotated[
        int | None, Meta(description="Of the run that wrote it; null: there is no stamp.")
    ] = None
    first: Annotated[int, Meta(description="First byte of the block that is wrong.")] = 0
    bits: Annotated[int, Meta(description="Bits that are wrong.")] = 0
    expected_zeroes: Annotated[
        bool,
        Meta(
            description="It should hold zeroes; expected_generation is the last write before them."
        ),
    ] = False


class VerifyCounts(Part, frozen=True):
    """Blocks that were read and compared, in logical blocks."""

    checked: Annotated[
        int, Meta(description="Written before, or zeroed by write-zeroes, and compared.")
    ]
    never_written: Annotated[
        int, Meta(description="Not written before: only a stamp of this run is wrong there.")
    ]
    uncertain: Annotated[
        int, Meta(description="Their last write failed, so their content is unknown.")
    ]
    mismatches: Annotated[int, Meta(description="Wrong blocks.")]
    by_kind: Annotated[dict[str, int], Meta(description="All wrong blocks by kind.")]
    discarded: Annotated[
        int,
        Meta(
            description="Discarded, or in a zone that was reset, and not written since, so their"
            " content is unknown."
        ),
    ] = 0


class VerifyResult(Part, frozen=True):
    """Verification of what was written."""

    mismatches: Annotated[int, Meta(description="Wrong blocks, load and final pass together.")]
    complete: Annotated[bool, Meta(description="Everything was read back at the end.")]
    text: Annotated[str, Meta(description="All of this as a sentence.")]
    stamp_id: int
    grain_bytes: Annotated[int, Meta(description="Bytes of the device per state of 8 bytes.")]
    map_bytes: Annotated[int, Meta(description="Kernel memory for these states.")]
    load: VerifyCounts
    waits: Annotated[int, Meta(description="I/Os that waited for another one on their blocks.")]
    final: Annotated[VerifyCounts | None, Meta(description="null: not done.")] = None
    first: Annotated[
        list[WrongBlock], Meta(description="The first wrong blocks of the load and the pass.")
    ] = msgspec.field(default_factory=list)
    state_file: Annotated[str, Meta(description="File of the write states; empty: not kept.")] = ""
    state_trouble: Annotated[
        str, Meta(description="Why they are not in the file that was asked for; else empty.")
    ] = ""
