# SPDX-License-Identifier: GPL-2.0
"""What the times of a modelled drive are worth: `make drive-times`. Boots three guests.

One counts instructions, so that its clock has no noise; the others are ordinary ones, in the second
of which the drive's timer fires early. In each a drive serves random requests, and each is looked
at three times: as the module's model served it (tracepoint spek_drive_complete), as the core in
userspace serves the same arrivals, and as spek saw it complete. Then the first guest serves an hour
of requests, which is timed on the host.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from bench.drive_times_guest import LOADS, MODEL, RATE, Times, long_marks
from bench.measuring import ROOT, measure
from lib.ctl.characterised import Deviation
from lib.guest.modelled import Served, served, simulated
from lib.guest.trace import fields_of

from spekctl.drive import core, file
from spekctl.errors import SpekError
from spekctl.vm.accel import choose_accel
from spekctl.vm.kernels import Kernel, find_kernel

LIMIT_S = 1200.0
NEAR = 0.02
SPIN_NS = 150_000
# What the measurement of a drive may be off at most.
OFF_PERIOD, OFF_SEEK = 0.001, 0.03


def boot(
    kernel: Kernel, icount: bool, requests: int, seconds: int, spin_ns: int, out: Path
) -> Times:
    """Serve requests in a guest; what it found.

    @requests: of each load
    @seconds: length of the long run; 0: none
    @spin_ns: of the drive
    """
    out.mkdir(parents=True, exist_ok=True)
    words = ["bench.drive_times_guest", "--out", str(out)]
    words += ["--requests", str(requests), "--seconds", str(seconds), "--spin-ns", str(spin_ns)]
    if icount:
        # On an ordinary guest this would measure its noise.
        words.append("--characterise")
    console = out / "console"
    accel = "tcg" if icount else choose_accel(kernel)
    outcome = measure(kernel, words, out, console, icount=icount, limit_s=LIMIT_S, accel=accel)
    if outcome.exit_status != 0:
        why = outcome.failure or f"it ended with status {outcome.exit_status}"
        raise SpekError(f"{kernel.release}: {why}; its console is {console}")
    return Times.read(out)


def share(values: list[float], part: float) -> float:
    """A percentile."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def responses(requests: list[Served], seen: str) -> list[float]:
    """How much longer spek saw its requests take than the core, as a share of the core's time."""
    waiting: dict[tuple[int, bool], list[Served]] = {}
    for request in requests:
        waiting.setdefault((request.lba, request.write), []).append(request)
    excess = []
    for row in fields_of(seen, "spek_io_complete"):
        request = waiting[int(row["sector"]), row["op"] == "write"].pop(0)
        modelled_ns = request.end_ns - request.arrival_ns
        excess.append((int(row["service_ns"]) - modelled_ns) / modelled_ns)
    return excess


def report(title: str, unit: str, times: Times, window: int) -> bool:
    """Print what a guest found. Return: false if module and core disagree."""
    requests, late = served(times.drive_trace, times.drive)
    expected = simulated(file.load(MODEL), core.Rule("sptf", window=window), requests)
    equal = sum(
        request == expectation for request, expectation in zip(requests, expected, strict=True)
    )
    excess = responses(requests, times.spek_trace)
    near = sum(abs(relative) <= NEAR for relative in excess) / len(excess)
    lateness = [share([float(ns) for ns in late], part) for part in (0.5, 0.99, 1)]
    times_ns = [request.end_ns - request.arrival_ns for request in requests]
    on_time = sum(ns <= NEAR * whole for ns, whole in zip(late, times_ns, strict=True)) / len(late)
    print(f"{title}: {len(requests)} requests, {', '.join(LOADS)}")
    print(f"  all times of module and core in userspace equal to the ns: {equal}")
    print(
        "  completion after the model's end, p50 p99 max: "
        f"{lateness[0]:,.0f} {lateness[1]:,.0f} {lateness[2]:,.0f} {unit}"
    )
    print(f"  requests whose time, as the drive completed them, is within 2 %: {on_time:.2%}")
    print(
        f"  requests whose time, as spek saw it, is within 2 % of the core's: {near:.2%}"
        f" of {len(excess)} (p50 {share(excess, 0.5):+.3%}, p99 {share(excess, 0.99):+.3%})"
    )
    return equal == len(requests)


def report_characterised(deviations: dict[str, Deviation]) -> bool:
    """Print how far measured drives are off their models. Return: false if one is too far."""
    for name, off in deviations.items():
        zones = "other than the model's" if off.zones else "exact"
        print(
            f"  {name} characterised: period within {off.period:.1e}, seek curve within"
            f" {off.seek:.2%}, heads and zones {zones}"
        )
    return all(
        off.period <= OFF_PERIOD and off.seek <= OFF_SEEK and not off.zones
        for off in deviations.values()
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="make drive-times ARGS=...", description=__doc__)
    parser.add_argument("--kernel", default="6.12", help="default: %(default)s")
    parser.add_argument(
        "--requests", type=int, default=2000, help="of each load; default: %(default)s"
    )
    parser.add_argument(
        "--seconds", type=int, default=3600, help="of the long run; default: %(default)s"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "drive-times", metavar="DIR")
    arguments = parser.parse_args()
    try:
        kernel = find_kernel(arguments.kernel, installed=False)
        good = True
        for name, title, unit, spin_ns in (
            ("icount", "counting instructions", "instructions", 0),
            ("clock", "ordinary guest", "ns", 0),
            ("early", f"ordinary guest, timer {SPIN_NS // 1000} us early", "ns", SPIN_NS),
        ):
            out = (arguments.out / f"{kernel.label}-{name}").resolve()
            icount = name == "icount"
            seconds = arguments.seconds if icount else 0
            times = boot(kernel, icount, arguments.requests, seconds, spin_ns, out)
            good = report(title, unit, times, times.window) and good
            if seconds:
                begin, end = (os.stat(mark).st_ctime for mark in long_marks(out))
                print(
                    f"  {seconds * RATE:,} requests at {RATE}/s, {times.long_ns / 1e9:,.0f} s of"
                    f" the guest's time: {end - begin:.1f} s here,"
                    f" {times.long_busy_ns / (seconds * RATE):,.0f} instructions per request"
                )
            good = report_characterised(times.characterised) and good
    except SpekError as error:
        print(f"drive-times: {error}", file=sys.stderr)
        return 1
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
