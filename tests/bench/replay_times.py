# SPDX-License-Identifier: GPL-2.0
"""How well a replay keeps its times: `make replay-times`. Boots a guest that counts instructions.

The feed: instructions per record, in the kernel and with spekctl's feeder, and the underruns of
a replay at 200,000 requests/s on that one CPU of 10^9 instructions/s. Slip: spek and fio replay one
trace on an idle device of 1 ms; when requests are issued says the block layer's tracepoint.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from bench.figures import slope
from bench.measuring import ROOT, measure
from bench.replay_times_guest import FAST_RATE, FIO_ENGINES, MESSAGES, SLOW_RATE, Found

from spekctl.errors import SpekError
from spekctl.vm.kernels import Kernel, find_kernel

LIMIT_S = 1200.0
BETTER = 10  # times that fio's p99 of slip is at least larger
RATE = 1_000_000  # records/s that are at least fed by such a CPU as is ordinary today
ORDINARY = 2e9  # instructions/s, few for it


def boot(kernel: Kernel, requests: int, out: Path) -> Found:
    """Measure in a guest; what it found."""
    out.mkdir(parents=True, exist_ok=True)
    answers = out / f"{kernel.label}.json"
    console = answers.with_suffix(".console")
    words = ["bench.replay_times_guest", "--out", str(answers), "--requests", str(requests)]
    outcome = measure(kernel, words, out, console, icount=True, limit_s=LIMIT_S)
    if outcome.exit_status != 0:
        why = outcome.failure or f"it ended with status {outcome.exit_status}"
        raise SpekError(f"{kernel.release}: {why}; its console is {console}")
    return msgspec.json.decode(answers.read_bytes(), type=Found)


def slips_us(due_us: Sequence[int], issued_us: Sequence[int]) -> list[int]:
    """How late each request was issued, from the one that was earliest, sorted: when a replayer
    starts is its own choice."""
    late = [issued - due for due, issued in zip(due_us, issued_us, strict=True)]
    return sorted(delay - min(late) for delay in late)


def percentile(ordered: Sequence[int], part: float) -> int:
    """Of sorted values."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def report_feed(findings: Found) -> bool:
    """Print what feeding costs. Return: whether it is fast enough."""
    whole = slope(findings.fed_ns, "the feeder")
    in_kernel = slope(findings.message_ns, "messages") / MESSAGES
    rate = ORDINARY / whole
    print(f"  feeding a record: {whole:,.0f} instructions, {in_kernel:,.0f} of them in the kernel")
    print(
        f"  records/s of a CPU of {ORDINARY / 1e9:g} * 10^9 instructions/s: {rate:,.0f}"
        f" (at least {RATE:,})"
    )
    slip = ", ".join(f"{name} {ns / 1000:,.1f} us" for name, ns in findings.fast_slip_ns.items())
    print(
        f"  {findings.fast_issued:,} requests at {FAST_RATE:,}/s on a CPU of 10^9:"
        f" {findings.fast_underruns} underruns; slip {slip}"
    )
    return rate >= RATE and not findings.fast_underruns


def report_slip(findings: Found) -> bool:
    """Print how late requests were. Return: whether fio's are late enough."""
    print(
        f"  {len(findings.due_us):,} requests at {SLOW_RATE}/s, random times, on a device of 1 ms;"
        " us late, p50 p99 max"
    )
    p99 = {}
    for replay in findings.issued:
        late = slips_us(findings.due_us, replay.us)
        p99[replay.replayer] = percentile(late, 0.99)
        shown = "".join(f"{percentile(late, part):>10,}" for part in (0.5, 0.99, 1))
        print(f"    {replay.replayer:<14}{shown}")
    # Times are in us, so 0 is anything below.
    ratio = min(p99[f"fio {engine}"] for engine in FIO_ENGINES) / max(p99["spek"], 1)
    print(f"  p99 of fio's best to that of spek: {ratio:,.0f} (at least {BETTER})")
    return ratio >= BETTER


def main() -> int:
    """Measure and print. Exit code 1 if a limit is missed."""
    parser = argparse.ArgumentParser(prog="make replay-times ARGS=...", description=__doc__)
    parser.add_argument("--kernel", default="6.12", help="default: %(default)s")
    parser.add_argument(
        "--requests", type=int, default=1000, help="of the slow trace; default: %(default)s"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "replay-times", metavar="DIR")
    arguments = parser.parse_args()
    try:
        kernel = find_kernel(arguments.kernel, installed=False)
        findings = boot(kernel, arguments.requests, arguments.out.resolve())
    except SpekError as error:
        print(f"replay-times: {error}", file=sys.stderr)
        return 1
    print(f"{kernel.release}, counting instructions:")
    good = report_feed(findings)
    return 0 if report_slip(findings) and good else 1


if __name__ == "__main__":
    sys.exit(main())
