# SPDX-License-Identifier: GPL-2.0-or-later
"""A result as fio 3 prints it with --output-format=json+, for programs that read that.

A run is one job with the sums of all streams, as with group_reporting, and the runs of a file of
several steps are as many jobs in groups of their own. Results of several hosts, and the hosts of a
fleet, are the clients of `fio --client`, with their sum, "All clients". lat is the response time,
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

from msgspec.structs import replace

from spekctl.documents import histogram
from spekctl.documents.device import DiskCounters
from spekctl.documents.per_host import clients, own_results
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Cell, Clocks
from spekctl.errors import UsageError
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
    if any(result.hosts is not None for result in results):
        if len(results) > 1:
            raise UsageError("fio's JSON has steps of one machine, or hosts: not fleets in steps")
        return encode_clients(results)
    ended = max(map(_ended_ns, results))
    return _encoded(
        {
            "fio version": _version(results),
            "timestamp": ended // 10**9,
            "timestamp_ms": ended // 10**6,
            "time": time.ctime(ended // 10**9),
            "global options": _ENGINE | _place(results[-1]),
            "jobs": [_job(result, group) for group, result in enumerate(results)],
            "disk_util": _disks(results),
        }
    )


def encode_clients(results: Sequence[Result]) -> bytes:
    """The file of runs of several hosts, in their order; a fleet is its hosts, and last those that
    have no result."""
    silent = [own for result in results for own in _without_result(result)]
    results = [own for result in results for own in own_results(result)]
    if not results:
        raise UsageError("fio's JSON needs the result of a host, and no host of the fleet has one")
    ended = max(map(_ended_ns, results))
    name = "All clients"
    whole = {"jobname": name, "groupid": 0, "error": max(map(_error, [*results, *silent]))}
    return _encoded(
        {
            "fio version": _version(results),
            "timestamp": ended // 10**9,
            "time": time.ctime(ended // 10**9),
            "global options": _ENGINE | _shared(results),
            "client_stats": [
                *(_client(result) for result in [*results, *silent]),
                whole | _figures(results) | _host(name),
            ],
            "disk_util": [
                disk | _host(result.environment.hostname)
                for result in results
                for disk in _disks([result])
            ],
        }
    )


def _without_result(fleet: Result) -> list[Result]:
    """A failed run without figures for each client that gave no result, such as a lost host."""
    outcome = replace(
        fleet.outcome, ok=False, text="the host gave no result", errors=0, errors_by_cause={}
    )
    empty = replace(
        fleet, hosts=None, common=None, outcome=outcome, cells=[], intervals=[], phases=[],
        workers=[], targets=[], ending=None, start=Clocks(0, 0, 0), end=Clocks(0, 0, 0),
    )  # fmt: skip
    return [
        replace(empty, environment=replace(fleet.environment, hostname=host.name))
        for host in clients(fleet.hosts or [])
        if host.run is None
    ]


# Metrics of a steady state that fio has, by spek's names.
_STEADY_NAMES = {"iops": "iops", "bandwidth": "bw"}


def _encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document, indent=2, allow_nan=False).encode() + b"\n"


def _version(results: Sequence[Result]) -> str:
    return f"spek-{results[-1].environment.spekctl_version}"


def _place(result: Result) -> dict[str, str]:
    return {
        "filename": ":".join(target.facts.path for target in result.targets),
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
    figures: dict[str, Any] = {way.name.lower(): _direction(results, way) for way in WAYS}
    flushes = measured.times(_cells(results, Way.SYNC), "response")
    figures["sync"] = {
        "total_ios": histogram.count_of(flushes) if flushes else 0,
        "lat_ns": _times(flushes),
    }
    figures["job_runtime"] = sum(map(_runtime_ms, results))
    figures |= _processors(results)
    figures["iodepth_level"] = _levels(results)
    figures["iodepth_submit"] = dict.fromkeys(_BATCHES, 0.0)
    figures["iodepth_complete"] = dict.fromkeys(_BATCHES, 0.0)
    return figures | _latencies(results)


def _limits(result: Result) -> dict[str, Any]:
    return {
        "latency_depth": result.config.max_outstanding,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _cells(results: Sequence[Result], way: Way) -> list[Cell]:
    return [cell for result in results for cell in measured.cells(result, way)]


def _elapsed_ns(result: Result) -> int:
    """Length of the run; up to the last that is known of it, if it had not ended."""
    last = max((phase.end_ns for phase in result.phases), default=result.start.monotonic_ns)
    return (result.end.monotonic_ns or last) - result.start.monotonic_ns


def _ended_ns(result: Result) -> int:
    """CLOCK_REALTIME at that time."""
    return result.end.realtime_ns or result.start.realtime_ns + _elapsed_ns(result)


def _runtime_ms(result: Result) -> int:
    start, end = measured.span_ns(result)
    return (end - start) // 10**6


def _error(result: Result) -> int:
    """errno of the most frequent cause; EIO of a run that failed without a failed I/O, such as
    by the removal of its device, because readers take 0 for a run that is whole. One without the
    steady state that was asked for is whole."""
    causes = result.outcome.errors_by_cause
    if not causes:
        return errno.EIO if result.failure and not result.limit_missed else 0
    name = max(causes, key=lambda cause: causes[cause])
    return int(getattr(errno, name, errno.EIO))


def _job_options(result: Result) -> dict[str, str]:
    """The options that readers look for, in fio's words."""
    config = result.config
    active = [stream for stream in config.streams if stream.weight and stream.operation != "flush"]
    sizes = sorted({size.bytes for stream in active for size in stream.sizes})
    options = {
        "name": result.workload.workload.name,
        "rw": _kind(result),
        "bs": "-".join(_size(size) for size in dict.fromkeys(sizes[:1] + sizes[-1:])) or "0",
        "iodepth": str(sum(arrival.depth for arrival in config.arrivals) or config.max_outstanding),
        "numjobs": "1",
        "group_reporting": "1",
    }
    reads = sum(stream.read_ppm * stream.weight for stream in active)
    total = sum(stream.weight for stream in active)
    if options["rw"] in ("rw", "randrw") and len(config.arrivals) == 1:
        options["rwmixread"] = str(round(reads / total / 10_000))
    if config.offered_rate is not None:
        options["rate_iops"] = str(round(config.offered_rate))
    counts = [arrival.count for arrival in config.arrivals]
    number = config.count or (sum(counts) if all(counts) else 0)
    if config.time_ns:
        options["runtime"] = str(math.ceil(config.time_ns / 1e9))
        if not number:
            options["time_based"] = "1"
    if number:
        options["number_ios"] = str(number)
    if config.ramp_ns:
        options["ramp_time"] = str(math.ceil(config.ramp_ns / 1e9))
    return options


