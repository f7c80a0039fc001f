# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of the study, in the order of the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spekctl.campaigns.paper003 import claims, costs, loads
from spekctl.campaigns.paper003.judgement import RULE
from spekctl.campaigns.paper003.loads import LOADS, TRACES, Load
from spekctl.campaigns.paper003.system import EDGES_MS, ROTATION_EDGES_MS, Choice, run
from spekctl.documents.drive import DriveStudy, StudyArrays, StudyLoad, StudySystem
from spekctl.drive import file
from spekctl.drive.model import Cache, Model

LARGE = "barracuda-es"
RPMS = (6200, 5200, 4200)
SLOWER_ARMS = (2, 4)
SCALES = (0.5, 0.25, 0.0)
INTERARRIVALS_MS = (8.0, 4.0, 1.0)
DRIVES = (1, 2, 4, 8, 16)
ARMS = (1, 2, 4)
# MB, segments: as many as the model allows in the larger one.
CACHES = ((8, 16), (64, 64))
AHEAD_SECTORS = 512  # 256 KiB
RELAXED_ARMS = (2, 4)
FOOTPRINTS = (0.1, 1.0)

Tell = Callable[[str], None]


Files = Mapping[str, Sequence[Path]]


def study(requests: int, seed: int, tell: Tell, traces: Files | None = None) -> DriveStudy:
    """Run the whole study; @tell is called with the name of each simulation.

    @traces: files of the traces in TRACES that the user has.
    """
    large = file.load(LARGE)
    files = [(traces or {}).get(name, ()) for name in TRACES]
    results = [
        _load(load, large, requests, seed, tell, paths)
        for load, paths in zip(LOADS, files, strict=True)
    ]
    arrays = [
        _arrays(large, interarrival, footprint, requests, seed, tell)
        for footprint in FOOTPRINTS
        for interarrival in INTERARRIVALS_MS
    ]
    profiles = list(large.profiles)
    prices = costs.arrays()
    return DriveStudy(
        model=large.name,
        requests=requests,
        seed=seed,
        profiles=profiles,
        edges_ms=list(EDGES_MS),
        rotation_edges_ms=list(ROTATION_EDGES_MS),
        loads=results,
        arrays=arrays,
        claims=claims.of(large, results, arrays, profiles, prices),
        rule=RULE,
        costs=prices,
    )


def _one(requests: Any) -> list[tuple[Any, Any]]:
    return [(requests, np.arange(len(requests)))]


def _load(
    load: Load, large: Model, count: int, seed: int, tell: Tell, paths: Sequence[Path]
) -> StudyLoad:
    member = file.load(load.member)
    if paths:
        load, requests, disk = loads.from_files(load, member.capacity, count, paths)
        count = len(requests)
    else:
        requests, disk = loads.of_trace(load, member.capacity, count, seed)
    tell(load.name)
    index = np.arange(count)
    streams = [(requests[disk == number], index[disk == number]) for number in range(load.disks)]
    array = run("MD", _with_profiles(member, large), streams, count, Choice(seed=seed))
    # The large drive holds the data of one disk after the other.
    together = requests.copy()
    together["lba"] += (disk * member.capacity).astype(np.uint64)

    def single(name: str, model: Model, choice: Choice | None = None) -> StudySystem:
        return run(name, model, _one(together), count, choice or Choice(seed=seed))

    return StudyLoad(
        name=load.name,
        known=load.known,
        assumed=load.assumed,
        array=array,
        single=[single(_name(arms), large.with_arms(arms)) for arms in (1, 2, 3, 4)],
        scaled=[
            *(single(_scale("S", scale), large, Choice(scale, 1.0, seed)) for scale in SCALES),
            *(single(_scale("R", scale), large, Choice(1.0, scale, seed)) for scale in SCALES),
        ],
        slower=[
            single(f"SA({arms})/{rpm}", large.with_arms(arms).at_rpm(rpm))
            for arms in SLOWER_ARMS
            for rpm in RPMS
        ],
        cached=[
            single(f"HC-SD, {size} MB", with_cache(large, size, number)) for size, number in CACHES
        ],
        relaxed=[
            single(name, model)
            for arms in RELAXED_ARMS
            for name, model in (
                (f"SA({arms}), all move", moving(large, arms)),
                (f"SA({arms}), all transfer", moving(large, arms, transfer=True)),
            )
        ],
        failed=[
            single(
                f"SA({arms}), arm lost",
                large.with_arms(arms),
                Choice(seed=seed, lost=arms - 1),
            )
            for arms in RELAXED_ARMS
        ],
    )


def with_cache(model: Model, megabytes: int, segments: int) -> Model:
    """The drive with a read cache; it writes through.

    The paper states only its size: segments, read-ahead and the time of a hit are assumed.
    """
    segment = megabytes * 2048 // segments
    ahead = min(segment, AHEAD_SECTORS)
    cache = Cache(segments, segment, ahead, 0, hit_ns=100_000, sector_ps=1_706_667)
    return replace(model, cache=cache)


def moving(model: Model, arms: int, transfer: bool = False) -> Model:
    """The drive with arms that all move at the same time; with @transfer they transfer, too."""
    return replace(
        model.with_arms(arms), moving=arms, channels=arms if transfer else model.channels
    )


def _with_profiles(member: Model, large: Model) -> Model:
    """A member has one profile; under the names of the others it draws the same."""
    own = next(iter(member.profiles.values()))
    return replace(member, profiles={name: own for name in large.profiles})


def _name(arms: int) -> str:
    return "HC-SD" if arms == 1 else f"SA({arms})"


def _scale(what: str, scale: float) -> str:
    return f"{what}=0" if scale == 0 else f"(1/{round(1 / scale)}){what}"


def _arrays(
    large: Model, interarrival_ms: float, footprint: float, count: int, seed: int, tell: Tell
) -> StudyArrays:
    tell(f"arrays, {interarrival_ms:g} ms, {footprint:.0%} of each drive")
    systems: list[StudySystem] = []
    for drives in DRIVES:
        span = int(large.capacity * footprint) * drives
        requests = loads.synthetic(interarrival_ms, span, count, seed)
        streams = loads.striped(requests, drives)
        for arms in ARMS:
            systems.append(_array(drives, arms, large, streams, count, seed))
    return StudyArrays(interarrival_ms, footprint, systems)


def _array(
    drives: int,
    arms: int,
    large: Model,
    streams: Sequence[tuple[Any, Any]],
    count: int,
    seed: int,
) -> StudySystem:
    return run(
        f"{drives} x {_name(arms)}", large.with_arms(arms), streams, count, Choice(seed=seed)
    )
