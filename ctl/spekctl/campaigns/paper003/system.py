# SPDX-License-Identifier: GPL-2.0-or-later
"""A storage system of modelled drives under a list of requests: times, modes, watts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spekctl.documents.drive import StudySystem
from spekctl.drive.core import RESULT, SCALE, Rule, Simulation
from spekctl.drive.energy import MODES, modes_of
from spekctl.drive.model import MOST_ARMS, Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESULTS = np.dtype(
    [
        *((name, "<u8") for name in ("number", "arrival_ns", "lba", "start_ns", "end_ns")),
        *((name, "<u8") for name in ("overhead_ns", "seek_ns", "rotate_ns", "transfer_ns")),
        *((name, "<u4") for name in ("sectors", "write", "arm", "error")),
    ]
)
assert RESULTS.itemsize == RESULT.size
# Edges of the curves: 0.5 to 500 ms in steps of a tenth of a decade; a turn in 60 parts.
EDGES_MS = tuple(round(0.5 * 10 ** (step / 10), 3) for step in range(31))
ROTATION_EDGES_MS = tuple(round(step * 0.5, 1) for step in range(31))
# A queue that has grown by so much at the end has no steady state.
GROWN = 5.0
PILOT = 8000


@dataclass(frozen=True, slots=True)
class Choice:
    """What is varied besides the drive itself."""

    seek_scale: float = 1.0
    rotation_scale: float = 1.0
    seed: int = 1
    lost: int | None = None  # the arm that fails when half of the requests have arrived


def run(
    name: str,
    model: Model,
    streams: Sequence[tuple[Any, NDArray[Any]]],
    count: int,
    choice: Choice,
) -> StudySystem:
    """Serve @streams, one for each drive, which are parts of @count requests."""
    if count > PILOT:
        first = [(parts[of < PILOT], of[of < PILOT]) for parts, of in streams]
        pilot = _run(name, model, first, PILOT, choice)
        if pilot.saturated:
            return pilot
    return _run(name, model, streams, count, choice)


def _run(
    name: str,
    model: Model,
    streams: Sequence[tuple[Any, NDArray[Any]]],
    count: int,
    choice: Choice,
) -> StudySystem:
    generator = np.random.default_rng(choice.seed)
    # If the drive loses an arm, only the requests after that count.
    first = count // 2 if choice.lost is not None else 0
    arrivals = np.zeros(count, np.uint64)
    ends = np.zeros(count, np.uint64)
    drives, accesses = [], []
    for parts, of in streams:
        rule = Rule(
            "sptf",
            seek_scale=round(choice.seek_scale * SCALE),
            rotation_scale=round(choice.rotation_scale * SCALE),
            # Each drive turns on its own.
            phase=int(generator.integers(0, 2**64, dtype=np.uint64)),
        )
        drive = Simulation(model, rule)
        drives.append(drive)
        results = drive.feed(parts[of < first].tobytes())
        if choice.lost is not None:
            drive.fail_arm(choice.lost)
        results += drive.feed(parts[of >= first].tobytes()) + drive.drain()
        served = np.frombuffer(results, RESULTS)
        np.maximum.at(ends, of[served["number"]], served["end_ns"])
        arrivals[of] = parts["arrival_ns"]
        accesses.append(served[of[served["number"]] >= first])
    response_ms = ((ends - arrivals) / 1e6)[first:]
    counted = np.concatenate(accesses)
    rotation_ms = counted["rotate_ns"] / 1e6
    accounts = [drive.account(int(ends.max())) for drive in drives]
    seconds = accounts[0].now_ns / 1e9
    watts = {}
    for profile in model.profiles:
        shown = model.with_profile(profile)
        modes = [modes_of(shown, account) for account in accounts]
        watts[profile] = {
            mode: sum(drive[mode].joules for drive in modes) / seconds for mode in MODES
        }
    tenth = max(1, len(response_ms) // 10)
    early, late = response_ms[:tenth].mean(), response_ms[-tenth:].mean()
    return StudySystem(
        name=name,
        arms=len(model.arm_angles),
        rpm=round(model.rpm),
        drives=len(streams),
        seek_scale=choice.seek_scale,
        rotation_scale=choice.rotation_scale,
        saturated=bool(late > GROWN * early and late > 200),
        mean_ms=float(response_ms.mean()),
        p50_ms=float(np.percentile(response_ms, 50)),
        p90_ms=float(np.percentile(response_ms, 90)),
        p99_ms=float(np.percentile(response_ms, 99)),
        seek_ms=float(counted["seek_ns"].mean() / 1e6),
        rotation_ms=float(rotation_ms.mean()),
        moved=float((counted["seek_ns"] > 0).mean()),
        cdf=[float((response_ms <= edge).mean()) for edge in EDGES_MS],
        rotation_pdf=[
            float(number) / len(counted)
            for number in np.histogram(rotation_ms, ROTATION_EDGES_MS)[0]
        ],
        watts=watts,
        hits=float((counted["arm"] >= MOST_ARMS).mean()),
        errors=int((counted["error"] > 0).sum()),
    )
