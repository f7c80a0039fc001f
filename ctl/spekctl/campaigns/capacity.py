# SPDX-License-Identifier: GPL-2.0-or-later
"""Capacity optimization: bytes written against bytes stored, as in Emerald's heuristics.

Three data sets of the same size are written, each to a place of its own that was discarded before:
an irreducible one, a compressible one, and one whose blocks repeat. A device with compression or
deduplication stores fewer bytes of the second or the third. Then the first data set is discarded,
and with dm-thin a snapshot is taken and a quarter of the data rewritten.

The shares by which a method is judged are parameters here, not quoted from a standard.

A pool that runs full fails all its volumes, so a test that could fill it is refused.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from spekctl import units
from spekctl.block import stored as block_stored
from spekctl.block.device import Device, queue_attribute
from spekctl.block.stored import Stored
from spekctl.campaigns.benchmark import Disks
from spekctl.campaigns.campaign import SECOND, View
from spekctl.documents.energy import (
    CAPACITY_NOTICE,
    CapacityMethod,
    CapacityReport,
    CapacityStep,
)
from spekctl.errors import CalledOffError, SpekError, UsageError
from spekctl.kernel.client import Kernel
from spekctl.run import request as run_request
from spekctl.run.holding import Holding
from spekctl.run.job import Interrupts, Request
from spekctl.run.measure import measure as run_measure
from spekctl.workload.model import Arrival, Header, Stream, WorkloadFile

BLOCK = 256 << 10
DEPTH = 8
COMPRESSIBLE = DUPLICATE = "75%"
QUARTER = 4
NO_DISCARDS = (
    "the device cannot discard: new data in place of old data take no more space, which looks like"
    " compression or deduplication"
)
SETS = ("irreducible", "compressible", "repeating")
# Shares of the irreducible data: least space that they take, most space that a snapshot takes.
_ALLOCATED = Fraction(9, 10)
_SNAPSHOT = Fraction(1, 40)

Verdict = Literal["yes", "no", "not tested"]
# Writes or discards: the name of a data set, "discard" or "rewrite"; first byte; bytes.
Send = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """@size: bytes of a data set; @least_percent: saving that shows a method; @unit: bytes of a
    discard; 0: the device cannot discard."""

    size: int
    least_percent: int
    unit: int

    @property
    def discards(self) -> bool:
        """The device can discard."""
        return self.unit > 0


def unit_of(device: Device) -> int:
    """Bytes of a discard: of less than its granularity a device discards nothing."""
    text = queue_attribute(device, "discard_granularity")
    return math.lcm(BLOCK, int(text) if text.isdecimal() and int(text) else BLOCK)


def check(device: Device, size: int, unit: int = BLOCK) -> None:
    """UsageError for data sets that do not fit, or not in units of discards."""
    step = QUARTER * (unit or BLOCK)
    if size % step or size <= 0:
        raise UsageError(
            f"--size must be a multiple of {units.format_bytes(step)}, and more than 0, not"
            f" {size} bytes"
        )
    if len(SETS) * size > device.bytes:
        raise UsageError(
            f"{len(SETS)} data sets of {size} bytes do not fit on {device.path}, which has"
            f" {device.bytes} bytes; give a smaller --size"
        )


def check_room(source: Stored, size: int) -> None:
    """UsageError if the pool below could run full. What the test discards first is not counted."""
    if source.free is None:
        return
    free, needed = source.free(), len(SETS) * size + (size // QUARTER if source.thin else 0)
    if free < needed:
        raise UsageError(
            f"the pool has {free} bytes left, and the test could take {needed} of them; give a"
            " smaller --size"
        )


def load_of(name: str, start: int, size: int, block: int = BLOCK) -> WorkloadFile:
    """The workload that writes a data set, or discards its place."""
    where = {"pattern": "sequential", "start": start, "range": size, "size": block}
    kinds = {
        "discard": {"operation": "discard"},
        "compressible": {"read": "0%", "compressible": COMPRESSIBLE},
        "repeating": {"read": "0%", "compressible": "0%", "duplicate": DUPLICATE},
    }
    keys = kinds.get(name, {"read": "0%", "compressible": "0%"})
    return WorkloadFile(
        workload=Header(name=f"capacity-{name}", summary=f"Capacity optimization: {name}"),
        stream=[Stream(name="main", **{**where, **keys})],  # type: ignore[arg-type]
        arrival=[Arrival(name="main", law="closed", depth=DEPTH)],
    )


def measure(plan: Plan, source: Stored, send: Send) -> list[CapacityStep]:
    """All steps, each with what was stored before and after it."""
    steps: list[CapacityStep] = []

    def step(name: str, written: int, act: Callable[[], object]) -> None:
        before = source.read()
        act()
        steps.append(CapacityStep(name, written, before, source.read()))

    size = plan.size
    if plan.discards:
        step("discard all", 0, lambda: send("discard", 0, len(SETS) * size))
    for index, name in enumerate(SETS):
        step(name, size, lambda name=name, index=index: send(name, index * size, size))  # type: ignore[misc]
    if source.thin is not None:
        steps += _snapshot(plan, source, send)
    if plan.discards:
        step("discard", 0, lambda: send("discard", 0, size))
    return steps


def _snapshot(plan: Plan, source: Stored, send: Send) -> list[CapacityStep]:
    assert source.thin is not None
    before = source.read()
    with block_stored.snapshot(source.thin):
        taken = source.read()
        send("rewrite", 0, plan.size // QUARTER)
        rewritten = source.read()
    return [
        CapacityStep("snapshot", 0, before, taken),
        CapacityStep("rewrite", plan.size // QUARTER, taken, rewritten),
    ]


def judge(steps: Sequence[CapacityStep], least_percent: int, parity: str) -> list[CapacityMethod]:
    """The verdict on each method."""
    grown = {step.name: step.stored_after - step.stored_before for step in steps}
    written = next(step.written for step in steps if step.name == "irreducible")
    whole = grown["irreducible"]
    return [
        _saving("compression", "compressible", grown, written, least_percent),
        _saving("deduplication", "repeating", grown, written, least_percent),
        _thin(grown, written),
        _delta(grown, whole, written),
        CapacityMethod(
            "writeable delta snapshots", "not tested", "this test writes to no snapshot"
        ),
        CapacityMethod(
            "parity RAID",
            "yes" if parity else "not tested",
            parity
            or "no md array with parity is below the device; parity in a storage array is hidden",
        ),
    ]


def _saving(
    method: str, name: str, grown: dict[str, int], written: int, least: int
) -> CapacityMethod:
    """Data that replace other data show nothing: they need not take more space."""
    whole = grown["irreducible"]
    if whole < _ALLOCATED * written:
        return CapacityMethod(
            method,
            "not tested",
            f"{written:,} bytes of irreducible data took only {whole:,} more: they replaced other"
            " data, or are counted later",
        )
    if grown[name] < 0:
        return CapacityMethod(method, "not tested", f"the {name} data freed {-grown[name]:,} bytes")
    saved = 1 - Fraction(grown[name], whole)
    return CapacityMethod(
        method,
        "yes" if saved * 100 >= least else "no",
        f"{float(saved * 100):.1f} % less stored than of irreducible data; at least {least} % show"
        f" {method}",
    )


def _thin(grown: dict[str, int], written: int) -> CapacityMethod:
    """The first write allocates space, and a discard frees it."""
    method = "thin provisioning"
    if "discard" not in grown:
        return CapacityMethod(method, "not tested", "the device cannot discard")
    allocated, freed = grown["irreducible"], -grown["discard"]
    least = _ALLOCATED * written
    return CapacityMethod(
        method,
        "yes" if allocated >= least and freed >= least else "no",
        f"{written:,} bytes written took {allocated:,}, and their discard freed {freed:,}; at least"
        f" {int(_ALLOCATED * 100)} % each show {method}",
    )


def _delta(grown: dict[str, int], whole: int, written: int) -> CapacityMethod:
    method = "read-only delta snapshots"
    if "snapshot" not in grown:
        return CapacityMethod(method, "not tested", "the test takes snapshots of dm-thin only")
    taken, rewritten = grown["snapshot"], grown["rewrite"]
    fine = taken <= _SNAPSHOT * whole and 0 < rewritten <= Fraction(written, 2)
    return CapacityMethod(
        method,
        "yes" if fine else "no",
        f"a snapshot takes {taken:,} bytes, and {rewritten:,} when {written // QUARTER:,} of"
        f" {written:,} are rewritten",
    )


def report(
    device: Device, source: Stored, plan: Plan, steps: Sequence[CapacityStep]
) -> CapacityReport:
    """The report on all steps."""
    return CapacityReport(
        notice=CAPACITY_NOTICE,
        targets=[device.facts()],
        stored=source.what,
        size=plan.size,
        steps=list(steps),
        methods=judge(steps, plan.least_percent, block_stored.parity_of(device)),
        remarks=[
            *([] if plan.discards else [NO_DISCARDS]),
            "data sets and shares are parameters of this test, not quoted from a standard:"
            f" {COMPRESSIBLE} of the compressible set are zeroes, and {DUPLICATE} of the 4 KiB"
            " blocks of the repeating set are copies of 64 blocks",
        ],
    )


def carry_out(
    plan: Plan,
    device: Device,
    source: Stored,
    write: bool,
    destroy: Sequence[str],
    seed: int,
    kernel: Kernel,
    view: View,
) -> list[CapacityStep]:
    """Measure on a device, which is held from the first step to the last."""
    disks = Disks([device], write, destroy)

    def request(name: str, start: int, size: int) -> Request:
        shape = {"seed": seed, "workers": 1, "interval_ns": SECOND}
        block = plan.unit if name == "discard" else BLOCK
        load = disks.count(load_of(name, start, size, block), shape, size // block)
        # The report has bytes and power alone.
        return dataclasses.replace(load, power_states=None)

    first = request(SETS[0], 0, plan.size)
    run_request.check_destroy(first)
    run_request.check_write(first)
    with Interrupts() as interrupts:
        holding = Holding(
            *(kernel, [device], interrupts),
            written={(device.major, device.minor)},
            write_allowed=True,
            destroy=destroy,
        )
        with holding as held:

            def send(name: str, start: int, size: int) -> None:
                view.begin(name, 0, 0)
                wanted = request(name, start, size)
                result = run_measure(*(kernel, wanted, view, interrupts, None, None, held))
                if not result.outcome.ok or interrupts.count:
                    raise SpekError(f"{name}: {result.outcome.text}")

            try:
                return measure(plan, source, send)
            except SpekError as error:
                if not interrupts.count:
                    raise
                # Ctrl-C ends a command of --stored, too.
                text = f"interrupted; there is no report: {error.message}"
                raise CalledOffError(text, interrupts.exit_code) from error
