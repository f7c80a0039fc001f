# SPDX-License-Identifier: GPL-2.0
"""All runs of paper 004's figures and of the week of a NAS, as one document.

A run that has been simulated is kept in the cache, by what it is made of: an interrupted study goes
on where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from bench.paper004 import loads, nas, sim, systems
from bench.paper004.sim import NS, Outcome
from bench.paper004.systems import System

from spekctl import files
from spekctl.vm.cache import cache_dir

PREFETCH_RATES = (100.0, None)
RATES: tuple[float | None, ...] = (100.0, 200.0, 500.0, None)
COURSE_NS = 3600 * NS
J_PER_WH = 3600.0
KEEP = 400
Tell = Callable[[str], None]
Files = Mapping[str, Sequence[Path]]
# System, key of the load, rate, requests, changes of the system's config.
Task = tuple[System, str, float | None, Any, dict[str, int]]


class Run(msgspec.Struct, forbid_unknown_fields=True):
    """A system under a load. @rate: requests per second; None: the original timing. Energies in Wh
    of rails; times in ms; residencies as shares of the time of all disks."""

    system: str
    load: str
    rate: float | None
    requests: int
    seconds: float
    disks_5v_wh: float
    disks_12v_wh: float
    ssd_wh: float
    mean_ms: float
    p50_ms: float
    p99_ms: float
    max_ms: float
    read_mean_ms: float
    write_mean_ms: float
    wait_mean_ms: float
    answered: int
    conditions: dict[str, float]
    phases: dict[str, float]
    starts: list[int]
    wakes: dict[str, int]
    hits: int
    misses: int
    copies: int
    prefetched: int
    prefetch_hits: int
    destaged: int
    waiting: int
    written: int
    lost: int
    course: list[tuple[float, float, int]]

    @property
    def wh(self) -> float:
        return self.disks_5v_wh + self.disks_12v_wh + self.ssd_wh

    @property
    def watts(self) -> float:
        return self.wh * J_PER_WH / self.seconds

    @property
    def asleep(self) -> float:
        return self.conditions["standby"]

    @property
    def hit_ratio(self) -> float:
        return self.hits / max(1, self.hits + self.misses)


class Text(msgspec.Struct, forbid_unknown_fields=True):
    """What a load or a system is."""

    key: str
    name: str
    text: str


class Footprint(msgspec.Struct, forbid_unknown_fields=True):
    """Figure 1. @fresh_gb: not touched on the day before."""

    load: str
    is_trace: bool
    array_gb: float
    days: list[tuple[int, float, float]]


class Study(msgspec.Struct, forbid_unknown_fields=True):
    """Everything."""

    count: int
    seed: int
    standby_w: float
    idle_w: float
    rest_w: float
    loads: list[Text]
    systems: list[Text]
    runs: list[Run]
    week: list[Run]
    prefetch: list[Run]
    week_requests: int
    footprint: Footprint
    claims: list[Any]


def run_of(
    system: System, load: str, rate: float | None, requests: Any, seed: int, **changes: int
) -> Run:
    """Simulate, or take it from the cache."""
    array = systems.array(seed, system.is_fine)
    config = replace(system.config, seed=seed, **changes)
    whole = hashlib.sha256(requests.tobytes())
    for word in (sim.digest(), config, array, system.key, load, rate):
        whole.update(repr(word).encode())

    path = cache_dir("paper004-runs") / f"{whole.hexdigest()[:24]}.json"
    if path.exists():
        path.touch()
        return msgspec.json.decode(path.read_bytes(), type=Run)
    run = _summary(system, load, rate, requests, sim.run(config, array, requests))
    files.write(path, msgspec.json.encode(run))
    return run


def _forget_old() -> None:
    """Keep the runs that were used last."""
    runs = cache_dir("paper004-runs").glob("*.json")
    paths = sorted(runs, key=lambda path: -path.stat().st_mtime)
    for path in paths[KEEP:]:
        path.unlink(missing_ok=True)


def _summary(system: System, load: str, rate: float | None, requests: Any, outcome: Outcome) -> Run:
    response = outcome.response_ns / 1e6
    op = requests["op"][: len(response)]
    time = outcome.seconds * len(outcome.disks)
    p50, p99 = np.percentile(response, (50, 99))
    course = [
        (float(line["nj"]) / NS / J_PER_WH, float(line["asleep_ns"]) / NS, int(line["starts"]))
        for line in outcome.course
    ]
    return Run(
        system=system.key,
        load=load,
        rate=rate,
        requests=len(requests),
        seconds=outcome.seconds,
        disks_5v_wh=sum(disk.joules[0] for disk in outcome.disks) / J_PER_WH,
        disks_12v_wh=sum(disk.joules[1] for disk in outcome.disks) / J_PER_WH,
        ssd_wh=outcome.ssd.energy_j / J_PER_WH if outcome.ssd else 0.0,
        mean_ms=float(response.mean()),
        p50_ms=float(p50),
        p99_ms=float(p99),
        max_ms=float(response.max()),
        read_mean_ms=_mean(response[op == sim.READ]),
        write_mean_ms=_mean(response[op == sim.WRITE]),
        wait_mean_ms=float(outcome.wait_ns.mean() / 1e6),
        answered=outcome.answered,
        conditions=_shares([disk.condition_s for disk in outcome.disks], time),
        phases=_shares([disk.phase_s for disk in outcome.disks], time),
        starts=[disk.starts for disk in outcome.disks],
        wakes=outcome.wakes,
        hits=outcome.hits,
        misses=outcome.misses,
        copies=outcome.copies,
        prefetched=outcome.prefetched,
        prefetch_hits=outcome.prefetch_hits,
        destaged=outcome.destaged,
        waiting=outcome.waiting,
        written=outcome.written,
        lost=outcome.lost,
        course=course,
    )


def _mean(values: Any) -> float:
    return float(values.mean()) if len(values) else 0.0


def _shares(disks: Sequence[Mapping[str, float]], time: float) -> dict[str, float]:
    return {name: sum(disk[name] for disk in disks) / time for name in disks[0]}


def study(count: int, seed: int, tell: Tell, traces: Files | None = None) -> Study:
    """Run what is not in the cache yet; @tell is called with the name of each run."""
    traces = traces or {}
    array = systems.array(seed)
    raid_blocks = min(array.raid_blocks(system.config) for system in systems.OF_FIGURES)
    stated: dict[str, loads.Load] = {}
    tasks: list[Task] = []
    prefetch: list[Task] = []
    footprint: Footprint | None = None
    for key, load in loads.LOADS.items():
        for rate in RATES:
            if traces.get(key):
                load, requests = loads.from_files(
                    loads.LOADS[key], traces[key], raid_blocks, count, rate, seed
                )
            else:
                requests = loads.stand_in(key, raid_blocks, count, rate, seed)
            tasks += [(system, key, rate, requests, {}) for system in systems.OF_FIGURES]
            if rate in PREFETCH_RATES:
                prefetch += [(each, key, rate, requests, {}) for each in systems.OF_PREFETCH]
            if key == "cello99" and rate is None:
                footprint = Footprint(
                    load.name,
                    bool(traces.get(key)),
                    raid_blocks * sim.BLOCK / loads.GB,
                    loads.footprint_of_days(requests),
                )
        stated[key] = load
    week = nas.week(raid_blocks, seed)
    changes = {"until_ns": nas.WEEK_NS, "bin_ns": COURSE_NS}
    tasks += [(system, "nas", None, week, changes) for system in systems.OF_THE_WEEK]
    prefetch += [(system, "nas", None, week, changes) for system in systems.OF_PREFETCH]

    def simulate(task: Task) -> Run:
        system, key, rate, requests, changed = task
        timing = f"{rate:g}/s" if rate else "original timing"
        tell(f"{key}, {timing}, {system.name}")
        return run_of(system, key, rate, requests, seed, **changed)

    sim.library()
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(simulate, tasks))
        # After these, as they share runs with them.
        ahead = list(pool.map(simulate, prefetch))
    _forget_old()
    watts = array.disk.watts
    assert footprint is not None
    shown = {
        each.key: each for each in (*systems.OF_FIGURES, *systems.OF_THE_WEEK, *systems.OF_PREFETCH)
    }
    result = Study(
        count=count,
        seed=seed,
        standby_w=sum(watts.base[1]) / 1e6,
        idle_w=watts.active_uw(1) / 1e6,
        rest_w=REST_W,
        loads=[
            Text(load.key, load.name, f"known: {load.known}; assumed: {load.assumed}")
            for load in stated.values()
        ],
        systems=[Text(each.key, each.name, each.rule) for each in shown.values()],
        runs=[run for run in runs if run.load != "nas"],
        week=[run for run in runs if run.load == "nas"],
        prefetch=ahead,
        week_requests=len(week),
        footprint=footprint,
        claims=[],
    )
    from bench.paper004 import claims

    result.claims = claims.of(result)
    return result


# What the paper's meter sees besides the disks. It is not published, and matters only where runs
# do not take equally long: there it is left out.
REST_W = 0.0


def find(runs: Sequence[Run], load: str, rate: float | None, system: str) -> Run:
    """A run by what it is of."""
    return next(run for run in runs if (run.load, run.rate, run.system) == (load, rate, system))


def authors_wh(study: Study, run: Run) -> float:
    """Wh as the authors computed them: all that the machine used in the run, less what it uses with
    its disks asleep in the time of the plain RAID's run."""
    plain = find(study.runs, run.load, run.rate, "raid")
    asleep = study.rest_w + len(run.starts) * study.standby_w
    return run.wh + (study.rest_w * run.seconds - asleep * plain.seconds) / J_PER_WH


def saving(study: Study, load: str, rate: float | None, system: str, exact: bool = False) -> float:
    """Share of the plain RAID's energy that a system saves."""
    plain, run = (find(study.runs, load, rate, key) for key in ("raid", system))
    if exact:
        return 1 - run.wh / plain.wh
    return 1 - authors_wh(study, run) / authors_wh(study, plain)
