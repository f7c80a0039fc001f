# SPDX-License-Identifier: GPL-2.0
"""In the guest: requests for a modelled drive, and the traces of them. See drive_times.py."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
from bench.drivers import idle_ns
from lib.ctl.characterised import Deviation
from lib.guest import modules
from lib.guest.disks import do_without_udev
from lib.guest.drive import Controller, assert_completed, one_stream
from lib.guest.modelled import disk_of
from lib.guest.trace import events

from spekctl.block.disk import RealDisk
from spekctl.drive import file
from spekctl.drive.probe import Probe
from spekctl.kernel.drives import Drives, Making
from spekctl.kernel.gen.spek_drive_records import Store
from spekctl.workload.config import ResolvedArrival, RunConfig

MODEL = "barracuda-es"
LOADS = ("8 outstanding", "125/s at random times")
RATE_MILLI = 125_000
RATE = RATE_MILLI // 1000
WINDOW = 32
FOOTPRINT = 10  # one such part of the drive
# 4 to 12 heads, seek curves measured and computed, 7200 to 15,000 rpm.
MEASURED = ("barracuda-es", "cheetah9lp", "cheetah-x15-36lp", "dnes-309170w", "paper003-10k")


class Times(msgspec.Struct, frozen=True):
    """What the guest found; the traces are texts of their own."""

    drive: int
    window: int
    long_ns: int
    long_busy_ns: int
    drive_trace: str
    spek_trace: str
    characterised: dict[str, Deviation] = {}

    def write(self, out: Path) -> None:
        """Leave it for the host."""
        (out / "times.json").write_bytes(msgspec.json.encode(self))

    @staticmethod
    def read(out: Path) -> Times:
        """What the guest left."""
        return msgspec.json.decode((out / "times.json").read_bytes(), type=Times)


def long_marks(out: Path) -> tuple[Path, Path]:
    """Files that are made when the long run begins and when it ends: the host has another clock."""
    return out / "long-begin", out / "long-end"


def config(node: str, count: int, open_loop: bool) -> RunConfig:
    """Reads and writes of 4 KiB anywhere in the first part of the drive."""
    arrival = ResolvedArrival("main", "poisson", rate_milli=RATE_MILLI) if open_loop else None
    whole = one_stream(
        node,
        read_ppm=600_000,
        arrival=arrival,
        depth=8,
        max_outstanding=256 if open_loop else 8,
        count=count,
    )
    (stream,) = whole.streams
    part = stream.range_bytes // FOOTPRINT // 4096 * 4096
    return msgspec.structs.replace(
        whole, streams=[msgspec.structs.replace(stream, range_bytes=part)]
    )


def calm_down() -> None:
    """End udev, which reads from new disks; devtmpfs has their nodes all the same."""
    do_without_udev()
    subprocess.run(["udevadm", "settle"], check=False)
    subprocess.run(["udevadm", "control", "--exit"], check=False, capture_output=True)


def long_run(controller: Controller, node: str, out: Path, seconds: int) -> tuple[int, int]:
    """Requests for so long. Return: ns that passed, and those that the CPU was busy."""
    begin, end = long_marks(out)
    for mark in (begin, end):
        mark.unlink(missing_ok=True)
    with controller.ready(config(node, seconds * RATE, True)) as run:
        start_ns, start_idle_ns = time.monotonic_ns(), idle_ns()
        begin.touch()
        outcome = controller.finish(run, timeout_s=2.0 * seconds)
        end.touch()
        idle, passed = idle_ns() - start_idle_ns, time.monotonic_ns() - start_ns
    assert_completed(outcome)
    return outcome.info.ended_ns - outcome.info.started_ns, passed - idle


def characterise(drives: Drives) -> dict[str, Deviation]:
    """Measure drives as `spekctl drive characterise` does; how far that is off their models."""
    deviations = {}
    for name in MEASURED:
        model = file.load(name)
        disk = disk_of(drives, drives.new(model, Making(store=Store.NONE)))
        with RealDisk(disk.node) as opened:
            deviations[name] = Deviation.of(Probe(opened).measure(), model)
        drives.delete(disk.drive)
    return deviations


def measure(out: Path, requests: int, seconds: int, spin_ns: int, also_drives: bool) -> Times:
    """Everything, in order."""
    calm_down()
    subprocess.run(["modprobe", "sd_mod"], check=True)
    for name in ("spek_drive", "spek"):
        modules.load(Path(os.environ["SPEK_MODULES"], f"{name}.ko"))
    with Drives() as drives, Controller() as controller:
        with events("spek_drive") as model_seen, events("spek") as spek_seen:
            making = Making(store=Store.NONE, queue_depth=WINDOW, spin_ns=spin_ns)
            disk = disk_of(drives, drives.new(file.load(MODEL), making))
            for open_loop in (False, True):
                controller.complete(config(disk.node, requests, open_loop))
            traces = model_seen.text(), spek_seen.text()
        long_ns = long_run(controller, disk.node, out, seconds) if seconds else (0, 0)
        drives.delete(disk.drive)
        characterised = characterise(drives) if also_drives else {}
    return Times(disk.drive, WINDOW, *long_ns, *traces, characterised)


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--spin-ns", type=int, default=0)
    parser.add_argument("--characterise", action="store_true")
    arguments = parser.parse_args()
    times = measure(
        arguments.out,
        arguments.requests,
        arguments.seconds,
        arguments.spin_ns,
        arguments.characterise,
    )
    times.write(arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
