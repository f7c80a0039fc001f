# SPDX-License-Identifier: GPL-2.0-or-later
"""A result as fio 3 prints it with --output-format=json+, for programs that read that.

A run is one job with the sums of all streams, as with group_reporting, and the runs of a file of
several steps are as many jobs in groups of their own. Results of several hosts are the clients of
`fio --client`, with their sum, "All clients". lat is the response time,
which counts from the intended arrival, clat the service time, slat the slip. What spek does not
measure is 0: page faults, time in user mode, batch sizes (iodepth_submit, iodepth_complete).
iodepth_level has shares of the report intervals, by the I/Os outstanding at their ends.
"""

from __future__ import annotations

import errno
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spekctl import units
from spekctl.documents import histogram
from spekctl.documents.device import DiskCounters
from spekctl.documents.result import Cell, Result
from spekctl.exports import measured
from spekctl.exports.measured import TIMES, WAYS, Way
from spekctl.kernel.records import Histogram, Phase, is_covered

# In hundredths of a per cent.
_PERCENTILES = (
    *(100, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 9500),
    *(9900, 9950, 9990, 9995, 9999),
)
_NS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_MS = (*_NS, 2000)
_DEPTHS = (1, 2, 4, 8, 16, 32)
_BATCHES = ("0", "4", "8", "16", "32", "64", ">=64")
_ENGINE = {"ioengine": "spek", "direct": "1"}
_RANDOM = ("uniform", "walk", "hotband", "once", "table", "runs", "trace")


