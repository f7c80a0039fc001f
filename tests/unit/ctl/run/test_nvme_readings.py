# SPDX-License-Identifier: GPL-2.0
"""NVMe controllers beside a run: in its result, or the reason why they are not."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.fakes.kernel import FakeKernel
from lib.fakes.nvme_controller import PLACE, FakeController, Machine, health
from lib.waiting import LONG_S, eventually

from spekctl.block.device import Device
from spekctl.documents import result
from spekctl.errors import ExitCode, NotPermittedError
from spekctl.power import nvme_log
from spekctl.power.nvme_log import Asked
from spekctl.power.passthrough import NvmeReply, Place
from spekctl.run import rounds
from spekctl.run.collector import Sections
from spekctl.run.nvme_readings import NvmeReadings
from spekctl.run.rights import OWN, Rights


class Lent(Rights):
    """Asks a fake controller."""

    def __init__(self, controller: FakeController) -> None:
        self.controller = controller

    def nvme(self, disk: Device, controller: tuple[int, int], asked: Asked) -> NvmeReply:
        assert disk.name == "nvme0n1" and controller == PLACE.number
        return self.controller.ask(asked)


class Rig:
    """A run on an NVMe disk."""

    def __init__(self, root: Path) -> None:
        self.machine = Machine(root)
        self.controller = FakeController()
        self.readings = NvmeReadings([self.machine.device()], Lent(self.controller))

    def find(self, devices: Sequence[Device]) -> list[tuple[Place, list[Device]]]:
        return [(PLACE, list(devices))]

    def carry_out(self) -> Sections:
        assert self.readings.arm(None) == ""  # type: ignore[arg-type]
        sections = Sections()
        self.controller.health_page = health(temperature=311, units_written=2**127)
        self.readings.ended()
        self.readings.conclude(None, sections)  # type: ignore[arg-type]
        self.readings.close()
        return sections


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    rig = Rig(tmp_path)
    monkeypatch.setattr(nvme_log, "controllers", rig.find)
    return rig


def test_the_readings_are_before_the_start_and_after_the_end(rig: Rig) -> None:
    before = threading.active_count()
    sections = rig.carry_out()
    assert sections.nvme is not None
    (drive,) = sections.nvme
    assert drive.text == "" and drive.before is not None and drive.after is not None
    assert (drive.before.temperature_k, drive.after.temperature_k) == (310, 311)
    assert (drive.before.data_units_written, drive.after.data_units_written) == (7, 2**127)
    assert (drive.readings, drive.commands) == (2, len(rig.controller.asked)) == (2, 6)
    assert sections.remarks == []
    assert threading.active_count() == before


def test_a_controller_that_may_not_be_asked_is_a_reason_and_no_error(rig: Rig) -> None:
    def refuse(asked: Asked) -> NvmeReply:
        raise NotPermittedError("only root may send commands to /dev/nvme0")

    rig.controller.ask = refuse  # type: ignore[method-assign]
    (drive,) = rig.carry_out().nvme or []
    assert drive.text == "only root may send commands to /dev/nvme0"
    assert (drive.before, drive.after, drive.samples) == (None, None, [])
    assert drive.model == rig.machine.device().model


def test_a_controller_that_goes_in_mid_run_leaves_what_was_read(rig: Rig) -> None:
    assert rig.readings.arm(None) == ""  # type: ignore[arg-type]
    rig.controller.statuses[Asked.HEALTH] = 0x4109
    sections = Sections()
    rig.readings.conclude(None, sections)  # type: ignore[arg-type]
    (drive,) = sections.nvme or []
    assert drive.before is not None and drive.after is None
    assert "refused the SMART / Health Information log" in drive.text


def test_a_controller_that_hangs_holds_up_nobody(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "PATIENCE_S", 0.05)
    answer = threading.Event()

    def hang(asked: Asked) -> NvmeReply:
        answer.wait(LONG_S)
        return NvmeReply(0, 0, bytes(4096))

    rig.controller.ask = hang  # type: ignore[method-assign]
    (drive,) = rig.carry_out().nvme or []
    answer.set()
    assert drive.text == "the controller has not answered for 0.05 s"


@pytest.mark.parametrize("fails", [False, True])
def test_a_first_reading_that_ends_after_the_start_is_not_the_one_before_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    answer, ask = threading.Event(), rig.controller.ask

    def late(asked: Asked) -> NvmeReply:
        assert answer.wait(LONG_S)
        return ask(asked)

    rig.controller.ask = late  # type: ignore[method-assign]
    monkeypatch.setattr(rounds, "PATIENCE_S", 0.05)
    assert rig.readings.arm(None) == ""  # type: ignore[arg-type]
    monkeypatch.setattr(rounds, "PATIENCE_S", 30.0)
    # The run is under way.
    answer.set()
    ((taken, _),) = rig.readings._readings
    eventually(lambda: taken.readings == 1, "no reading")
    if fails:
        rig.controller.statuses[Asked.HEALTH] = 0x4109
    rig.controller.health_page = health(temperature=311, units_written=9)
    sections = Sections()
    rig.readings.ended()
    rig.readings.conclude(None, sections)  # type: ignore[arg-type]
    (drive,) = sections.nvme or []
    assert drive.before is None and drive.power_before is None
    assert drive.text.startswith("the first reading took more than")
    assert ("refused the SMART" in drive.text) == fails
    assert (drive.after is None) == fails
    assert drive.samples[0].temperature_k == 310


def test_without_nvme_there_is_no_section(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvme_log, "controllers", lambda devices: [])
    assert rig.carry_out().nvme is None


def test_a_result_has_them_exactly(
    rig: Rig,
    spekctl: Spekctl,
    kernel: FakeKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "r.json"
    monkeypatch.setattr(
        type(OWN), "nvme", lambda self, disk, place, asked: rig.controller.ask(asked)
    )
    rig.controller.health_page = health(temperature=300, units_read=2**128 - 1)
    line = ("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s", "-o", str(path))
    outcome = spekctl(*line)
    assert outcome.code == ExitCode.OK
    assert "the NVMe drives, by themselves" in outcome.out and "C before" in outcome.out
    validator(result.SCHEMA_FILE).validate(json.loads(path.read_bytes()))
    (drive,) = result.load_result(path).nvme or []
    assert drive.after is not None and drive.after.data_units_read == 2**128 - 1
    assert drive.disks == ["/dev/fake0"]
    assert msgspec.json.decode(path.read_bytes())["nvme"][0]["text"] == ""
