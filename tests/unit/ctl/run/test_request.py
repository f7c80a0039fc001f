# SPDX-License-Identifier: GPL-2.0
"""The request of a run: its remarks, and what is refused before any claim."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk, use_fakes

from spekctl.block import device
from spekctl.errors import SpekError, UsageError
from spekctl.run import request
from spekctl.run.job import Request
from spekctl.workload.options import Options


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_fakes(monkeypatch, FakeKernel(), tmp_path)


def built(name: str = "random-write-4k", destroy: tuple[str, ...] = (), **options: Any) -> Request:
    subject = request.find(name, ["/dev/fake0", "/dev/fake1"])
    detach = options.pop("detach", False)
    return request.build(subject, Options(**options), destroy, detach)


def test_the_title_names_workload_and_devices() -> None:
    subject = request.find("random-write-4k", ["/dev/fake0", "/dev/fake1"])
    assert subject.title == "random-write-4k on /dev/fake0 /dev/fake1"


def test_asus_on_devices_of_their_own_add_these_to_the_run() -> None:
    words = ["asu3=/dev/fake2", "/dev/fake1", "asu1=/dev/fake0"]
    subject = request.find("spc1", words)
    assert subject.title == "spc1 on /dev/fake1 /dev/fake0 /dev/fake2"
    asked = request.build(subject, Options(bsu=1, write=True))
    places = [[at.target for at in asu.extents] for asu in asked.config.asus]
    assert places == [[1], [0], [2]]
    assert [asu.device for asu in asked.workload.asu] == ["/dev/fake0", None, "/dev/fake2"]


def test_paths_of_one_device_are_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "find", lambda path: disk(path, minor=int("1" in path)))
    subject = request.find("spc1", ["/dev/fake0", "asu1=/dev/fake1", "asu2=/dev/alias1"])
    assert [there.path for there in subject.devices] == ["/dev/fake0", "/dev/fake1"]
    assert [asu.device for asu in subject.workload.asu] == ["/dev/fake1", "/dev/fake1", None]
    subject = request.find("spc1", ["/dev/fake0", "/dev/alias0", "asu1=/dev/fake1"])
    with pytest.raises(UsageError, match="/dev/fake0 and /dev/alias0 are the same device"):
        request.build(subject, Options(bsu=1))


def test_targets_are_the_devices_in_their_order() -> None:
    asked = built(write=True)
    assert [(target.major, target.minor) for target in asked.config.targets] == [(250, 0), (250, 1)]
    assert asked.write_allowed and not asked.remarks


@pytest.mark.parametrize(
    ("name", "options", "remark"),
    [
        ("random-read-4k", {"write": True}, "random-read-4k only reads, so the devices are opened"),
        ("random-read-4k", {"detach": True}, "no prober accompanies a detached run"),
        ("random-write-4k", {"write": True, "verify": True}, "verified: 4 MiB of kernel memory"),
    ],
)
def test_what_a_reader_should_know_is_remarked(
    name: str, options: dict[str, Any], remark: str
) -> None:
    (said,) = built(name, **options).remarks
    assert remark in said


@pytest.mark.parametrize(
    ("words", "stripe", "said"),
    [
        (["/dev/fake0"], 128 << 10, True),
        (["/dev/fake0"], Options().stripe_bytes, False),
        (["/dev/fake0", "/dev/fake1"], 128 << 10, False),
        # Each address range has a device of its own.
        (["asu1=/dev/fake0", "asu2=/dev/fake1", "asu3=/dev/fake2"], 128 << 10, True),
    ],
)
def test_a_stripe_over_one_device_is_remarked(words: list[str], stripe: int, said: bool) -> None:
    options = Options(bsu=1, write=True, stripe_bytes=stripe)
    asked = request.build(request.find("spc1", words), options)
    remark = "--stripe has no effect: no address range lies on several devices"
    assert (remark in asked.remarks) is said


def test_writing_needs_permission() -> None:
    request.check_write(built("random-read-4k"))
    request.check_write(built(write=True))
    with pytest.raises(SpekError, match="--write"):
        request.check_write(built())


def test_destroy_needs_permission_and_the_devices_names() -> None:
    request.check_destroy(built(destroy=("S123",), write=True))
    request.check_destroy(built())
    with pytest.raises(UsageError, match="--destroy needs --write as well"):
        request.check_destroy(built(destroy=("S123",)))
    with pytest.raises(SpekError, match="S124 names none of the devices"):
        request.check_destroy(built(destroy=("S124",), write=True))
    log = disk("/dev/fake1", serial="S124")
    request.check_destroy(dataclasses.replace(built(destroy=("S124",), write=True), state_on=log))
