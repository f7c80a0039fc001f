# SPDX-License-Identifier: GPL-2.0-or-later
"""The persistence test: written data survive detaching the devices.

A quarter of the load writes stamped blocks for a while and everything is read back. Then the
devices are detached and attached again, by a command of the user's or by hand between two calls,
and everything is read back once more, against the file that says what was written.
"""

from __future__ import annotations

import dataclasses
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from spekctl import files
from spekctl.block import device
from spekctl.block.device import Device
from spekctl.campaigns.campaign import View
from spekctl.campaigns.spc1.plan import position_of
from spekctl.campaigns.spc1.test import Spc1Test
from spekctl.documents.spc1 import MINUTE, SECOND, Persistence, Step
from spekctl.documents.verify import VerifyReport
from spekctl.errors import SpekError, UsageError, at
from spekctl.kernel.client import Kernel
from spekctl.run import job, recheck, verify, verify_state
from spekctl.run.holding import Holding
from spekctl.run.measure import measure

PERCENT = 25
STANDARD_NS = 10 * MINUTE
QUICK_NS = 20 * SECOND
STATE_FILE = "persistence.state"
WRITTEN_FILE = "persistence-written.json"
CHECKED_FILE = "persistence-checked.json"
BACK_S = 60.0


def carry_out(
    work: Spc1Test,
    connect: Callable[[], Kernel],
    view: View,
    interrupts: job.Interrupts,
    held: Holding | None,
    time_ns: int,
    reattach: str | None,
) -> bool:
    """Write, or check if writing is done. Return: False if the user ended it.

    @held: the devices, if the test before has them; they are released before they are detached
    """
    if not work.done or work.stopped():
        return True
    if work.persistence is not None and work.persistence.passed is not None:
        return True
    if work.persistence is None:
        if not _write(work, connect, view, interrupts, held, time_ns):
            return False
        if held is not None:
            held.release()
        if reattach is None:
            view.tell(
                "written; now detach the devices, or switch them off, and attach them again; then"
                f" the same command with --resume and --folder {work.folder} checks them"
            )
            return True
    if reattach is not None:
        _reattach(reattach, view)
    return _check(work, connect, view, interrupts)


def check(work: Spc1Test, time_ns: int) -> None:
    """UsageError if there is not the memory for what the test writes, before hours of measuring:
    its addresses are the same at any load."""
    _request(work, 1, time_ns)


def bsu_at(level: int) -> int:
    """The load that writes: PERCENT of the level, or more where that is no whole number."""
    return -(-level * PERCENT // 100)


def _request(work: Spc1Test, bsu: int, time_ns: int) -> job.Request:
    """The run that writes."""
    step = Step("sustain", "persistence", PERCENT, bsu, 0, time_ns)
    with at("--persistence"):
        request = work.verified_request(step)
    request = dataclasses.replace(request, power_states=work.power_states)
    return verify.with_state(request, work.folder / STATE_FILE, flag="--persistence")


def _write(
    work: Spc1Test,
    connect: Callable[[], Kernel],
    view: View,
    interrupts: job.Interrupts,
    held: Holding | None,
    time_ns: int,
) -> bool:
    level = position_of(work.parameters, work.done, work.keep_going).level
    assert level is not None
    bsu = bsu_at(level)
    view.begin(f"persistence: writing, {bsu} BSU", time_ns / 1e9, 0.0)
    request = _request(work, bsu, time_ns)
    if held is not None:
        result = measure(held.kernel, request, view, interrupts, None, held=held)
    else:
        kernel = connect()
        try:
            result = measure(kernel, request, view, interrupts, None)
        finally:
            kernel.close()
    files.write(work.folder / WRITTEN_FILE, files.encode(result))
    if interrupts.count:
        return False
    verified = result.verify
    assert verified is not None
    wrong = verified.mismatches
    if not result.outcome.ok and not wrong:
        raise SpekError(f"persistence: {result.outcome.text}")
    written = sum(cell.ios for cell in result.cells if cell.direction == "write")
    _keep(
        work,
        Persistence(
            bsu=bsu,
            time_ns=time_ns,
            writes=written,
            written=verified.load,
            read_back=verified.final,
            checked=None,
            # Data that are wrong before the devices were detached end the test.
            passed=False if wrong else None,
            text=f"before the devices were detached, {verified.text}" if wrong else "written",
        ),
    )
    return True


def _reattach(command: str, view: View) -> None:
    view.tell(f"persistence: {command}")
    done = subprocess.run(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise SpekError(f"--reattach: '{command}' ended with {done.returncode}: {last}")


def _find(work: Spc1Test, path: Path, interrupts: job.Interrupts) -> list[Device] | None:
    """The devices, as soon as they are back; None if the user ended the wait."""
    state = verify_state.load(path)
    deadline = time.monotonic() + BACK_S
    while True:
        try:
            devices = [device.find(entry.path) for entry in work.devices]
            verify_state.check_devices(path, state, devices)
        except UsageError:
            if interrupts.count:
                return None
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return devices


def _check(
    work: Spc1Test,
    connect: Callable[[], Kernel],
    view: View,
    interrupts: job.Interrupts,
) -> bool:
    before = work.persistence
    assert before is not None
    path = work.folder / STATE_FILE
    devices = _find(work, path, interrupts)
    if devices is None:
        return False
    view.begin("persistence: checking", 0.0, 0.0)
    shape = work.parameters.shape
    # The module may have been reloaded in the meantime, so the old connection may be stale.
    kernel = connect()
    try:
        report = recheck.check(
            *(kernel, path, verify_state.load(path), devices, shape.backend, shape.cpus[0]),
            *(view, interrupts),
        )
    finally:
        kernel.close()
    files.write(work.folder / CHECKED_FILE, files.encode(report))
    if interrupts.count:
        return False
    if not report.complete:
        raise SpekError(f"persistence: {report.text}")
    _keep(
        work, structs.replace(before, checked=report.counts, passed=report.ok, text=_text(report))
    )
    return True


def _text(report: VerifyReport) -> str:
    if report.ok:
        return f"{report.counts.checked:,} blocks were intact after the devices were reattached"
    worst = report.first[0] if report.first else None
    where = f"; the first at byte {worst.offset} of {worst.device}: {worst.text}" if worst else ""
    return (
        f"{report.counts.mismatches:,} blocks were wrong after the devices were reattached{where}"
    )


def _keep(work: Spc1Test, persistence: Persistence) -> None:
    work.persistence = persistence
    work.save()
