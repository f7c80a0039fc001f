# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests of the study: the synthetic load of section 7.3, and stand-ins for the four traces.

The traces themselves are not published with the paper, or only under their own terms. A stand-in
has what is known of a trace, and assumptions for the rest; both are stated in the report. A user
who has the files of a trace gives them in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spekctl import recorded
from spekctl.drive.core import MOST_SECTORS, REQUEST
from spekctl.drive.model import SECTOR
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRIPE_SECTORS = 128  # 64 KiB
BLOCK = 8
REQUESTS = np.dtype([("arrival_ns", "<u8"), ("lba", "<u8"), ("sectors", "<u4"), ("write", "<u4")])
assert REQUESTS.itemsize == REQUEST.size


@dataclass(frozen=True, slots=True)
class Load:
    """A stand-in for a trace."""

    name: str
    member: str  # model of the disks of the original array
    disks: int
    interarrival_ms: float
    read_share: float
    sectors: tuple[int, ...]  # sizes, equally likely
    sequential: float  # share of requests that begin where the one before ended
    near: float  # share that begin within near_sectors of it
    known: str
    assumed: str
    near_sectors: int = 65536
    footprint: float = 1.0  # share of each disk that is used, from its start
    cached: bool = False  # all drives have a read cache


LOADS = (
    Load(
        "Financial-like", "paper003-10k", 24, 8.2, 0.23, (8,), 0.05, 0.65,
        "5,334,945 requests, 24 disks of 19.07 GB at 10,000 rpm (paper, table 2)",
        "122 requests/s, 23 % reads, 4 KiB, 5 % sequential, 65 % within 32 MiB of the one before",
    ),
    Load(
        "Websearch-like", "paper003-10k", 6, 5.0, 1.0, (16, 32, 48), 0.35, 0.25,
        "4,579,809 requests, reads only, 8 to 24 KiB, 6 disks of 19.07 GB at 10,000 rpm; 55 % of"
        " the seeks on one drive are not 0",
        "200 requests/s, 35 % sequential, 25 % within 32 MiB",
    ),
    Load(
        "TPC-C-like", "paper003-10k-37gb", 4, 5.5, 0.65, (8,), 0.10, 0.60,
        "6,155,547 requests, 4 disks of 37.17 GB at 10,000 rpm",
        "182 requests/s, 65 % reads, 4 KiB, 10 % sequential, 60 % within 32 MiB",
    ),
    Load(
        "TPC-H-like", "paper003-7200", 15, 8.76, 0.95, (32, 64, 128), 0.60, 0.25,
        "4,228,725 requests, mean inter-arrival time 8.76 ms, 15 disks of 35.96 GB at 7200 rpm",
        "95 % reads, 16 to 64 KiB, 60 % sequential, 25 % within 32 MiB",
    ),
)  # fmt: skip


# What users call the traces; in the order of LOADS.
TRACES = ("financial", "websearch", "tpc-c", "tpc-h")


