# SPDX-License-Identifier: GPL-2.0
"""Why paper 000 has 100 ms at low loads: responses as its generator sees them.

fio of 2010, which the paper extended, looks for completions only when its queue is full: its
default is iodepth_batch_complete=1, by which do_io() asks for events if another I/O has no room.
Below the peak the queue fills in depth / rate, whatever the device does, and half of that is the
mean response. Depth and rate both grow with BSU, so it is the same at each load.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bench.papers.arrays import CHUNK, HDD, HDD_S, IOPS_PER_BSU, QUEUE, RESULTS, SSD, SSD_S
from bench.papers.modelled import requests_of

from spekctl.drive import file
from spekctl.drive.core import Rule, Simulation
from spekctl.workload import file as workload_file

LOADS = {HDD: (1, 2, 5), SSD: (10, 50, 100)}  # BSU with which a single drive keeps pace
LENGTH_S = {HDD: HDD_S, SSD: SSD_S}
DEPTHS = (2, 9)  # outstanding for each BSU: what the paper states, and a fit to its 80 ms


@dataclass(frozen=True, slots=True)
class Seen:
    """A drive under a load. @device_ms: mean response; @noticed_ms: as it is seen with each of
    DEPTHS."""

    drive: str
    bsu: int
    device_ms: float
    noticed_ms: tuple[float, ...]


def noticed_ms(at_ns: Sequence[int], took_ns: Sequence[int], depth: int) -> float:
    """Mean time from sending I/Os to noticing that they have completed, if completions are looked
    for only while @depth I/Os are outstanding. @at_ns: when each is due; @took_ns: in the drive.
    Those that are never noticed do not count.
    """
    outstanding: list[tuple[int, int]] = []  # completed at, sent at
    total = count = now = 0
    for due, took in zip(map(int, at_ns), map(int, took_ns), strict=True):
        now = max(now, due)
        outstanding.append((now + took, now))
        if len(outstanding) < depth:
            continue
        now = max(now, min(end for end, _ in outstanding))
        ended = [sent for end, sent in outstanding if end <= now]
        total += sum(now - sent for sent in ended)
        count += len(ended)
        outstanding = [pair for pair in outstanding if pair[0] > now]
    return total / count / 1e6


@functools.cache
def seen() -> list[Seen]:
    """A disk and an SSD at loads with which they keep pace; takes seconds."""
    return [_seen(drive, bsu) for drive, loads in LOADS.items() for bsu in loads]


def _seen(drive: str, bsu: int) -> Seen:
    model = file.load(drive)
    requests = requests_of(
        workload_file.load("spc1"), model, round(IOPS_PER_BSU * bsu * LENGTH_S[drive]), bsu=bsu,
        stripe=CHUNK,
    )  # fmt: skip
    simulation = Simulation(model, Rule("sptf", window=QUEUE))
    data = simulation.feed(requests.tobytes()) + simulation.drain()
    at_ns = requests["arrival_ns"].astype(np.int64)
    took_ns = _ends_of(data, len(requests)) - at_ns
    noticed = tuple(noticed_ms(at_ns, took_ns, depth * bsu) for depth in DEPTHS)
    return Seen(drive, bsu, float(took_ns.mean()) / 1e6, noticed)


def _ends_of(data: bytes | bytearray, count: int) -> Any:
    results = np.frombuffer(data, RESULTS)
    ends = np.zeros(count, np.int64)
    ends[results["number"]] = results["end_ns"]
    return ends
