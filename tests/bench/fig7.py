# SPDX-License-Identifier: GPL-2.0
"""SPEK's Fig. 7 on scsi_debug: I/Os per second against outstanding I/Os, with fio beside it.

Runs in a guest, as root, with the modules loaded:

    fig7.py OUT_DIR [SECONDS]

For devices of 100 and 10 us (ndelay of scsi_debug, its own latency on top), 4 KiB random reads
on one CPU: spek in the kernel, fio with libaio and with io_uring. Leaves a load curve for each
(fig7-100us-spek.json...), which `spekctl plot curve` draws together. Paper 002 section 4, Fig. 7,
where two devices of these times were driven by SPEK and by IoMeter.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from spekctl.documents.curve import Curve, Load, Point, TimeFigures, load_curve
from spekctl.documents.document import timestamp
from spekctl.vm import guest_side

DELAYS_NS = {"100us": 100_000, "10us": 10_000}
DEPTHS = (1, 2, 4, 8, 16, 32)
RAMP_S = 0.5
ENGINES = ("libaio", "io_uring")


def scsi_debug(delay_ns: int) -> str:
    """The disk, 256 MiB; gives its device node."""
    options = {"ndelay": str(delay_ns), "max_queue": "64", "max_luns": "1"}
    plan = {"kind": "scsi_debug", "bytes": 256 << 20, "block_size": 512, "options": options}
    return guest_side.make_disk(plan)


def remove() -> None:
    """Take the disk away; who has just closed it may hold it for a moment."""
    subprocess.run(["udevadm", "settle"], check=False)
    end = time.monotonic() + 20
    while subprocess.run(["rmmod", "scsi_debug"], check=False).returncode:
        if time.monotonic() > end:
            raise SystemExit("fig7: scsi_debug does not unload")
        time.sleep(0.2)


def spek(node: str, seconds: float, out: Path) -> Curve:
    """Measure with spekctl sweep."""
    command = [sys.executable, "-m", "spekctl", "sweep", "random-read-4k", "--device", node]
    command += ["--depth", ",".join(map(str, DEPTHS)), "--time", f"{seconds}s"]
    command += ["--ramp", f"{RAMP_S}s", "-o", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return load_curve(out)


def fio(node: str, engine: str, depth: int, seconds: float) -> Point:
    """One job of fio, as a point of a load curve."""
    with tempfile.NamedTemporaryFile(suffix=".json") as answer:
        command = ["fio", "--name=fig7", f"--filename={node}", f"--ioengine={engine}"]
        command += ["--direct=1", "--rw=randread", "--bs=4k", "--norandommap", "--randrepeat=1"]
        command += [f"--iodepth={depth}", "--time_based", f"--runtime={seconds}"]
        command += [f"--ramp_time={RAMP_S}", "--cpus_allowed=0", "--allow_mounted_write=0"]
        command += ["--readonly", "--output-format=json", f"--output={answer.name}"]
        subprocess.run(command, check=True)
        job = json.loads(Path(answer.name).read_text())["jobs"][0]
    read = job["read"]
    spread = {float(key): value for key, value in read["clat_ns"]["percentile"].items()}
    service = TimeFigures(
        mean=read["clat_ns"]["mean"],
        p50=spread[50.0],
        p90=spread[90.0],
        p99=spread[99.0],
        p999=spread[99.9],
        max=read["clat_ns"]["max"],
    )
    return Point(
        load=Load("depth", depth),
        offered_iops=None,
        measured_ns=read["runtime"] * 1_000_000,
        ios=read["total_ios"],
        reads=read["total_ios"],
        writes=0,
        iops=read["iops"],
        mib_s=read["bw_bytes"] / 2**20,
        response=service,
        service=service,
        slip=None,
        backlog=0,
        left_over=0,
        stretch=None,
        cpu=(job["usr_cpu"] + job["sys_cpu"]) / 100,
        switches_per_io=job["ctx"] / max(1, read["total_ios"]),
        cpu_of="workers",
        errors=job["error"],
        ok=job["error"] == 0,
        text=f"fio, {engine}",
    )


def curve_of(like: Curve, engine: str, points: list[Point]) -> Curve:
    """A curve of fio's points on the device of @like."""
    return msgspec.structs.replace(
        like,
        created=timestamp(),
        command=["fio", f"--ioengine={engine}"],
        workload=f"fio {engine}, 4 KiB random reads",
        points=points,
        remarks=["Measured by fio; response is its completion latency."],
    )


def main(out: Path, seconds: float) -> None:
    """Measure, write the curves, print the table."""
    out.mkdir(parents=True, exist_ok=True)
    print(f"{'device':8} {'depth':>5} {'spek':>9} {'libaio':>9} {'io_uring':>9}  I/Os per second")
    for name, delay_ns in DELAYS_NS.items():
        node = scsi_debug(delay_ns)
        curve = spek(node, seconds, out / f"fig7-{name}-spek.json")
        by_engine: dict[str, list[Point]] = {}
        for engine in ENGINES:
            by_engine[engine] = [fio(node, engine, depth, seconds) for depth in DEPTHS]
            data = msgspec.json.encode(curve_of(curve, engine, by_engine[engine]))
            (out / f"fig7-{name}-{engine}.json").write_bytes(data)
        remove()
        for mine, *others in zip(curve.points, *by_engine.values(), strict=True):
            row = " ".join(f"{point.iops:9.0f}" for point in (mine, *others))
            print(f"{name:8} {mine.load.value:5g} {row}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 3.0)
