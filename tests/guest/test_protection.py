# SPDX-License-Identifier: GPL-2.0
"""Protection information (T10 DIF and DIX, NVMe with metadata), by the back ends that have it."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import msgspec
import pytest
from guest.allocations import failures_prepared, kernel_threads, slab_fails_for
from guest.protection import (
    BLOCK,
    plant_nvme,
    plant_scsi,
    protected_nvme,
    protected_scsi,
    read_through_kernel,
    setting,
)
from lib.guest.disks import null_disk, partition
from lib.guest.drive import Controller, Outcome, assert_completed, capacity, one_stream
from lib.guest.scsi import command_log

from spekctl.kernel.records import Reason
from spekctl.workload.config import RunConfig

KIB, MIB = 1 << 10, 1 << 20
COUNT = 64
IO = 4 * KIB
SIZE = 8 * MIB  # the part of a disk that is used
EILSEQ, ENOMEM = 84, 12
BACKENDS = ("bio", "mq")

# By what each has to be checked: the disk as well, or the host alone.
SCSI: dict[str, dict[str, int]] = {
    "type1": {"dif": 1},
    "type3": {"dif": 3},
    "host": {"dif": 0},
    "ip": {"dif": 1, "guard": 1},
}
NVME = {"nvme1": 1, "nvme3": 3, "nvme-opaque": 0}


def protected_disk(kind: str) -> AbstractContextManager[str]:
    return protected_scsi(**SCSI[kind]) if kind in SCSI else protected_nvme(NVME[kind])


def used(node: str) -> int:
    return min(capacity(node), SIZE)


def filling(node: str) -> RunConfig:
    """Writes all that is used. Blocks of QEMU's NVMe disk that nothing was written to have
    information that passes, but not beside others that were written."""
    piece = 64 * KIB
    return one_stream(
        node,
        sizes=[(piece, 1)],
        pattern="sequential",
        read_ppm=0,
        backend="bio",
        count=used(node) // piece,
        range_bytes=used(node),
    )


def at_once(kind: str) -> dict[str, int]:
    """Options for I/Os that overlap. QEMU's NVMe disk transfers data and their information apart:
    two I/Os of a block at once can leave it the data of one and the information of the other."""
    return {"depth": 8, "workers": 2} if kind in SCSI else {"depth": 1, "workers": 1}


def mixed(node: str, backend: str, depth: int = 8, **more: Any) -> RunConfig:
    """Reads and writes of sizes that are one segment, several, and several requests."""
    config = one_stream(
        node,
        sizes=[(BLOCK, 2), (3 * BLOCK, 2), (IO, 4), (64 * KIB + BLOCK, 2), (MIB, 1)],
        align_bytes=BLOCK,
        read_ppm=500_000,
        backend=backend,
        count=300,
        depth=depth,
        range_bytes=used(node),
        **more,
    )
    return msgspec.structs.replace(config, data="random")


def in_order(node: str, backend: str, *, write: bool) -> RunConfig:
    """The first COUNT pieces of the disk, once each."""
    config = one_stream(
        node,
        sizes=[(IO, 1)],
        pattern="sequential",
        read_ppm=0 if write else 1_000_000,
        backend=backend,
        count=COUNT,
        depth=4,
    )
    return msgspec.structs.replace(config, data="random")


def run(controller: Controller, config: RunConfig) -> Outcome:
    with controller.ready(config) as number:
        return controller.finish(number)


def assert_found(outcome: Outcome, block: int) -> None:
    """One I/O failed, for the block."""
    assert outcome.info.reason is Reason.COMPLETED
    assert (outcome.info.errors, outcome.ios()) == (1, COUNT - 1), outcome.info.first_error
    at = block * BLOCK // IO * IO
    assert f"read of {IO} bytes at byte {at} of" in outcome.info.first_error
    assert outcome.info.first_error.endswith(f"errno {EILSEQ}")


# ---- right information passes ----


@pytest.mark.parametrize("kind", [*SCSI, *NVME])
def test_what_mq_writes_is_right_to_others(controller: Controller, kind: str) -> None:
    """The block layer checks it for dd, and spek what the block layer has generated."""
    with protected_disk(kind) as node:
        controller.complete(filling(node))
        for backend in ("mq", "bio", "mq"):
            outcome = controller.complete(mixed(node, backend, **at_once(kind)))
            assert outcome.target.backend == backend
            read_through_kernel(node, SIZE)


@pytest.mark.parametrize("kind", ["type1", "host", "nvme1"])
def test_a_partition_has_it_by_its_place_on_the_disk(controller: Controller, kind: str) -> None:
    """Reference tags are those of the disk's blocks."""
    start = 1000
    with protected_disk(kind) as disk:
        with partition(disk, 1, start, 6144) as node:
            controller.complete(filling(node))
            for backend in ("mq", "bio"):
                controller.complete(mixed(node, backend, **at_once(kind)))
                controller.complete(in_order(node, backend, write=True))
                controller.complete(in_order(node, "mq", write=False))
        # By the whole disk: the pieces that were written last.
        copy = ["dd", f"if={disk}", "of=/dev/null", f"bs={BLOCK}", "iflag=direct"]
        written = [f"skip={start}", f"count={COUNT * IO // BLOCK}"]
        subprocess.run([*copy, *written], check=True, capture_output=True)


