# SPDX-License-Identifier: GPL-2.0
"""Devices held over several runs: checked once for data, before each run for what came since."""

from __future__ import annotations

import dataclasses
import errno
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.verified import config_of
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk, use_fakes

from spekctl.block import device as block_device
from spekctl.block import safety
from spekctl.block.blkid import Signature
from spekctl.errors import CalledOffError, RefusedError, SpekError, error_from_errno
from spekctl.kernel.client import Patience, endless
from spekctl.kernel.records import ClaimInfo, TargetInfo
from spekctl.render.progress import LineProgress
from spekctl.run import claim, holding, job
from spekctl.run.holding import Holding
from spekctl.run.measure import carry_out
from spekctl.run.rights import Looked, Overwriting, Rights
from spekctl.run.session import Session
from spekctl.workload import file
from spekctl.workload.config import DeviceNumber

XFS, GPT = Signature("xfs", "filesystem", 0), Signature("gpt", "partition-table", 512)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeKernel:
    fake = FakeKernel()
    use_fakes(monkeypatch, fake, tmp_path)
    return fake


def request_of(*minors: int, write: bool = True, destroy: Sequence[str] = ()) -> job.Request:
    name = "random-write-4k" if write else "random-read-4k"
    config = config_of(name, verify=False)
    config.targets[:] = [DeviceNumber(250, minor, 0) for minor in minors]
    devices = [disk(f"/dev/fake{minor}") for minor in minors]
    return job.Request(file.load(name), config, devices, write, destroy)


def on_disk(monkeypatch: pytest.MonkeyPatch, *data: Signature) -> None:
    monkeypatch.setattr(safety, "signatures_on", lambda device, diskseq: list(data))


def run_under(held: Holding, request: job.Request) -> list[str]:
    """The remarks of the result."""
    view = LineProgress(quiet=True)
    with Session(held.kernel, request, view, job.Interrupts(), held=held) as session:
        return carry_out(session).remarks


