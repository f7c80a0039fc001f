# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares devices with the state of an earlier run, and reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from spekctl.block.device import Device
from spekctl.documents.verify import VerifyReport
from spekctl.errors import ExitCode, UsageError
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import RunState, VerifyInfo
from spekctl.run import ending, job, verify, verify_state
from spekctl.run.claim import claim
from spekctl.run.holding import Holding
from spekctl.run.progress import Progress
from spekctl.run.verify_state import SavedState
from spekctl.workload.config import DeviceNumber


def check(
    kernel: Kernel,
    path: Path,
    state: SavedState,
    devices: Sequence[Device],
    backend: str,
    cpu: int,
    progress: Progress,
    interrupts: job.Interrupts,
) -> VerifyReport:
    """Read every block of @devices that could have been written, and compare."""
    verify_state.check_devices(path, state, devices)
    parts = verify_state.parts_of(state, path)
    grain = state.grain_bytes
    spans = [
        verify.Span(index, device.map_start, span)
        for index, device in enumerate(state.devices)
        if (span := min(device.map_bytes, device.facts.bytes - device.map_start) // grain * grain)
        > 0
    ]
    if not spans:
        raise UsageError(f"{path} covers no writable block")
    spans, skipped = verify.without_offline(spans, devices, grain, lambda: parts)
    if not spans:
        raise UsageError(f"{path} covers nothing that can be read: its zones are offline")
    base = structs.replace(
        state.config,
        seed=state.seed,
        cpus=[cpu],
        backend=backend,
        polled=False,
        targets=[DeviceNumber(device.major, device.minor, device.diskseq) for device in devices],
    )
    runs = verify.reads_of(verify.pass_config(base, spans, grain), spans, grain)
    first = structs.replace(runs[0], stamp_id=state.stamp_id)
    # One claim for all runs of the pass: nobody writes to the devices between two of them.
    with Holding(kernel, devices, interrupts) as held:
        handle = claim(kernel, first, devices, interrupts, held.claim)
        try:
            info = kernel.run_get(handle)
            facts = [
                device.facts(target.diskseq)
                for device, target in zip(devices, info.targets, strict=True)
            ]
            for part in parts:
                kernel.map_set(handle, part)
            blocks = sum(
                span.readable // state.devices[span.target].facts.logical_block for span in spans
            )
            passed = verify.final_pass(kernel, runs, facts, blocks, progress, interrupts, handle)
            if kernel.run_get(handle).state is RunState.DONE:
                kernel.run_delete(handle)
        except BaseException:
            ending.abandon(kernel, handle)
            raise
    return VerifyReport(
        written=state.created,
        ok=passed.complete and not passed.info.mismatches,
        text=verify.sentence(passed.info.mismatches, passed.complete, passed.trouble, skipped)
        + _lost(state, passed.info),
        stamp_id=state.stamp_id,
        grain_bytes=grain,
        targets=facts,
        counts=verify.counts_of(passed.info),
        complete=passed.complete,
        first=passed.wrong,
    )


def _lost(state: SavedState, info: VerifyInfo) -> str:
    """A remark on blocks that lost a write, by the log of a run that a power cut ended."""
    lost = info.stale + info.unstamped
    if not state.config.verify_newer or not lost:
        return ""
    return f"; a write that was acknowledged and flushed is gone from {lost:,} of them"


def exit_code_of(report: VerifyReport, interrupts: job.Interrupts) -> ExitCode:
    """The exit code of a report."""
    if report.counts.mismatches:
        return ExitCode.DATA_ERRORS
    if interrupts.count:
        return interrupts.exit_code
    return ExitCode.OK if report.ok else ExitCode.RUN_FAILED