@pytest.mark.parametrize("kind", ["type1", "type3"])
def test_the_disk_gets_it(controller: Controller, kind: str) -> None:
    """RDPROTECT and WRPROTECT say that the commands have it."""
    with protected_disk(kind) as node, command_log(node) as log:
        outcome = controller.complete(mixed(node, "mq"))
        commands = log.read()

    assert len(commands) == outcome.requests()
    assert {command.cdb[1] >> 5 for command in commands} == {1}


def test_auto_takes_mq(controller: Controller) -> None:
    with protected_scsi(dif=1) as node:
        target = controller.complete(in_order(node, "auto", write=False)).target

    assert (target.backend, target.backend_reason) == (
        "mq",
        "The device is request-based (blk-mq).",
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_polled_reads_are_checked(controller: Controller, backend: str) -> None:
    with protected_scsi(dif=0, ndelay=50_000, submit_queues=2, poll_queues=1) as node:
        controller.complete(in_order(node, backend, write=True))
        plant_scsi(node, 42)
        outcome = run(
            controller,
            msgspec.structs.replace(in_order(node, backend, write=False), polled=True),
        )

    assert outcome.target.polled == 1
    assert_found(outcome, 42)


@pytest.mark.debug_kernel
def test_a_disk_with_few_requests(controller: Controller) -> None:
    """I/Os wait for one, before their information is made and after."""
    with protected_scsi(dif=1, max_queue=2, ndelay=2_000_000) as node:
        outcome = controller.complete(mixed(node, "mq", workers=2, max_outstanding=32))

    assert outcome.target.tag_waits > 50


@pytest.mark.debug_kernel
def test_beside_a_disk_without_it(controller: Controller) -> None:
    with protected_scsi(dif=1) as node, null_disk() as other:
        config = one_stream(
            *(node, other),
            sizes=[(IO, 1), (256 * KIB, 1)],
            read_ppm=500_000,
            backend="mq",
            count=400,
            depth=16,
            stripe_bytes=64 * KIB,
        )
        outcome = run(controller, config)

    assert_completed(outcome)
    assert [target.backend for target in outcome.info.targets] == ["mq", "mq"]


# ---- wrong information is found ----


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", SCSI)
def test_other_data_than_was_protected(controller: Controller, kind: str, backend: str) -> None:
    with protected_disk(kind) as node:
        controller.complete(in_order(node, backend, write=True))
        controller.complete(in_order(node, backend, write=False))
        plant_scsi(node, 123)
        assert_found(run(controller, in_order(node, backend, write=False)), 123)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("wrong", [{"guard": 1}, {"tag": 1}], ids=["guard", "tag"])
def test_wrong_guard_or_tag(controller: Controller, wrong: dict[str, int], backend: str) -> None:
    with protected_nvme(1) as node:
        controller.complete(in_order(node, backend, write=True))
        plant_nvme(node, 77)
        controller.complete(in_order(node, backend, write=False))
        plant_nvme(node, 77, **wrong)
        assert_found(run(controller, in_order(node, backend, write=False)), 77)


@contextlib.contextmanager
def switched_off(node: str, name: str) -> Iterator[None]:
    setting(node, name).write_text("0")
    try:
        yield
    finally:
        setting(node, name).write_text("1")


@pytest.mark.parametrize("backend", BACKENDS)
def test_who_checks_nothing_finds_nothing(controller: Controller, backend: str) -> None:
    """Neither the block layer, whose check is switched off, nor the disk checks here."""
    with protected_scsi(dif=0) as node:
        controller.complete(in_order(node, backend, write=True))
        plant_scsi(node, 5)
        with switched_off(node, "read_verify"):
            controller.complete(in_order(node, backend, write=False))
        assert_found(run(controller, in_order(node, backend, write=False)), 5)
        # What is written without new information has the old one.
        again = msgspec.structs.replace(in_order(node, backend, write=True), seed=2)
        with switched_off(node, "write_generate"):
            controller.complete(again)
        outcome = run(controller, in_order(node, backend, write=False))

    assert (outcome.info.errors, outcome.ios()) == (COUNT, 0)


# ---- no memory ----


@pytest.mark.debug_kernel_only("debug")
@pytest.mark.parametrize("backend", BACKENDS)
def test_io_without_memory_fails(controller: Controller, backend: str) -> None:
    """Each by itself and counted, reads and writes; kmemleak finds what stays behind."""
    with protected_scsi(dif=1) as node:
        with (
            controller.ready(mixed(node, backend)) as number,
            failures_prepared(),
            slab_fails_for(kernel_threads("spek/")),
        ):
            outcome = controller.finish(number)
        assert (outcome.info.errors, outcome.ios()) == (300, 0)
        assert outcome.info.first_error.endswith(f"errno {ENOMEM}")
        controller.complete(mixed(node, backend))
        read_through_kernel(node, SIZE)
