# SPDX-License-Identifier: GPL-2.0
"""Back end scsi: what the device says of commands that failed, and what is made of it.

The device is scsi_debug, which fails on demand.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.guest import scsi
from lib.guest.disks import scsi_disk
from lib.guest.drive import Controller, Outcome, assert_completed, one_stream, sysfs
from lib.guest.scsi import faults

from spekctl.kernel.records import Reason
from spekctl.workload.config import RunConfig

pytestmark = pytest.mark.debug_kernel_at_length

KIB = 1 << 10
MEDIUM_ERROR = (3, 0x11, 0)
BAD_BLOCK, BAD_BLOCKS = 0x1234, 10  # scsi_debug's own choice


@pytest.fixture(scope="module", params=[0, 1], ids=["fixed", "descriptor"])
def faulty(request: pytest.FixtureRequest, spek_module: Path) -> Iterator[str]:
    """A disk for the tests of errors, with both forms of sense data."""
    with scsi_disk(size_mb=64, ndelay=100_000, dsense=request.param) as node:
        yield node


def reads(node: str, blocks: int, **options: Any) -> RunConfig:
    """Reads of single blocks from the first @blocks of the disk, one after the other."""
    values = {"depth": 8, "count": blocks, **options}
    config = one_stream(node, sizes=[(512, 1)], pattern="sequential", backend="scsi", **values)
    (stream,) = config.streams
    return msgspec.structs.replace(
        config, streams=[msgspec.structs.replace(stream, range_bytes=blocks * 512)]
    )


def finish(controller: Controller, config: RunConfig) -> Outcome:
    with controller.ready(config) as run:
        return controller.finish(run)


def errors_by_errno(outcome: Outcome) -> Counter[int]:
    errors: Counter[int] = Counter()
    for cell in outcome.cells:
        errors.update({abs(code): count for code, count in cell.errors_by_errno.items()})
    return errors


def test_medium_error_is_told_with_its_cause(controller: Controller, faulty: str) -> None:
    with faults(scsi.MEDIUM):
        outcome = finish(controller, reads(faulty, 0x2000))

    info = outcome.info
    assert (info.reason, info.errors) == (Reason.COMPLETED, BAD_BLOCKS)
    assert errors_by_errno(outcome) == {errno.ENODATA: BAD_BLOCKS}
    first = info.first_sense
    assert first is not None and (first.key, first.asc, first.ascq) == MEDIUM_ERROR
    where = int(info.first_error.split(" at byte ")[1].split()[0]) // 512
    assert BAD_BLOCK <= where < BAD_BLOCK + BAD_BLOCKS
    (only,) = info.senses
    assert (only.key, only.asc, only.ascq, only.count) == (*MEDIUM_ERROR, BAD_BLOCKS)
    assert (only.deferred, info.sense_others) == (0, 0)


def test_causes_are_counted_apart(controller: Controller, faulty: str) -> None:
    with faults(scsi.MEDIUM | scsi.TRANSPORT, every_nth=200):
        outcome = finish(controller, reads(faulty, 0x2000))

    senses = {(sense.key, sense.asc): sense.count for sense in outcome.info.senses}
    assert senses[3, 0x11] + senses[0xB, 0x4B] == outcome.info.errors
    assert senses[0xB, 0x4B] > 20


def test_a_recovered_error_is_none(controller: Controller, faulty: str) -> None:
    with faults(scsi.RECOVERED, every_nth=10):
        outcome = finish(controller, reads(faulty, 500))

    assert_completed(outcome)
    assert outcome.info.senses == ()


def test_less_data_than_asked_for_is_an_error(controller: Controller, faulty: str) -> None:
    config = one_stream(faulty, sizes=[(8 * KIB, 1)], depth=8, backend="scsi", count=500)
    with faults(scsi.SHORT, every_nth=10):
        outcome = finish(controller, config)

    assert outcome.info.errors > 20
    assert set(errors_by_errno(outcome)) == {errno.EIO}
    assert outcome.info.first_sense is None and outcome.info.senses == ()


def test_a_command_that_is_never_answered_is_an_error_of_its_own(
    controller: Controller, faulty: str
) -> None:
    """The disk's own limit of time; the SCSI layer recalls the command, nothing stays behind."""
    limit = sysfs(faulty) / "device/timeout"
    usual = limit.read_text()
    limit.write_text("1")
    try:
        with faults(scsi.IGNORE, every_nth=100):
            outcome = finish(controller, reads(faulty, 350))
    finally:
        limit.write_text(usual)

    assert outcome.info.reason is Reason.COMPLETED
    assert set(errors_by_errno(outcome)) == {errno.ETIMEDOUT}
    assert 1 <= outcome.info.errors <= 5
    assert outcome.info.outstanding == 0
    assert int((sysfs(faulty) / "device/device_busy").read_text()) == 0


def test_an_offline_disk_says_nothing(controller: Controller, faulty: str) -> None:
    """Sense data of commands before are not taken for its own."""
    with faults(scsi.MEDIUM):
        finish(controller, reads(faulty, 0x2000, depth=1))
    state = sysfs(faulty) / "device/state"
    with controller.ready(reads(faulty, 100, depth=1)) as run:
        state.write_text("offline\n")
        outcome = controller.finish(run)
    state.write_text("running\n")

    assert outcome.info.errors == 100
    assert outcome.info.first_sense is None and outcome.info.senses == ()
