# SPDX-License-Identifier: GPL-2.0
"""In the guest: what a cache takes to serve again after a power cut.

All of its blocks are written and flushed. Its disks then get back what they held at that time
after the cache has been taken away, so that it finds no sign of an orderly end.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterator

from bench import raw
from bench.caches import BLOCK, CHUNK, DATA_MIB, MIB, BrokenCacheError, Cache
from bench.drivers import CALM_S, idle_ns

BLOCKS = DATA_MIB * MIB // BLOCK
READ_AT = BLOCKS // 2 * BLOCK


def restart(kind: str, cache: Cache) -> raw.Restart:
    """Cut its power and set it up again; BrokenCacheError if it has lost a block."""
    write_blocks(cache.node)
    # Metadata that is written once a second is written.
    time.sleep(2 * CALM_S)
    contents = {keeper: list(chunks(keeper)) for keeper in cache.keepers}
    cache.stop()
    for keeper, content in contents.items():
        write_chunks(keeper, content)
    time.sleep(CALM_S)
    start_ns, start_idle_ns = time.monotonic_ns(), idle_ns()
    node = cache.start()
    block = read_block(node, READ_AT)
    end_idle_ns, end_ns = idle_ns(), time.monotonic_ns()
    if block != block_at(READ_AT) or not holds_its_blocks(node):
        raise BrokenCacheError(f"{kind} has lost what was written and flushed")
    elapsed_ns = end_ns - start_ns
    return raw.Restart(kind, BLOCKS, elapsed_ns - (end_idle_ns - start_idle_ns), elapsed_ns)


def block_at(offset: int) -> bytes:
    """What was written at an offset: its own address, again and again."""
    return (offset | 1 << 63).to_bytes(8, "little") * (BLOCK // 8)


def write_blocks(node: str) -> None:
    """Every block its own content, and a flush."""
    write_chunks(
        node,
        (
            b"".join(block_at(at) for at in range(chunk, chunk + CHUNK, BLOCK))
            for chunk in range(0, BLOCKS * BLOCK, CHUNK)
        ),
    )


def holds_its_blocks(node: str) -> bool:
    """Nothing of write_blocks() is gone."""
    content = b"".join(chunks(node))
    whole = b"".join(block_at(at) for at in range(0, BLOCKS * BLOCK, BLOCK))
    return content[: len(whole)] == whole


def chunks(node: str) -> Iterator[bytes]:
    """All that a disk holds."""
    fd = os.open(node, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, CHUNK) as buffer:
            offset = 0
            while length := os.preadv(fd, [buffer], offset):
                yield buffer[:length]
                offset += length
    finally:
        os.close(fd)


def write_chunks(node: str, content: Iterator[bytes] | list[bytes]) -> None:
    """Write from the start of a disk on, and flush."""
    fd = os.open(node, os.O_WRONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, CHUNK) as buffer:
            offset = 0
            for chunk in content:
                buffer[: len(chunk)] = chunk
                offset += os.pwritev(fd, [memoryview(buffer)[: len(chunk)]], offset)
        os.fsync(fd)
    finally:
        os.close(fd)


def read_block(node: str, offset: int) -> bytes:
    """A block, past the page cache."""
    fd = os.open(node, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, BLOCK) as buffer:
            os.preadv(fd, [buffer], offset)
            return buffer[:]
    finally:
        os.close(fd)
