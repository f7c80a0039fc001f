# SPDX-License-Identifier: GPL-2.0
"""A campaign of fuzzed messages against the loaded modules, in a guest.

Disks: one that runs may write to, one that none may (netlink/socket.c sees to that) and
one that is held by somebody else. What is on the last two must not change.

    python -m fuzz.netlink_campaign MESSAGES [SEED [FEED [THREADS]]]

loads the modules, runs a campaign and unloads them; make fuzz-netlink does that in a guest.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lib.guest.disks import make_null, remove_null
from lib.guest.modelled import SMALL
from lib.guest.modules import load, orphaned_vmalloc_bytes, slab_objects, threads, unload
from lib.guest.netlink import is_gone, new, remove, state
from lib.guest.netlink_raw import Refusal, Socket
from lib.waiting import comes_true

from fuzz import netlink_build
from spekctl.kernel.drives import Making, values_of
from spekctl.kernel.gen import spek, spek_drive, spek_prober
from spekctl.kernel.gen.spek import Cmd, RunState
from spekctl.kernel.gen.spek_drive import Cmd as DriveCmd
from spekctl.kernel.gen.spek_drive import DriveState
from spekctl.kernel.gen.spek_prober import Cmd as ProberCmd
from spekctl.kernel.gen.spek_prober import ProbeState

DISK_MIB = 16
ROUND = 10_000  # messages per run of the program; longer campaigns print progress after each
ANSWERED = 6  # of a command that has to be reached
MOST = 5
MODULES = ("spek", "spek_prober", "spek_drive")
LEAKS = Path("/sys/kernel/debug/kmemleak")


class Broken(AssertionError):
    """An invariant does not hold."""


def _require(holds: object, what: str) -> None:
    if not holds:
        raise Broken(what)


class Disks:
    """The disks of a campaign."""

    def __init__(self) -> None:
        self.made = [make_null(DISK_MIB, memory_backed=1) for _ in range(3)]
        self.free, self.protected, self.held = (node for node, _item in self.made)
        # The free one, too: null_blk allocates what describes a page when it is written first, and
        # that is not to be taken for what messages leave behind.
        for number, (node, _item) in enumerate(self.made):
            Path(node).write_bytes(bytes([0xA5 + number, *range(255)]) * (DISK_MIB << 12))
        self.holder = os.open(self.held, os.O_RDONLY | os.O_EXCL)
        self.sums = self.checksums()

    def checksums(self) -> list[str]:
        """Of what must not change."""
        sums = []
        for node in (self.protected, self.held):
            os.posix_fadvise(self.holder, 0, 0, os.POSIX_FADV_DONTNEED)
            subprocess.run(["blockdev", "--flushbufs", node], check=True)
            sums.append(hashlib.sha256(Path(node).read_bytes()).hexdigest())
        return sums

    def numbers(self) -> list[str]:
        """MAJOR PROTECTED MINOR..., for the program; one disk that there isn't is among them."""
        device = [os.stat(node).st_rdev for node in (self.free, self.protected, self.held)]
        minors = [os.minor(number) for number in device]
        weighted = [*[minors[0]] * 9, *minors, 1 << 19]
        return [str(part) for part in (os.major(device[0]), minors[1], *weighted)]

    def close(self) -> None:
        os.close(self.holder)
        for _node, item in self.made:
            remove_null(item)


@contextmanager
def disks() -> Iterator[Disks]:
    """The disks, as long as the with block."""
    targets = Disks()
    try:
        yield targets
    finally:
        targets.close()


def clean_up() -> None:
    """End what outlives its socket by intention: detached runs and probes, and drives."""
    with Socket(spek) as nl:
        while (left := nl.dump(Cmd.RUN_GET)).interrupted:
            pass
        for run in left.values:
            remove(nl, run["id"])
        _require(
            comes_true(lambda: not nl.dump(Cmd.RUN_GET).messages, 60),
            "runs are left that nobody has",
        )
    with Socket(spek_prober) as nl:
        _require(comes_true(lambda: no_probe(nl), 60), "a probe is left that nobody has")

    with Socket(spek_drive) as nl:
        _require(comes_true(lambda: no_drives(nl), 120), "a drive is left that nobody has")


def no_drives(nl: Socket) -> bool:
    """True if there are no drives; deletes those that there are."""
    left = nl.dump(DriveCmd.DRIVE_GET).values
    for drive in left:
        if drive["state"] != DriveState.DELETING:
            with suppress(Refusal):  # it is being deleted meanwhile
                nl.ask(DriveCmd.DRIVE_DEL, id=drive["id"])
    return not left


