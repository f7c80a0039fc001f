# SPDX-License-Identifier: GPL-2.0
"""Paper 003's Fig. 8 at 8 ms on the kernel's modelled drives, and beside it the simulation.

    paper003.py live OUT.json DISK...           in a guest: seven disks of spek_drive, see SYSTEMS
    paper003.py compare STUDY.json OUT.json     on the host: a table

`live` stripes the synthetic load (paper003.toml) over each system with spek's own RAID-0, in
64 KiB units as the simulation has it, and reads the drives' own accounts before and after.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WORKLOAD = Path(__file__).with_name("paper003.toml")
SECONDS = 80
RAMP_S = 10
READS = 8  # of each part, so that the chance of a turn does not leave an arm behind
UNDER_WAY = 100  # I/Os that a disk has completed when the load has begun for sure
STRIPE = "64KiB"
# Drives and arms: the paper's break-even at 8 ms between arrivals.
SYSTEMS = ((4, 1), (2, 2), (1, 4))
INTERARRIVAL_MS = 8.0
FOOTPRINT = 0.1
# Drives arms -> W, which the paper reads 61.4 : 37.1 : 26.2.
PAPER_W = {(4, 1): 61.4, (2, 2): 37.1, (1, 4): 26.2}


def spekctl(*words: str) -> Any:
    """JSON that a command answers."""
    command = [sys.executable, "-m", "spekctl", *words]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def account(disk: str) -> tuple[int, int]:
    """Time and energy of a drive, ns and nJ."""
    stats = spekctl("drive", "stats", disk, "--json")
    return stats["now_ns"], sum(rail["nj"] for rail in stats["energies"])


def as_plain_drive(disk: str) -> None:
    """Requests reach the drive as they are, which has a scheduler of its own."""
    queue = Path("/sys/block", Path(disk).name, "queue")
    (queue / "scheduler").write_text("none")
    (queue / "nomerges").write_text("2")
    (queue / "nr_requests").write_text("256")


def sent(disk: str) -> int:
    """I/Os that a disk has completed."""
    fields = Path("/sys/block", Path(disk).name, "stat").read_text().split()
    return int(fields[0]) + int(fields[4])


def gather_arms(disk: str) -> None:
    """Bring arms that are far outside of the data to it.

    An arm stays where its last request was. The arms of the simulation begin at the data; here some
    are at the last sectors, which udev and spekctl look at, and would stay there, since another one
    is always nearer to the data. Reads at the end of a shrinking part of the drive are nearest to
    such arms.
    """
    source = random.Random(1)
    buffer = mmap.mmap(-1, 4096)
    fd = os.open(disk, os.O_RDONLY | os.O_DIRECT)
    try:
        part = os.lseek(fd, 0, os.SEEK_END)
        data = part * FOOTPRINT
        while part > data:
            for _ in range(READS):
                os.preadv(fd, [buffer], int(source.uniform(0.9 * part, part - 4096)) // 4096 * 4096)
            part = int(part * 0.95)
    finally:
        os.close(fd)


def measure(disks: list[str], arms: int) -> dict[str, float]:
    """Run the load on an array; its 90th percentile and watts."""
    for disk in disks:
        as_plain_drive(disk)
    devices = [word for disk in disks for word in ("--device", disk)]
    before = [account(disk) for disk in disks]
    sent_before = [sent(disk) for disk in disks]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "result.json")
        words = ["run", str(WORKLOAD), *devices, "--stripe", STRIPE, "--write", "--seed", "1"]
        words += ["--ramp", f"{RAMP_S}s", "--time", f"{SECONDS}s", "--max-outstanding", "1024"]
        command = [sys.executable, "-m", "spekctl", *words, "--progress", "none", "-o", str(out)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
            for disk, old in zip(disks, sent_before, strict=True):
                while run.poll() is None and sent(disk) < old + UNDER_WAY:
                    time.sleep(0.05)
                if arms > 1:
                    gather_arms(disk)
        if run.returncode:
            raise SystemExit(f"paper003: the run ended with status {run.returncode}")
        result = json.loads(out.read_text())
    after = [account(disk) for disk in disks]
    phase = next(phase for phase in result["phases"] if phase["phase"] == "measure")
    response = phase["times"]["response"]
    watts = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(before, after, strict=True)]
    return {
        "requests": phase["ios"],
        "mean_ms": response["mean_ns"] / 1e6,
        "p90_ms": response["percentiles_ns"]["p90"] / 1e6,
        "watts": sum(watts),
    }


def live(out: Path, disks: list[str]) -> None:
    """All systems, each on disks of its own."""
    if len(disks) != sum(drives for drives, _ in SYSTEMS):
        raise SystemExit("paper003: live needs 4 disks of one arm, 2 of two, and 1 of four")
    rows = []
    for drives, arms in SYSTEMS:
        mine, disks = disks[:drives], disks[drives:]
        measured = measure(mine, arms)
        rows.append({"drives": drives, "arms": arms, **measured})
        text = "p90 {p90_ms:.2f} ms, {watts:.1f} W, {requests:,} requests".format(**measured)
        print(f"paper003: {drives} x SA({arms}): {text}", file=sys.stderr)
    out.write_text(json.dumps(rows, indent=1) + "\n")


def compare(study: Path, out: Path) -> None:
    """The kernel beside the simulation beside the paper."""
    simulated = {
        (system["drives"], system["arms"]): system
        for arrays in json.loads(study.read_text())["arrays"]
        if (arrays["interarrival_ms"], arrays["footprint"]) == (INTERARRIVAL_MS, FOOTPRINT)
        for system in arrays["systems"]
    }
    profile = json.loads(study.read_text())["profiles"][0]
    print(f"Figure 8, {INTERARRIVAL_MS:g} ms, {FOOTPRINT:.0%} of each drive: kernel and simulation")
    head = ("system", "p90 kernel", "p90 simulated", "W kernel", "W simulated", "W paper")
    print("".join(f"{title:>15}" for title in head))
    for system in json.loads(out.read_text()):
        key = system["drives"], system["arms"]
        model = simulated[key]
        watts = sum(model["watts"][profile].values())
        cells = (
            f"{key[0]} x SA({key[1]})",
            f"{system['p90_ms']:.2f} ms",
            f"{model['p90_ms']:.2f} ms",
            f"{system['watts']:.1f}",
            f"{watts:.1f}",
            f"{PAPER_W[key]}",
        )
        print("".join(f"{cell:>15}" for cell in cells))


if __name__ == "__main__":
    if sys.argv[1] == "live":
        live(Path(sys.argv[2]), sys.argv[3:])
    else:
        compare(Path(sys.argv[2]), Path(sys.argv[3]))
