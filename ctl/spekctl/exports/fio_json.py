# SPDX-License-Identifier: GPL-2.0-or-later
"""A result as fio 3 prints it with --output-format=json+, for programs that read that.

A run is one job with the sums of all streams, as with group_reporting, and the runs of a file of
several steps are as many jobs in groups of their own. lat is the response time,
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
from typing import Any

from spekctl import units
from spekctl.documents import histogram
from spekctl.documents.device import DiskCounters
from spekctl.documents.result import Result
from spekctl.exports import measured
from spekctl.exports.measured import TIMES, WAYS, Way
from spekctl.kernel.records import Histogram, Phase

# In hundredths of a per cent.
_PERCENTILES = (
    *(100, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 9500),
    *(9900, 9950, 9990, 9995, 9999),
)
_NS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_MS = (*_NS, 2000)
_DEPTHS = (1, 2, 4, 8, 16, 32)
_BATCHES = ("0", "4", "8", "16", "32", "64", ">=64")
_RANDOM = ("uniform", "walk", "hotband", "once", "table", "runs", "trace")


def encode(*results: Result) -> bytes:
    """The file of a run, or of several that were steps of one file, in their order."""
    return json.dumps(_document(results), indent=2, allow_nan=False).encode() + b"\n"


def _document(results: Sequence[Result]) -> dict[str, Any]:
    result = results[-1]
    end = result.end.realtime_ns
    return {
        "fio version": f"spek-{result.environment.spekctl_version}",
        "timestamp": end // 10**9,
        "timestamp_ms": end // 10**6,
        "time": time.ctime(end // 10**9),
        "global options": _global_options(result),
        "jobs": [_job(one, group) for group, one in enumerate(results)],
        "disk_util": _disks(results),
    }


def _global_options(result: Result) -> dict[str, str]:
    return {
        "ioengine": "spek",
        "direct": "1",
        "filename": ":".join(one.facts.path for one in result.targets),
        "randseed": str(result.config.seed),
    }


def _job(result: Result, group: int) -> dict[str, Any]:
    start, end = measured.span_ns(result)
    elapsed = result.end.monotonic_ns - result.start.monotonic_ns
    job: dict[str, Any] = {
        "jobname": result.workload.workload.name,
        "groupid": group,
        "error": _error(result),
        "eta": 0,
        "elapsed": math.ceil(elapsed / 1e9),
        "job options": _job_options(result),
    }
    for way in WAYS:
        job[way.name.lower()] = _direction(result, way)
    flushes = measured.times(measured.cells(result, Way.SYNC), "response")
    job["sync"] = {
        "total_ios": histogram.count_of(flushes) if flushes else 0,
        "lat_ns": _times(flushes),
    }
    job["job_runtime"] = (end - start) // 10**6
    job |= _processors(result, elapsed)
    job["iodepth_level"] = _levels(result)
    job["iodepth_submit"] = dict.fromkeys(_BATCHES, 0.0)
    job["iodepth_complete"] = dict.fromkeys(_BATCHES, 0.0)
    job |= _latencies(result)
    job |= {
        "latency_depth": result.config.max_outstanding,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }
    return job | _steady(result)


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
        found["time_based"] = "1"
    if config.count:
        found["number_ios"] = str(config.count)
    if config.ramp_ns:
        found["ramp_time"] = str(math.ceil(config.ramp_ns / 1e9))
    return found


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


def _direction(result: Result, way: Way) -> dict[str, Any]:
    cells = measured.cells(result, way)
    start, end = measured.span_ns(result)
    ios, count = sum(one.ios for one in cells), sum(one.bytes for one in cells)
    seconds = (end - start) / 1e9
    found: dict[str, Any] = {
        "io_bytes": count,
        "io_kbytes": count >> 10,
        "bw_bytes": round(count / seconds) if seconds else 0,
        "bw": int(count / seconds) >> 10 if seconds else 0,
        "iops": ios / seconds if seconds else 0.0,
        "runtime": (end - start) // 10**6 if ios else 0,
        "total_ios": ios,
        "short_ios": 0,
        "drop_ios": 0,
    }
    for name, ours in TIMES.items():
        found[f"{name}_ns"] = _times(measured.times(cells, ours), bins=True)
    samples = measured.samples(result, way) if ios else []
    bandwidth = [one.bytes / one.seconds / 1024 for one in samples]
    rates = [one.ios / one.seconds for one in samples]
    mean, deviation = _spread(bandwidth)
    found |= {
        "bw_min": int(min(bandwidth, default=0)),
        "bw_max": int(max(bandwidth, default=0)),
        # The share of this job in that of its group, which is the job.
        "bw_agg": 100.0 if samples else 0.0,
        "bw_mean": mean,
        "bw_dev": deviation,
        "bw_samples": len(samples),
    }
    mean, deviation = _spread(rates)
    return found | {
        "iops_min": int(min(rates, default=0)),
        "iops_max": int(max(rates, default=0)),
        "iops_mean": mean,
        "iops_stddev": deviation,
        "iops_samples": len(samples),
    }


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation of a sample; 0 where there is none."""
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    squares = math.fsum((one - mean) ** 2 for one in values)
    return mean, math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0


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


def _processors(result: Result, elapsed_ns: int) -> dict[str, Any]:
    """The workers are threads of the kernel: all their time is in system mode."""
    used = sum(one.cpu_ns for one in result.workers)
    switches = sum(one.voluntary_switches + one.involuntary_switches for one in result.workers)
    share = used / elapsed_ns / max(1, len(result.workers)) if elapsed_ns > 0 else 0.0
    return {"usr_cpu": 0.0, "sys_cpu": 100 * share, "ctx": switches, "majf": 0, "minf": 0}


def _levels(result: Result) -> dict[str, float]:
    depths = [one.outstanding for one in result.intervals if one.phase is Phase.MEASURE]
    names = [str(one) for one in _DEPTHS] + [">=64"]
    found = dict.fromkeys(names, 0)
    for depth in depths:
        place = next((i for i, top in enumerate(_DEPTHS) if depth < 2 * top), len(_DEPTHS))
        found[names[place]] += 1
    return {name: 100 * count / len(depths) if depths else 0.0 for name, count in found.items()}


def _latencies(result: Result) -> dict[str, dict[str, float]]:
    """Per cent of all I/Os by response time: above the entry before, below its name."""
    scales: list[tuple[str, int, Sequence[int]]] = [
        ("latency_ns", 1, _NS),
        ("latency_us", 1000, _NS),
        ("latency_ms", 10**6, _MS),
    ]
    edges = [(f"{name} {top}", unit * top) for name, unit, tops in scales for top in tops]
    counts = {name: 0 for name, _ in edges} | {"latency_ms >=2000": 0}
    cells = [one for way in WAYS for one in measured.cells(result, way)]
    found = measured.times(cells, "response")
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
    rows = [one for one in result.intervals if one.phase is Phase.MEASURE][-len(window.values) :]

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