def no_probe(nl: Socket) -> bool:
    """True if there is no probe; takes the one that there is a step nearer to its end."""
    (probe,) = nl.ask(ProberCmd.PROBE_GET).values
    state = ProbeState(probe["state"])
    step = {ProbeState.RUNNING: ProberCmd.PROBE_STOP, ProbeState.DONE: ProberCmd.PROBE_DEL}
    if state in step:
        with suppress(Refusal):  # it has just gone on by itself
            nl.ask(step[state], id=probe["id"])
    return state is ProbeState.IDLE


def check_it_works(node: str) -> None:
    """A run, a probe and a drive as if nothing had been."""
    with Socket(spek) as nl:
        run = new(
            nl,
            node,
            time_ns=None,
            count=100,
            asu=[{"bytes": DISK_MIB << 20, "extent": [{"target": 0, "start": 0}]}],
            stream=[stream()],
        )
        nl.ask(Cmd.RUN_START, id=run)
        _require(comes_true(lambda: state(nl, run) is RunState.DONE, 60), "a run does not end")
        cells = nl.dump(Cmd.STATS_GET, run=run).values
        measured = [cell for cell in cells if cell["phase"] == 1 and "ios" in cell]
        _require(measured and measured[0]["ios"] == 100, f"a run of 100 I/Os counts {cells}")
        nl.ask(Cmd.RUN_DEL, id=run)
        _require(comes_true(lambda: is_gone(nl, run), 60), "a deleted run is still there")
    with Socket(spek_prober) as nl:
        probe = nl.ask(ProberCmd.PROBE_START, interval_ns=10_000_000).values[0]["id"]
        _require(
            comes_true(lambda: bool(nl.dump(spek_prober.Cmd.SAMPLE_GET, probe=probe).messages)),
            "a probe takes no rows",
        )
    with Socket(spek_drive) as nl:
        drive = nl.ask(DriveCmd.DRIVE_NEW, **values_of(SMALL, Making())).values[0]["id"]
        _require(
            comes_true(lambda: drive_state(nl, drive) is DriveState.READY), "a drive has no disk"
        )
        _require(comes_true(lambda: no_drives(nl)), "a deleted drive is still there")


def drive_state(nl: Socket, drive: int) -> DriveState:
    """State of a drive."""
    return DriveState(nl.ask(DriveCmd.DRIVE_GET, id=drive).values[0]["state"])


def stream() -> dict[str, Any]:
    """Reads of 4 KiB anywhere on the disk."""
    return {
        "asu": 0,
        "arrival": 0,
        "read_ppm": 1_000_000,
        "pattern": 0,
        "range_bytes": DISK_MIB << 20,
        "align_bytes": 4096,
        "size": [{"bytes": 4096, "weight": 1}],
    }


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign sends.

    @feed: per cent of the messages that are to feed traces, beside the usual ones
    @accepted: so many of those have to find a run that takes them, which depends on how the threads
        of the program meet; up to MOST times as many messages are sent for it
    @fed: likewise, records that they bring
    @commands: likewise, each of these has to be answered ANSWERED times
    """

    messages: int
    seed: int = 1
    feed: int = 0
    threads: int = 4
    accepted: int = 0
    fed: int = 0
    commands: tuple[str, ...] = field(default=(), kw_only=True)

    def is_met(self, counts: dict[str, Any]) -> bool:
        """Whether enough was reached."""
        accepted, fed = counts["replies"]["trace-feed"], counts["fed"]
        answered = all(counts["replies"][command] >= ANSWERED for command in self.commands)
        return bool(accepted >= self.accepted and fed >= self.fed and answered)


def send(targets: Disks, plan: Plan) -> dict[str, Any]:
    """Run the program once. Return: its counts."""
    numbers = (plan.messages, plan.seed, plan.threads, plan.feed)
    command = [str(netlink_build.program()), *map(str, numbers)]
    # Messages start many runs with busy workers, which must not starve the threads that start and
    # stop kernel threads for the modules: while the only probe is stopping, none can start.
    command = ["nice", "-n", "-5", *command, *targets.numbers()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    _require(done.returncode == 0, f"exit code {done.returncode}\n{done.stderr}\n{done.stdout}")
    counts: dict[str, Any] = json.loads(done.stdout)
    return counts


def add(total: dict[str, Any], counts: dict[str, Any]) -> None:
    """Add counts, and those in them, to @total."""
    for name, number in counts.items():
        if isinstance(number, dict):
            add(total.setdefault(name, {}), number)
        else:
            total[name] = total.get(name, 0) + number


def leaks() -> str:
    """What the kernel's own detector of leaks has found of the modules, where there is one."""
    if not LEAKS.exists():
        return ""
    for _ in range(2):  # what is seen once may be in a register
        LEAKS.write_text("scan")
        time.sleep(6)
    return "\n".join(
        block
        for block in LEAKS.read_text().split("unreferenced object")
        if any(f"[{module}]" in block for module in MODULES)
    )