def from_files(
    load: Load, disk_sectors: int, count: int, paths: Sequence[Path]
) -> tuple[Load, Any, NDArray[Any]]:
    """The first @count reads and writes of a real trace, and the disk of each.

    An address space of the trace is a disk; more of them than disks share these. Addresses beyond
    a disk are folded into it.
    """
    from spekctl.trace.columns import Op
    from spekctl.trace.trace import open_trace

    trace = open_trace(paths)
    requests = np.zeros(count, REQUESTS)
    disk = np.zeros(count, np.int64)
    taken = folded = 0
    for batch in trace.batches():
        media = batch.take(
            ((batch.op == Op.READ) | (batch.op == Op.WRITE)) & (batch.bytes > 0)
        ).take(slice(0, count - taken))
        here = slice(taken, taken + len(media))
        first = media.offset_bytes // SECTOR
        sectors = np.minimum(
            -(-media.end_bytes.astype(np.int64) // SECTOR) - first.astype(np.int64), MOST_SECTORS
        )
        room = (disk_sectors - sectors).astype(np.uint64)
        folded += int((first > room).sum())
        requests["arrival_ns"][here] = media.at_ns
        requests["lba"][here] = np.where(first > room, first % (room + np.uint64(1)), first)
        requests["sectors"][here] = sectors
        requests["write"][here] = media.op == Op.WRITE
        disk[here] = media.device % load.disks
        taken += len(media)
        if taken == count:
            break
    if taken < 2:
        raise UsageError(f"{trace.name} has {taken} reads and writes; at least 2 are needed")
    spaces = len(trace.devices.names)
    shared = (
        f", which share the disks: space n is on disk n modulo {load.disks}"
        if spaces > load.disks
        else ""
    )
    stated = replace(
        load,
        name=load.name.replace("-like", " trace"),
        known=recorded.text(f"the first {taken:,} reads and writes of {trace.name}"),
        assumed=f"{spaces} address spaces{shared}; {folded / taken:.1%} of the addresses are beyond"
        " a disk and folded into it",
    )
    return stated, requests[:taken], disk[:taken]


def of_trace(load: Load, disk_sectors: int, count: int, seed: int) -> tuple[Any, NDArray[Any]]:
    """Requests of a stand-in, and the disk of each."""
    generator = np.random.default_rng(seed)
    requests = np.zeros(count, REQUESTS)
    requests["arrival_ns"] = np.cumsum(generator.exponential(load.interarrival_ms * 1e6, count))
    requests["write"] = generator.random(count) >= load.read_share
    requests["sectors"] = generator.choice(load.sectors, count)
    kind = generator.random(count)
    disks = generator.integers(0, load.disks, count)
    used = int(disk_sectors * load.footprint)
    places = generator.integers(0, used // BLOCK, count) * BLOCK
    reach = load.near_sectors // BLOCK
    steps = generator.integers(-reach, reach, count) * BLOCK
    lba = np.zeros(count, np.int64)
    disk = np.zeros(count, np.int64)
    end, now = 0, 0
    last = used - max(load.sectors)
    for index in range(count):
        if kind[index] < load.sequential and index:
            place = end
        elif kind[index] < load.sequential + load.near and index:
            place = end + int(steps[index])
        else:
            now, place = int(disks[index]), int(places[index])
        place = min(max(place, 0), last)
        lba[index], disk[index] = place, now
        end = place + int(requests["sectors"][index])
    requests["lba"] = lba
    return requests, disk


def synthetic(interarrival_ms: float, span_sectors: int, count: int, seed: int) -> Any:
    """The load of section 7.3 over @span_sectors: Poisson, 60 % reads, 20 % sequential.

    Sizes are exponential with a mean of 8 sectors, rounded up to 8, as in DiskSim's examples:
    the paper does not state them.
    """
    generator = np.random.default_rng(seed)
    requests = np.zeros(count, REQUESTS)
    requests["arrival_ns"] = np.cumsum(generator.exponential(interarrival_ms * 1e6, count))
    requests["write"] = generator.random(count) >= 0.6
    sizes = np.ceil(generator.exponential(8, count) / BLOCK) * BLOCK
    requests["sectors"] = np.maximum(sizes, BLOCK)
    follows = generator.random(count) < 0.2
    lba = generator.integers(0, span_sectors // BLOCK, count) * BLOCK
    end = 0
    for index in range(count):
        if follows[index] and index:
            lba[index] = end
        if lba[index] + int(requests["sectors"][index]) > span_sectors:
            lba[index] = 0
        end = int(lba[index]) + int(requests["sectors"][index])
    requests["lba"] = lba
    return requests


def striped(requests: Any, drives: int) -> list[tuple[Any, NDArray[Any]]]:
    """RAID-0: for each drive its requests, and the number of the request that each is part of.

    Parts of a request on one drive are contiguous there and become one.
    """
    index = np.arange(len(requests))
    first = requests["lba"] // STRIPE_SECTORS
    last = (requests["lba"] + requests["sectors"] - 1) // STRIPE_SECTORS
    pieces = []
    for extra in range(int((last - first).max()) + 1):
        reaches = first + extra <= last
        unit = (first + extra)[reaches]
        start = np.maximum(requests["lba"][reaches], unit * STRIPE_SECTORS)
        ends = requests["lba"][reaches] + requests["sectors"][reaches]
        end = np.minimum(ends, (unit + 1) * STRIPE_SECTORS)
        part = np.zeros(int(reaches.sum()), REQUESTS)
        part["arrival_ns"] = requests["arrival_ns"][reaches]
        part["write"] = requests["write"][reaches]
        part["lba"] = unit // drives * STRIPE_SECTORS + start % STRIPE_SECTORS
        part["sectors"] = end - start
        pieces.append((unit % drives, index[reaches], part))
    drive = np.concatenate([piece[0] for piece in pieces])
    of = np.concatenate([piece[1] for piece in pieces])
    parts = np.concatenate([piece[2] for piece in pieces])
    order = np.lexsort((parts["lba"], of))
    drive, of, parts = drive[order], of[order], parts[order]
    joined = []
    for number in range(drives):
        mine = drive == number
        joined.append(_joined(parts[mine], of[mine]))
    return joined


def _joined(parts: Any, of: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    if len(parts) < 2:
        return parts, of
    ends = parts["lba"] + parts["sectors"]
    starts = np.ones(len(parts), bool)
    starts[1:] = (of[1:] != of[:-1]) | (parts["lba"][1:] != ends[:-1])
    group = np.cumsum(starts) - 1
    joined = parts[starts].copy()
    joined["sectors"] = np.bincount(group, weights=parts["sectors"]).astype(np.uint32)
    return joined, of[starts]