def test_steps_share_a_claim_with_those_that_have_the_same_devices(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data on a disk that is only read are no reason to refuse to write another one."""
    reads, writes = request_of(0, write=False), request_of(1)
    later, joins = request_of(0, write=False), request_of(2, 3)
    both = request_of(3, 4, write=False)
    requests = [reads, writes, later, joins, both]
    held = holding.of_steps(kernel, requests, job.Interrupts())
    assert held[0] is held[2] and held[3] is held[4]
    assert len(set(held)) == 3

    def signatures(device: object, diskseq: int) -> list[Signature]:
        return [XFS] if getattr(device, "path", "") == "/dev/fake0" else []

    monkeypatch.setattr(safety, "signatures_on", signatures)
    for claimed in dict.fromkeys(held):
        claimed.take()
    minors = {frozenset(target.minor for target in info.targets) for info in kernel.claims()}
    assert minors == {frozenset({0}), frozenset({1}), frozenset({2, 3, 4})}
    assert sorted(info.write for info in kernel.claims()) == [0, 1, 1]


def test_runs_borrow_the_devices_of_all_and_give_them_back_at_last(kernel: FakeKernel) -> None:
    first, second = request_of(0, 1), request_of(1, write=False)
    with holding.of_requests(kernel, [first, second], job.Interrupts()) as held:
        (info,) = kernel.claims()
        assert info.write and [target.minor for target in info.targets] == [0, 1]
        for request in (first, second):
            run_under(held, request)
            assert kernel.claim == held.claim
    assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]


def test_runs_that_read_claim_for_reading(kernel: FakeKernel) -> None:
    with holding.of_requests(kernel, [request_of(0, write=False)], job.Interrupts()):
        assert [info.write for info in kernel.claims()] == [0]


def test_a_device_that_is_only_read_is_claimed_and_looked_at_as_such(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its data are no reason to refuse a run that writes another device."""
    request = request_of(0, 1)
    request.config.targets[0] = DeviceNumber(250, 0, 0, read_only=1)
    looked = []

    def signatures(device: Any, diskseq: int) -> list[Signature]:
        looked.append(device.path)
        return [XFS] if device.path == "/dev/fake0" else []

    monkeypatch.setattr(safety, "signatures_on", signatures)
    held = holding.of_requests(kernel, [request], job.Interrupts())
    with held:
        (info,) = kernel.claims()
        assert info.write and [each.read_only for each in info.targets] == [1, 0]
        run_under(held, request)
        assert set(looked) == {"/dev/fake1"}
        refusal = "which its claim has for reading only"
        with pytest.raises(SpekError, match=refusal):
            run_under(held, request_of(0))
    run_alone = Session(kernel, request, LineProgress(quiet=True), job.Interrupts())
    with run_alone as session:
        carry_out(session)
    assert set(looked) == {"/dev/fake1"}


def test_data_that_came_after_the_first_look_are_refused(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--destroy is for what its user saw on the device."""
    request = request_of(0, destroy=["S123"])
    on_disk(monkeypatch, GPT)
    with holding.of_requests(kernel, [request], job.Interrupts()) as held:
        (remark,) = held.remarks()
        assert "will be overwritten: partition table gpt" in remark
        # Overwriting has uncovered the second header.
        on_disk(monkeypatch, Signature("gpt", "partition-table", (1 << 30) - 512))
        run_under(held, request)
        assert held.remarks() == []
        on_disk(monkeypatch, GPT, XFS)
        with pytest.raises(RefusedError, match="did not hold when it was claimed: file system xfs"):
            run_under(held, request)
        # A run that only reads does not mind.
        run_under(held, request_of(0, write=False))


def test_the_look_needs_the_rights_of_the_runs(kernel: FakeKernel) -> None:
    """A helper's, where the process has none."""

    class Lent(Rights):
        def look(self, claim: ClaimInfo, wish: Overwriting) -> Looked:
            assert list(wish.destroy) == ["S123"] and claim in kernel.claims()
            return Looked({}, ["it holds data"])

    request = dataclasses.replace(request_of(0, destroy=["S123"]), rights=Lent())
    with holding.of_requests(kernel, [request], job.Interrupts()) as held:
        assert held.remarks() == ["it holds data"]
        assert held.looked == Looked({}, ["it holds data"])


def test_a_user_without_a_claim_is_refused_before_a_later_run(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_of(0)
    with holding.of_requests(kernel, [request], job.Interrupts()) as held:
        run_under(held, request)
        monkeypatch.setattr(safety, "_openers", lambda *asked: ["process 9 (dd) has it open"])
        with pytest.raises(RefusedError, match="/dev/fake0 is in use: process 9"):
            run_under(held, request)
    assert kernel.calls.count("run-start") == 1 and kernel.deleted and not kernel.claimed


def test_data_without_destroy_are_refused_and_the_devices_given_back(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk(monkeypatch, XFS)
    held = holding.of_requests(kernel, [request_of(0)], job.Interrupts())
    with pytest.raises(RefusedError, match="give --destroy S123"):
        held.take()
    assert kernel.claim_calls() == ["claim-new", "claim-del"] and not kernel.claimed


def test_a_busy_device_is_named_with_its_holder(kernel: FakeKernel) -> None:
    error = error_from_errno(errno.EBUSY, "The device is in use.", "claim-new")
    error.blamed = ("target", 1)
    kernel.refuse["claim-new"] = error
    held = Holding(kernel, [disk("/dev/fake0"), disk("/dev/fake1")], job.Interrupts())
    with pytest.raises(RefusedError, match=r"^/dev/fake1 is in use: ") as refusal:
        held.take()
    assert (refusal.value.errno, refusal.value.operation) == (errno.EBUSY, "claim-new")


def test_a_device_that_cannot_be_claimed_is_named(kernel: FakeKernel) -> None:
    error = error_from_errno(errno.ENODEV, "The disk was replaced.", "claim-new")
    error.blamed = ("target", 0)
    kernel.refuse["claim-new"] = error
    with pytest.raises(SpekError, match="/dev/fake0: The disk was replaced"):
        Holding(kernel, [disk()], job.Interrupts()).take()


def test_an_interrupt_ends_the_wait_for_a_device_that_does_not_open() -> None:
    interrupts = job.Interrupts()

    class Slow(FakeKernel):
        def claim_new(
            self, targets: Sequence[DeviceNumber], write: bool, patience: Patience = endless
        ) -> int:
            interrupts.interrupt(signal.SIGINT)
            patience()
            raise AssertionError

    with pytest.raises(CalledOffError, match="nothing was sent"):
        Holding(Slow(), [disk()], interrupts).take()


@pytest.mark.parametrize("why", ["busy", "interrupted"])
def test_what_cannot_be_given_back_goes_with_the_connection(why: str) -> None:
    interrupts = job.Interrupts()

    class Hung(FakeKernel):
        def claim_del(self, claim: int, patience: Patience = endless) -> None:
            if why == "busy":
                raise error_from_errno(errno.EBUSY, "A run uses the claim.", "claim-del")
            interrupts.interrupt(signal.SIGINT)
            patience()
            raise AssertionError

    held = Holding(Hung(), [disk()], interrupts)
    held.take()
    held.release()
    held.release()


def test_a_claim_of_another_connection_is_not_used(kernel: FakeKernel) -> None:
    with (
        Holding(kernel, [disk()], job.Interrupts()) as held,
        pytest.raises(AssertionError, match="belongs to its connection"),
    ):
        Session(FakeKernel(), request_of(0), LineProgress(quiet=True), job.Interrupts(), (), held)


# --- disks that are replaced ----------------------------------------------------------------------


@pytest.mark.parametrize("blamed", [("target", 0), None])
@pytest.mark.parametrize("code", [errno.EBUSY, errno.ENODEV, errno.ENXIO])
def test_a_disk_that_was_replaced_before_the_claim_is_named(
    kernel: FakeKernel,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    blamed: tuple[str, int] | None,
) -> None:
    """Whatever the kernel says of the new one."""
    error = error_from_errno(code, "The disk was replaced after it was checked.", "claim-new")
    error.blamed = blamed
    kernel.refuse["claim-new"] = error
    kernel.refuse["run-new"] = error
    monkeypatch.setattr(block_device, "find", lambda path: disk(serial="S999", diskseq=9))
    before = disk(diskseq=7)
    text = "/dev/fake0 has just been replaced by another device: it was S123 (250:0/7), and is"
    with pytest.raises(RefusedError) as refusal:
        Holding(kernel, [before], job.Interrupts()).take()
    busy = ", which is in use: " if code == errno.EBUSY else ""
    assert refusal.value.message.startswith(f"{text} S999 (250:0/9) now{busy}")
    assert (refusal.value.errno, refusal.value.operation) == (code, "claim-new")
    # A step of a campaign, under a claim that has lost its disk.
    with pytest.raises(RefusedError, match="S999"):
        claim.claim(kernel, request_of(0).config, [before], held=1)


def test_a_disk_that_was_replaced_is_refused_under_the_claim(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_device, "find", lambda path: disk(serial="S999", diskseq=9))
    target = TargetInfo(major=250, minor=0, diskseq=9)
    claimed = ClaimInfo(id=2, write=0, targets=(target,))
    monkeypatch.setattr(kernel, "claims", lambda: [claimed])
    held = Holding(kernel, [disk(diskseq=7)], job.Interrupts())
    with pytest.raises(RefusedError, match=r"it was S123 \(250:0/7\), and is S999 \(250:0/9\)"):
        held.take()
    assert not kernel.claimed
