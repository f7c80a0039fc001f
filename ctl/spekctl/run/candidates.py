# SPDX-License-Identifier: GPL-2.0-or-later
"""Which block devices can be tested, how, and who holds the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spekctl.block import device, safety
from spekctl.errors import SpekError
from spekctl.kernel import client
from spekctl.kernel.records import ClaimInfo, RunInfo


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block device as `spekctl devices` lists it."""

    path: str
    bytes: int
    logical_block: int
    model: str
    id: str  # what --destroy takes
    serial: str
    wwn: str
    driver: str
    partition_of: str | None
    read_only: bool
    in_use: str  # why it cannot be tested; empty if it can
    open_for_writing: list[str]
    data: list[str] | None  # signatures; None: somebody uses or writes it, or it cannot be read
    state: str  # permitted use, as a sentence
    atomic_min: int = 0  # bytes of the smallest and of the largest atomic write; 0: there are none
    atomic_max: int = 0


def every(everything: bool = False) -> list[Candidate]:
    """All block devices; with @everything also RAM disks, drives without a medium and the like."""
    runs, claims = runs_and_claims()
    opened = list(safety.opened_devices())
    rows = []
    for candidate in device.every(everything=everything):
        in_use = safety.verdict(candidate, runs=runs, claims=claims)
        writers = safety.writers(candidate, opened)
        # Never read a disk that a run measures, or that somebody uses: it would be in their way. Of
        # a program that has it open for writing, it would write out all pages.
        data = None if in_use or writers else safety.data_on(candidate)
        atomic = device.atomic_units(candidate)
        rows.append(
            Candidate(
                path=candidate.node,
                bytes=candidate.bytes,
                logical_block=candidate.logical_block,
                model=candidate.model or candidate.driver,
                id=candidate.identity,
                serial=candidate.serial,
                wwn=candidate.wwn,
                driver=candidate.driver,
                partition_of=candidate.disk if candidate.partition else None,
                read_only=candidate.read_only,
                in_use=in_use,
                open_for_writing=writers,
                data=None if data is None else [str(signature) for signature in data],
                state=_state(in_use, safety.unwritable(candidate), writers, data),
                atomic_min=atomic[0],
                atomic_max=atomic[1],
            )
        )
    return rows


def runs_and_claims() -> tuple[list[RunInfo], list[ClaimInfo]]:
    """Those of spek, if the module is loaded and lists them."""
    try:
        kernel = client.connect()
    except (SpekError, OSError):
        return [], []
    try:
        return kernel.runs(), kernel.claims()
    except SpekError:
        return [], []
    finally:
        kernel.close()


def _state(
    in_use: str, unwritable: str, writers: Sequence[str], signatures: Sequence[object] | None
) -> str:
    """Permitted use of the device, in one sentence."""
    if in_use:
        return f"no: {in_use}"
    if unwritable:
        return f"reading (it {unwritable})"
    if writers:
        return f"reading at most: {'; '.join(writers)}"
    if signatures is None:
        return "reading; only root can see whether it holds data"
    if signatures:
        listed = ", ".join(str(signature) for signature in signatures[:2])
        more = f" and {len(signatures) - 2} more" if len(signatures) > 2 else ""
        return f"reading; writing with --destroy (it holds {listed}{more})"
    return "reading and writing"
