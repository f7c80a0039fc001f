# SPDX-License-Identifier: GPL-2.0-or-later
"""Recognizes the SSD and the spare areas of spek's augment cache (kmod/augment), which libblkid
does not know, by the magic of their superblocks.

A superblock whose checksum is wrong counts too: data of a device that is attached again may depend
on it.
"""

from __future__ import annotations

import os

from spekctl.block.blkid import Signature
from spekctl.errors import RefusedError

NAME = "spek augment cache"
# The first word of the UUID of its mapping, and what separates it from that of the set.
MAPPING = "SPEK_AUGMENT"

# Both as in kmod/augment/core/format.c and format.h.
SUPER_MAGIC = 0x5250555345524B53.to_bytes(8, "little")
BLOCK_BYTES = 4096
SUPERBLOCKS = 2
AT_UUID = 16


def signatures(fd: int, first: int = 0) -> list[Signature]:
    """The superblocks on the device open at @fd, or on its partition from byte @first on; fails
    closed."""
    try:
        head = os.pread(fd, SUPERBLOCKS * BLOCK_BYTES, first)
    except OSError as error:
        raise RefusedError(f"cannot probe the device for data: {error.strerror}") from error
    places = [
        place
        for place in range(0, len(head), BLOCK_BYTES)
        if head.startswith(SUPER_MAGIC, place) and len(head) >= place + AT_UUID + 16
    ]
    if not places:
        return []
    from uuid import UUID

    return [
        Signature(NAME, "cache", first + place, str(UUID(bytes=head[place + AT_UUID :][:16])))
        for place in places
    ]
