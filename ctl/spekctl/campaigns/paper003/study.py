# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of the study, in the order of the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from spekctl.campaigns.paper003 import claims, costs, fits, loads
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
    # A real trace leaves nothing to assume.
    stand_ins = {load.name for load, paths in zip(LOADS, files, strict=True) if not paths}
    fitted = [
        _fit(load, large, requests, seed, tell) for load in fits.LOADS if load.name in stand_ins
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
        claims=claims.of(large, results, arrays, profiles, prices, fitted),
        rule=RULE,
        fits=fitted,
        costs=prices,
    )


def _one(requests: Any) -> list[tuple[Any, Any]]:
    return [(requests, np.arange(len(requests)))]


@dataclass(frozen=True, slots=True)
class _Case:
    """Requests of a load, and what serves them. @streams: of the disks of the original array."""

    load: Load
    member: Model
    large: Model
    streams: list[tuple[Any, Any]]
    together: Any  # on the large drive, which holds the data of one disk after the other
    count: int
    seed: int

    def array(self) -> StudySystem:
        """The original array."""
        member = _with_profiles(self.member, self.large)
        return run("MD", member, self.streams, self.count, Choice(seed=self.seed))

    def single(self, name: str, model: Model, choice: Choice | None = None) -> StudySystem:
        """One large drive."""
        choice = choice or Choice(seed=self.seed)
        return run(name, model, _one(self.together), self.count, choice)

    def arms(self) -> list[StudySystem]:
        """Of one to four of them."""
        return [self.single(_name(arms), self.large.with_arms(arms)) for arms in (1, 2, 3, 4)]

    def scaled(self) -> list[StudySystem]:
        """Shorter seeks, then shorter rotational waits."""
        choices = [
            *(("S", scale, Choice(scale, 1.0, self.seed)) for scale in SCALES),
            *(("R", scale, Choice(1.0, scale, self.seed)) for scale in SCALES),
        ]
        return [
            self.single(_scale(what, scale), self.large, choice) for what, scale, choice in choices
        ]

    def relaxed(self) -> list[StudySystem]:
        """Several arms that move, and that transfer as well."""
        return [
            self.single(name, model)
            for arms in RELAXED_ARMS
            for name, model in (
                (f"SA({arms}), all move", moving(self.large, arms)),
                (f"SA({arms}), all transfer", moving(self.large, arms, transfer=True)),
            )
        ]


def _case(load: Load, large: Model, count: int, seed: int, paths: Sequence[Path] = ()) -> _Case:
    member = file.load(load.member)
    if paths:
        load, requests, disk = loads.from_files(load, member.capacity, count, paths)
        count = len(requests)
    else:
        requests, disk = loads.of_trace(load, member.capacity, count, seed)
    index = np.arange(count)
    streams = [(requests[disk == number], index[disk == number]) for number in range(load.disks)]
    together = requests.copy()
    together["lba"] += (disk * member.capacity).astype(np.uint64)
    if load.cached:
        member, large = (with_cache(model, *CACHES[0]) for model in (member, large))
    return _Case(load, member, large, streams, together, count, seed)


def _load(
    load: Load, large: Model, count: int, seed: int, tell: Tell, paths: Sequence[Path]
) -> StudyLoad:
    case = _case(load, large, count, seed, paths)
    tell(case.load.name)
    return StudyLoad(
        name=case.load.name,
        known=case.load.known,
        assumed=case.load.assumed,
        array=case.array(),
        single=case.arms(),
        scaled=case.scaled(),
        slower=[
            case.single(f"SA({arms})/{rpm}", large.with_arms(arms).at_rpm(rpm))
            for arms in SLOWER_ARMS
            for rpm in RPMS
        ],
        cached=[
            case.single(f"HC-SD, {size} MB", with_cache(large, size, number))
            for size, number in CACHES
        ],
        relaxed=case.relaxed(),
        failed=[
            case.single(
                f"SA({arms}), arm lost",
                large.with_arms(arms),
                Choice(seed=seed, lost=arms - 1),
            )
            for arms in RELAXED_ARMS
        ],
    )


def _fit(load: Load, large: Model, count: int, seed: int, tell: Tell) -> StudyLoad:
    """What the claims on times and seeks need."""
    tell(f"{load.name}, fitted to the paper")
    case = _case(load, large, count, seed)
    return StudyLoad(
        name=load.name,
        known=load.known,
        assumed=load.assumed,
        array=case.array(),
        single=case.arms(),
        scaled=case.scaled(),
        slower=[],
        relaxed=case.relaxed(),
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