def _shared(results: Sequence[Result]) -> dict[str, str]:
    """The options that all clients have alike, in which readers look for what was measured."""
    first, *others = [_job_options(result) for result in results]
    return {
        key: value
        for key, value in first.items()
        if key != "name" and all(options.get(key) == value for options in others)
    }


def _kind(result: Result) -> str:
    active = [
        stream for stream in result.config.streams if stream.weight and stream.operation != "flush"
    ]
    discards = [stream.operation == "discard" for stream in active]
    random = "rand" if any(stream.pattern in _RANDOM for stream in active) else ""
    if active and all(discards):
        return f"{random}trim"
    reads = any(stream.read_ppm for stream in active)
    writes = any(stream.read_ppm < 1_000_000 for stream in active)
    return random + ("rw" if reads and writes else "write" if writes else "read")


def _size(count: int) -> str:
    """Exactly, as fio reads it: 4k, 1m, 102912."""
    for power, unit in ((4, "t"), (3, "g"), (2, "m"), (1, "k")):
        if count and count % 1024**power == 0:
            return f"{count // 1024**power}{unit}"
    return str(count)


# --- a direction ---------------------------------------------------------------------------------


def _direction(results: Sequence[Result], way: Way) -> dict[str, Any]:
    cells = _cells(results, way)
    ios, count = sum(cell.ios for cell in cells), sum(cell.bytes for cell in cells)
    # fio divides by the longest of the clients that had I/O in this direction.
    active = [result for result in results if any(cell.ios for cell in measured.cells(result, way))]
    runtime = max(map(_runtime_ms, active), default=0)
    bandwidth = 1000 * count // runtime if runtime else 0
    figures: dict[str, Any] = {
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
        figures[f"{name}_ns"] = _times(measured.times(cells, ours), bins=True)
    samples = [measured.samples(result, way) for result in active]
    speeds = _spread(
        [[sample.bytes / sample.seconds / 1024 for sample in of_run] for of_run in samples]
    )
    figures |= {
        "bw_min": int(speeds.min),
        "bw_max": int(speeds.max),
        # The share of this job in that of its group, which is the job.
        "bw_agg": 100.0 if speeds.samples else 0.0,
        "bw_mean": speeds.mean,
        "bw_dev": speeds.deviation,
        "bw_samples": speeds.samples,
    }
    counts = _spread([[sample.ios / sample.seconds for sample in of_run] for of_run in samples])
    return figures | {
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
    used = [values for values in series if values]
    means = [math.fsum(values) / len(values) for values in used]
    squares = math.fsum(
        (value - mean) ** 2 for values, mean in zip(used, means, strict=True) for value in values
    )
    count = sum(map(len, used))
    return _Spread(
        min=math.fsum(map(min, used)),
        max=math.fsum(map(max, used)),
        mean=math.fsum(means),
        deviation=math.sqrt(squares / (count - 1)) if count > 1 else 0.0,
        samples=count,
    )


def _times(distribution: Histogram | None, bins: bool = False) -> dict[str, Any]:
    """A distribution; its deviation is that of the buckets."""
    if distribution is None:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    total, mean = histogram.count_of(distribution), histogram.mean(distribution)
    at = {
        index: histogram.bucket_value(index, distribution.bits)
        for index in sorted(distribution.counts)
    }
    squares = math.fsum(
        distribution.counts[index] * (value - mean) ** 2 for index, value in at.items()
    )
    values = histogram.percentiles(distribution, (percentile * 100 for percentile in _PERCENTILES))
    fields: dict[str, Any] = {
        "min": distribution.min_ns,
        "max": distribution.max_ns,
        "mean": mean,
        "stddev": math.sqrt(squares / (total - 1)) if total > 1 else 0.0,
        "N": total,
        "percentile": {
            f"{percentile / 100:.6f}": value
            for percentile, value in zip(_PERCENTILES, values, strict=True)
        },
    }
    if bins:
        fields["bins"] = {
            str(value): distribution.counts[index]
            for index, value in at.items()
            if distribution.counts[index]
        }
    return fields


# --- the job -------------------------------------------------------------------------------------


def _processors(results: Sequence[Result]) -> dict[str, Any]:
    """The workers are threads of the kernel: all their time is in system mode."""
    workers = [worker for result in results for worker in result.workers]
    used = sum(worker.cpu_ns for worker in workers)
    had = sum(_elapsed_ns(result) * len(result.workers) for result in results)
    switches = sum(worker.voluntary_switches + worker.involuntary_switches for worker in workers)
    share = used / had if had > 0 else 0.0
    return {"usr_cpu": 0.0, "sys_cpu": 100 * share, "ctx": switches, "majf": 0, "minf": 0}


def _levels(results: Sequence[Result]) -> dict[str, float]:
    rows = [row for result in results for row in result.intervals if row.phase is Phase.MEASURE]
    depths = [row.outstanding for row in rows]
    names = [str(depth) for depth in _DEPTHS] + [">=64"]
    levels = dict.fromkeys(names, 0)
    for depth in depths:
        place = next((i for i, top in enumerate(_DEPTHS) if depth < 2 * top), len(_DEPTHS))
        levels[names[place]] += 1
    return {name: 100 * count / len(depths) if depths else 0.0 for name, count in levels.items()}


def _latencies(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Per cent of all I/Os by response time: above the entry before, below its name."""
    scales: list[tuple[str, int, Sequence[int]]] = [
        ("latency_ns", 1, _NS),
        ("latency_us", 1000, _NS),
        ("latency_ms", 10**6, _MS),
    ]
    edges = [(f"{name} {top}", unit * top) for name, unit, tops in scales for top in tops]
    counts = {name: 0 for name, _ in edges} | {"latency_ms >=2000": 0}
    responses = measured.times([cell for way in WAYS for cell in _cells(results, way)], "response")
    for index, count in (responses.counts if responses else {}).items():
        value = histogram.bucket_value(index, responses.bits if responses else 0)
        name = next((edge for edge, top in edges if value < top), "latency_ms >=2000")
        counts[name] += count
    total = sum(counts.values())
    shares: dict[str, dict[str, float]] = {name: {} for name, _, _ in scales}
    for name, count in counts.items():
        table, key = name.split(" ")
        shares[table][key] = 100 * count / total if total else 0.0
    return shares


def _steady(result: Result) -> dict[str, Any]:
    """fio's steadystate, if the run was to end at one of IOPS or bandwidth: fio knows no other.

    A round is what a sample is to fio. fio has one limit, of the largest deviation from the mean or
    of the slope; spek has two, of the range, which is at most twice such a deviation, and of the
    excursion, which is the slope over the rounds after the first. The slope is fio's where it alone
    is limited.
    """
    ending = result.ending
    if ending is None or ending.steady is None or ending.criteria is None:
        return {}
    known = [window for window in ending.windows if window.variable in _STEADY_NAMES]
    if not known or not known[0].values:
        return {}
    window, criteria = known[0], ending.criteria
    name = _STEADY_NAMES[window.variable]
    rows = [row for row in result.intervals if row.phase is Phase.MEASURE and is_covered(row)]
    rows = rows[-len(window.values) :]

    def series(value: Callable[[Any], float]) -> list[int]:
        return [
            int(value(row) * 10**9 / (row.end_ns - row.start_ns))
            for row in rows
            if row.end_ns > row.start_ns
        ]

    iops = series(lambda row: row.read.ios + row.write.ios)
    bandwidth = series(lambda row: row.read.bytes + row.write.bytes)
    if criteria.slope < 1 <= criteria.range:
        name, limit = f"{name}_slope", criteria.slope / (criteria.window - 1)
        deviation, slope = 0.0, window.slope
        judged = slope
    else:
        limit = criteria.range / 2
        deviation, slope = max(abs(value - window.average) for value in window.values), 0.0
        judged = deviation
    share = judged / window.average if window.average else 0.0
    return {
        "steadystate": {
            "ss": f"{name}:{100 * limit:f}%",
            "duration": ending.round_ns * criteria.window // 10**9,
            "attained": int(ending.steady),
            "criterion": f"{100 * share:f}%",
            "max_deviation": deviation,
            "slope": slope,
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
        for target in result.targets:
            if target.disk is not None:
                counted.setdefault(target.facts.name, []).append(target.disk)
    return [
        {
            "name": name,
            "read_ios": sum(count.reads for count in counts),
            "write_ios": sum(count.writes for count in counts),
            "read_merges": 0,
            "write_merges": 0,
            "read_ticks": sum(count.read_ms or 0 for count in counts),
            "write_ticks": sum(count.write_ms or 0 for count in counts),
            "in_queue": sum((count.read_ms or 0) + (count.write_ms or 0) for count in counts),
            "util": 0.0,
        }
        for name, counts in counted.items()
    ]