def encode(*results: Result) -> bytes:
    """The file of a run, or of several that were steps of one file, in their order."""
    ended = max(map(_ended_ns, results))
    return _encoded(
        {
            "fio version": _version(results),
            "timestamp": ended // 10**9,
            "timestamp_ms": ended // 10**6,
            "time": time.ctime(ended // 10**9),
            "global options": _ENGINE | _place(results[-1]),
            "jobs": [_job(one, group) for group, one in enumerate(results)],
            "disk_util": _disks(results),
        }
    )


def encode_clients(results: Sequence[Result]) -> bytes:
    """The file of runs of several hosts, in their order."""
    ended = max(map(_ended_ns, results))
    name = "All clients"
    whole = {"jobname": name, "groupid": 0, "error": max(map(_error, results))}
    return _encoded(
        {
            "fio version": _version(results),
            "timestamp": ended // 10**9,
            "time": time.ctime(ended // 10**9),
            "global options": _ENGINE | _shared(results),
            "client_stats": [
                *(_client(one) for one in results),
                whole | _figures(results) | _host(name),
            ],
            "disk_util": [
                disk | _host(one.environment.hostname) for one in results for disk in _disks([one])
            ],
        }
    )


def _encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document, indent=2, allow_nan=False).encode() + b"\n"


def _version(results: Sequence[Result]) -> str:
    return f"spek-{results[-1].environment.spekctl_version}"


def _place(result: Result) -> dict[str, str]:
    return {
        "filename": ":".join(one.facts.path for one in result.targets),
        "randseed": str(result.config.seed),
    }


def _host(name: str) -> dict[str, Any]:
    """A client; no port led to it."""
    return {"hostname": name, "port": 0}


def _job(result: Result, group: int) -> dict[str, Any]:
    job = {
        "jobname": result.workload.workload.name,
        "groupid": group,
        "error": _error(result),
        "eta": 0,
        "elapsed": math.ceil(_elapsed_ns(result) / 1e9),
        "job options": _job_options(result),
    }
    return job | _figures([result]) | _limits(result) | _steady(result)


def _client(result: Result) -> dict[str, Any]:
    job = {
        "jobname": result.workload.workload.name,
        "groupid": 0,
        "error": _error(result),
        "job options": _place(result) | _job_options(result),
    }
    figures = _figures([result]) | _limits(result) | _steady(result)
    return job | figures | _host(result.environment.hostname)


def _figures(results: Sequence[Result]) -> dict[str, Any]:
    """What was measured. Of several results: sums, and the distributions of all their I/Os."""
    found: dict[str, Any] = {way.name.lower(): _direction(results, way) for way in WAYS}
    flushes = measured.times(_cells(results, Way.SYNC), "response")
    found["sync"] = {
        "total_ios": histogram.count_of(flushes) if flushes else 0,
        "lat_ns": _times(flushes),
    }
    found["job_runtime"] = sum(map(_runtime_ms, results))
    found |= _processors(results)
    found["iodepth_level"] = _levels(results)
    found["iodepth_submit"] = dict.fromkeys(_BATCHES, 0.0)
    found["iodepth_complete"] = dict.fromkeys(_BATCHES, 0.0)
    return found | _latencies(results)


def _limits(result: Result) -> dict[str, Any]:
    return {
        "latency_depth": result.config.max_outstanding,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _cells(results: Sequence[Result], way: Way) -> list[Cell]:
    return [cell for one in results for cell in measured.cells(one, way)]


def _elapsed_ns(result: Result) -> int:
    """Length of the run; up to the last that is known of it, if it had not ended."""
    last = max((one.end_ns for one in result.phases), default=result.start.monotonic_ns)
    return (result.end.monotonic_ns or last) - result.start.monotonic_ns


def _ended_ns(result: Result) -> int:
    """CLOCK_REALTIME at that time."""
    return result.end.realtime_ns or result.start.realtime_ns + _elapsed_ns(result)


def _runtime_ms(result: Result) -> int:
    start, end = measured.span_ns(result)
    return (end - start) // 10**6


def _error(result: Result) -> int:
    """errno of the most frequent cause."""
    causes = result.outcome.errors_by_cause
    if not causes:
        return 0
    name = max(causes, key=lambda one: causes[one])
    return int(getattr(errno, name, errno.EIO))


def _job_options(result: Result) -> dict[str, str]:
    """The options that readers look for, in fio's words."""
    config = result.config
    active = [one for one in config.streams if one.weight and one.operation != "flush"]
    sizes = sorted({size.bytes for one in active for size in one.sizes})
    found = {
        "name": result.workload.workload.name,
        "rw": _kind(result),
        "bs": "-".join(_size(one) for one in dict.fromkeys(sizes[:1] + sizes[-1:])) or "0",
        "iodepth": str(sum(one.depth for one in config.arrivals) or config.max_outstanding),
        "numjobs": "1",
        "group_reporting": "1",
    }
    reads = sum(one.read_ppm * one.weight for one in active)
    total = sum(one.weight for one in active)
    if found["rw"] in ("rw", "randrw") and len(config.arrivals) == 1:
        found["rwmixread"] = str(round(reads / total / 10_000))
    if config.offered_rate is not None:
        found["rate_iops"] = str(round(config.offered_rate))
    if config.time_ns:
        found["runtime"] = str(math.ceil(config.time_ns / 1e9))
        if not config.count:
            found["time_based"] = "1"
    if config.count:
        found["number_ios"] = str(config.count)
    if config.ramp_ns:
        found["ramp_time"] = str(math.ceil(config.ramp_ns / 1e9))
    return found


def _shared(results: Sequence[Result]) -> dict[str, str]:
    """The options that all clients have alike, in which readers look for what was measured."""
    first, *others = [_job_options(one) for one in results]
    return {
        key: value
        for key, value in first.items()
        if key != "name" and all(one.get(key) == value for one in others)
    }


def _kind(result: Result) -> str:
    active = [one for one in result.config.streams if one.weight and one.operation != "flush"]
    discards = [one.operation == "discard" for one in active]
    random = "rand" if any(one.pattern in _RANDOM for one in active) else ""
    if active and all(discards):
        return f"{random}trim"
    reads = any(one.read_ppm for one in active)
    writes = any(one.read_ppm < 1_000_000 for one in active)
    return random + ("rw" if reads and writes else "write" if writes else "read")


def _size(count: int) -> str:
    return units.format_bytes(count).replace(" ", "").removesuffix("iB").removesuffix("B").lower()


# --- a direction ---------------------------------------------------------------------------------


def _direction(results: Sequence[Result], way: Way) -> dict[str, Any]:
    cells = _cells(results, way)
    ios, count = sum(one.ios for one in cells), sum(one.bytes for one in cells)
    # fio divides by the longest of the clients that had I/O in this direction.
    active = [one for one in results if any(cell.ios for cell in measured.cells(one, way))]
    runtime = max(map(_runtime_ms, active), default=0)
    bandwidth = 1000 * count // runtime if runtime else 0
    found: dict[str, Any] = {
        "io_bytes": count,
        "io_kbytes": count >> 10,
        "bw_bytes": bandwidth,
        "bw": bandwidth >> 10,
        "iops": 1000 * ios / runtime if runtime else 0.0,
        "runtime": runtime,
        "total_ios": ios,
        "short_ios": 0,
        "drop_ios": 0,
    }
    for name, ours in TIMES.items():
        found[f"{name}_ns"] = _times(measured.times(cells, ours), bins=True)
    samples = [measured.samples(one, way) for one in active]
    speeds = _spread([[one.bytes / one.seconds / 1024 for one in some] for some in samples])
    found |= {
        "bw_min": int(speeds.min),
        "bw_max": int(speeds.max),
        # The share of this job in that of its group, which is the job.
        "bw_agg": 100.0 if speeds.samples else 0.0,
        "bw_mean": speeds.mean,
        "bw_dev": speeds.deviation,
        "bw_samples": speeds.samples,
    }
    counts = _spread([[one.ios / one.seconds for one in some] for some in samples])
    return found | {
        "iops_min": int(counts.min),
        "iops_max": int(counts.max),
        "iops_mean": counts.mean,
        "iops_stddev": counts.deviation,
        "iops_samples": counts.samples,
    }


@dataclass(frozen=True, slots=True)
class _Spread:
    """Of the rates of report intervals; 0 where there are none."""

    min: float
    max: float
    mean: float
    deviation: float
    samples: int


def _spread(series: Sequence[Sequence[float]]) -> _Spread:
    """Of the series of each host. fio adds up extremes and means, and takes the deviation of each
    from its own mean."""
    used = [some for some in series if some]
    means = [math.fsum(some) / len(some) for some in used]
    squares = math.fsum(
        (one - mean) ** 2 for some, mean in zip(used, means, strict=True) for one in some
    )
    count = sum(map(len, used))
    return _Spread(
        min=math.fsum(map(min, used)),
        max=math.fsum(map(max, used)),
        mean=math.fsum(means),
        deviation=math.sqrt(squares / (count - 1)) if count > 1 else 0.0,
        samples=count,
    )


def _times(found: Histogram | None, bins: bool = False) -> dict[str, Any]:
    """A distribution; its deviation is that of the buckets."""
    if found is None:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    total, mean = histogram.count_of(found), histogram.mean(found)
    at = {index: histogram.bucket_value(index, found.bits) for index in sorted(found.counts)}
    squares = math.fsum(found.counts[index] * (value - mean) ** 2 for index, value in at.items())
    values = histogram.percentiles(found, (one * 100 for one in _PERCENTILES))
    made: dict[str, Any] = {
        "min": found.min_ns,
        "max": found.max_ns,
        "mean": mean,
        "stddev": math.sqrt(squares / (total - 1)) if total > 1 else 0.0,
        "N": total,
        "percentile": {
            f"{one / 100:.6f}": value for one, value in zip(_PERCENTILES, values, strict=True)
        },
    }
    if bins:
        made["bins"] = {
            str(value): found.counts[index] for index, value in at.items() if found.counts[index]
        }
    return made


# --- the job -------------------------------------------------------------------------------------


def _processors(results: Sequence[Result]) -> dict[str, Any]:
    """The workers are threads of the kernel: all their time is in system mode."""
    workers = [worker for one in results for worker in one.workers]
    used = sum(one.cpu_ns for one in workers)
    had = sum(_elapsed_ns(one) * len(one.workers) for one in results)
    switches = sum(one.voluntary_switches + one.involuntary_switches for one in workers)
    share = used / had if had > 0 else 0.0
    return {"usr_cpu": 0.0, "sys_cpu": 100 * share, "ctx": switches, "majf": 0, "minf": 0}


def _levels(results: Sequence[Result]) -> dict[str, float]:
    rows = [row for one in results for row in one.intervals if row.phase is Phase.MEASURE]
    depths = [row.outstanding for row in rows]
    names = [str(one) for one in _DEPTHS] + [">=64"]
    found = dict.fromkeys(names, 0)
    for depth in depths:
        place = next((i for i, top in enumerate(_DEPTHS) if depth < 2 * top), len(_DEPTHS))
        found[names[place]] += 1
    return {name: 100 * count / len(depths) if depths else 0.0 for name, count in found.items()}


def _latencies(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Per cent of all I/Os by response time: above the entry before, below its name."""
    scales: list[tuple[str, int, Sequence[int]]] = [
        ("latency_ns", 1, _NS),
        ("latency_us", 1000, _NS),
        ("latency_ms", 10**6, _MS),
    ]
    edges = [(f"{name} {top}", unit * top) for name, unit, tops in scales for top in tops]
    counts = {name: 0 for name, _ in edges} | {"latency_ms >=2000": 0}
    found = measured.times([one for way in WAYS for one in _cells(results, way)], "response")
    for index, count in (found.counts if found else {}).items():
        value = histogram.bucket_value(index, found.bits if found else 0)
        name = next((one for one, top in edges if value < top), "latency_ms >=2000")
        counts[name] += count
    total = sum(counts.values())
    made: dict[str, dict[str, float]] = {name: {} for name, _, _ in scales}
    for name, count in counts.items():
        table, key = name.split(" ")
        made[table][key] = 100 * count / total if total else 0.0
    return made


def _steady(result: Result) -> dict[str, Any]:
    """fio's steadystate, if the run was to end at one."""
    ending = result.ending
    if ending is None or ending.steady is None or not ending.windows:
        return {}
    window, criteria = ending.windows[0], ending.criteria
    rows = [one for one in result.intervals if one.phase is Phase.MEASURE and is_covered(one)]
    rows = rows[-len(window.values) :]

    def series(value: Callable[[Any], float]) -> list[int]:
        return [
            int(value(one) * 10**9 / (one.end_ns - one.start_ns))
            for one in rows
            if one.end_ns > one.start_ns
        ]

    iops = series(lambda one: one.read.ios + one.write.ios)
    bandwidth = series(lambda one: (one.read.bytes + one.write.bytes) / 1024)
    limit = criteria.range if criteria is not None else 0.0
    return {
        "steadystate": {
            "ss": f"{window.variable}:{100 * limit:f}%",
            "duration": ending.round_ns * len(window.values) // 10**9,
            "attained": int(ending.steady),
            "criterion": f"{100 * window.range:f}%",
            "max_deviation": max((abs(one - window.average) for one in window.values), default=0.0),
            "slope": window.slope,
            "data": {
                "bw_mean": round(sum(bandwidth) / len(bandwidth)) if bandwidth else 0,
                "iops_mean": round(sum(iops) / len(iops)) if iops else 0,
                "iops": iops,
                "bw": bandwidth,
            },
        }
    }


def _disks(results: Sequence[Result]) -> list[dict[str, Any]]:
    """What the disks counted during the whole of all runs; merges and busy time are not kept."""
    counted: dict[str, list[DiskCounters]] = {}
    for result in results:
        for one in result.targets:
            if one.disk is not None:
                counted.setdefault(one.facts.name, []).append(one.disk)
    return [
        {
            "name": name,
            "read_ios": sum(one.reads for one in some),
            "write_ios": sum(one.writes for one in some),
            "read_merges": 0,
            "write_merges": 0,
            "read_ticks": sum(one.read_ms or 0 for one in some),
            "write_ticks": sum(one.write_ms or 0 for one in some),
            "in_queue": sum((one.read_ms or 0) + (one.write_ms or 0) for one in some),
            "util": 0.0,
        }
        for name, some in counted.items()
    ]
