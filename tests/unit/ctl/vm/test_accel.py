# SPDX-License-Identifier: GPL-2.0
"""Whether guests use KVM."""

from __future__ import annotations

import pytest
from lib.fakes.kernels import some_kernel

from spekctl.errors import UsageError
from spekctl.vm import accel
from spekctl.vm.kernels import Kernel


def test_environment_decides_on_kvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accel, "_may_use_kvm", lambda: True)
    for answer in ("kvm", "tcg"):
        monkeypatch.setenv("SPEK_ACCEL", answer)
        assert accel.choose_accel(some_kernel()) == answer
    monkeypatch.setenv("SPEK_ACCEL", "xen")
    with pytest.raises(UsageError, match="SPEK_ACCEL is 'xen'; it must be kvm or tcg"):
        accel.choose_accel(some_kernel())


def test_kvm_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    boots: list[str] = []

    def boot(kernel: Kernel) -> bool:
        boots.append(kernel.release)
        return len(boots) == 1

    monkeypatch.delenv("SPEK_ACCEL", raising=False)
    monkeypatch.setattr(accel, "_may_use_kvm", lambda: True)
    monkeypatch.setattr(accel, "_boots_with_kvm", boot)

    assert [accel.choose_accel(some_kernel()) for _ in range(3)] == ["kvm"] * 3
    assert len(boots) == 1


def test_no_kvm_device_means_tcg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPEK_ACCEL", raising=False)
    monkeypatch.setattr(accel, "_may_use_kvm", lambda: False)

    assert accel.choose_accel(some_kernel()) == "tcg"
    monkeypatch.setenv("SPEK_ACCEL", "kvm")
    with pytest.raises(UsageError, match="/dev/kvm is missing or not open to this user"):
        accel.choose_accel(some_kernel())
