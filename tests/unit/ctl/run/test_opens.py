# SPDX-License-Identifier: GPL-2.0
"""Opens of devices that a command writes without a run, counted under a claim for a moment."""

from __future__ import annotations

import re

import pytest
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk

from spekctl.block import openers, safety
from spekctl.errors import NoKernelSideError, NotPermittedError, RefusedError
from spekctl.kernel import client
from spekctl.run import opens

CACHE, RAID = disk("/dev/fake0"), disk("/dev/fake1")


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process has a device open."""
    monkeypatch.setattr(safety, "opened_devices", lambda roots, ours=False: [])
    monkeypatch.setattr(openers, "LOOKS_FOR_UNKNOWN", 1)


def test_devices_are_claimed_for_the_count_and_let_go() -> None:
    kernel = FakeKernel()
    assert opens.check(kernel, [CACHE], (), [RAID]) == []
    assert kernel.claim_calls() == ["claim-new", "claim-del"] and not kernel.claimed


def test_a_user_that_nothing_names_is_refused_and_the_claim_is_let_go() -> None:
    kernel = FakeKernel(opens=2)
    with pytest.raises(RefusedError, match="/dev/fake0 is in use: the kernel counts 1 more open"):
        opens.check(kernel, [CACHE])
    assert not kernel.claimed


def test_destroy_names_what_is_overwritten_and_never_what_is_kept() -> None:
    kernel = FakeKernel(opens=2)
    assert len(opens.check(kernel, [CACHE], (CACHE.identity,))) == 1
    with pytest.raises(RefusedError, match="/dev/fake1 is in use"):
        opens.check(kernel, [CACHE], (CACHE.identity, RAID.identity), [RAID])
    assert not kernel.claimed


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (NoKernelSideError("no such family"), "is not loaded"),
        (NotPermittedError("only root may"), r"cannot be asked \(only root may\)"),
        (PermissionError(1, "Operation not permitted"), r"cannot be asked \(Operation not"),
    ],
)
def test_without_the_module_nobody_has_counted(
    error: Exception, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect() -> FakeKernel:
        raise error

    monkeypatch.setattr(client, "connect", connect)
    (remark,) = opens.check_of_command([CACHE], (), [RAID])
    assert remark.startswith("the module spek ") and "/dev/fake0, /dev/fake1" in remark
    assert re.search(why, remark)


def test_the_connection_is_closed_after_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = FakeKernel(opens=2)
    monkeypatch.setattr(client, "connect", lambda: kernel)
    with pytest.raises(RefusedError):
        opens.check_of_command([CACHE])
    assert kernel.closed