@contextmanager
def loaded() -> Iterator[None]:
    """The modules, which must go when they are asked to; whatever has failed, they are asked."""
    folder = Path(os.environ["SPEK_MODULES"])
    subprocess.run(["modprobe", "sd_mod"], check=True)
    for module in MODULES:
        load(folder / f"{module}.ko")
    try:
        yield
    except BaseException:
        with suppress(AssertionError):
            clean_up()
        for module in MODULES:
            comes_true(partial(unload, module), 60)
        raise
    for module in MODULES:
        _require(comes_true(partial(unload, module), 60), f"{module} does not unload")
        _require(not threads(module.replace("_", "-")), f"{module} leaves threads behind")


def campaign(plan: Plan) -> dict[str, Any]:
    """Load, send, check, unload, check. Return: counts; raises Broken."""
    with disks() as targets:
        orphaned = orphaned_vmalloc_bytes()
        with loaded():
            counts = send_and_check(targets, plan)
        _require(orphaned_vmalloc_bytes() == orphaned, "vmalloc memory has no owner any more")
        grown = counts["slab growth"]
        _require(not excess(grown, plan.messages), f"slab caches have grown: {grown}")
        _require(not (leaked := leaks()), f"leaks:\n{leaked}")
    return counts


def send_and_check(targets: Disks, plan: Plan) -> dict[str, Any]:
    """The part with the modules in the kernel. Return: counts."""
    messages = plan.messages
    # What is made once, and stays, is made here.
    send(targets, replace(plan, messages=min(messages, ROUND) // 20 + 100, seed=plan.seed + 1))
    clean_up()
    before = slab_objects()
    started = time.monotonic()
    counts: dict[str, Any] = {}
    sent = 0
    while sent < messages or (sent < MOST * messages and not plan.is_met(counts)):
        size = min(ROUND, messages - sent) if sent < messages else ROUND
        add(counts, send(targets, replace(plan, messages=size, seed=plan.seed + sent)))
        sent += size
        # Not at the end only: detached runs of a million messages would not fit in memory.
        clean_up()
        if messages > ROUND:
            seconds = time.monotonic() - started
            done = f"{counts['sent']} of {messages} messages, {counts['fed']} records fed"
            print(f"{done}, {seconds:.0f} s", flush=True)
    counts["seconds"] = round(time.monotonic() - started, 1)
    check_it_works(targets.free)
    _require(targets.checksums() == targets.sums, "a disk has changed that nobody may write to")
    counts["slab growth"] = growth(before, messages)
    return counts


def growth(before: dict[str, int], messages: int) -> dict[str, int]:
    """Caches with more objects than before, and how many more; waits for those that go.

    A disk's last users, as udev with its links, let go of it when it is long gone.
    """
    grown: dict[str, int] = {}

    def has_settled() -> bool:
        after = slab_objects()
        grown.clear()
        grown.update({name: after[name] - number for name, number in before.items()})
        return not excess(grown, messages)

    comes_true(has_settled, 60)
    return {name: number for name, number in grown.items() if number > 100}


def excess(grown: dict[str, int], messages: int) -> dict[str, int]:
    """Caches that have grown by an object for a hundred messages, which would be one for most
    runs, and what else a kernel does meanwhile."""
    return {name: number for name, number in grown.items() if number >= messages / 100 + 1000}


def main(words: list[str]) -> int:
    """Exit code 0: all invariants hold."""
    from lib.harness.inside import TROUBLE, Messages

    kernel = Messages()
    kernel.mark("netlink fuzz")
    plan = Plan(*(int(word, 0) for word in words))
    failure = ""
    try:
        print(json.dumps(campaign(plan), indent=1), flush=True)
    except Broken as broken:
        failure = str(broken)
    reports = [line for line in kernel.read() if TROUBLE.search(line)]
    print(f"kernel reports: {len(reports)}", *reports, sep="\n")
    print(f"FAILED: {failure}" if failure else "all invariants hold")
    return int(bool(failure or reports))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
