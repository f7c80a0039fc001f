# SPDX-License-Identifier: GPL-2.0
"""Logs of an NVMe controller by the bytes of the specification, and the commands for them."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from lib.fakes.nvme_controller import (
    INVALID_LOG_PAGE,
    PLACE,
    FakeController,
    Machine,
    extended,
    health,
    identify,
    logs,
    power,
)
from lib.fakes.power_disk import FakeChannel

from spekctl.documents.nvme import NvmeLevel, NvmePowerBin
from spekctl.errors import SpekError
from spekctl.power import nvme_log
from spekctl.power.nvme_log import Asked, Readings
from spekctl.power.passthrough import NvmeReply, Place

MOST = 2**128 - 1


def readings_of(machine: Machine, controller: FakeController) -> Readings:
    return Readings(PLACE, [machine.device()], controller.ask, nvme_log.INTERVAL_NS)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_identify_has_the_states_and_the_limits() -> None:
    known = nvme_log.identity_of(identify(measures_power=True))
    assert known.levels == (
        NvmeLevel(9_000_000, True, 0, 0),
        NvmeLevel(None, True, 10, 20),
        NvmeLevel(5000, False, 5000, 65536),
    )
    assert (known.firmware, known.warning_k, known.critical_k) == ("FW1.2", 343, 353)
    assert known.measures_power and known.can_be_autonomous
    bare = nvme_log.identity_of(bytes(4096))
    assert (bare.warning_k, bare.critical_k, bare.measures_power) == (None, None, False)


def test_counters_of_128_bits_are_exact() -> None:
    told = nvme_log.health_of(
        health(
            units_read=MOST, units_written=MOST - 1, reads=MOST - 2, writes=2**64, busy=1, hours=3
        ),
        5,
    )
    counted = (told.data_units_read, told.data_units_written, told.host_reads, told.host_writes)
    assert counted == (MOST, MOST - 1, MOST - 2, 2**64)
    assert (told.at_ns, told.busy_minutes, told.power_on_hours) == (5, 1, 3)


def test_each_field_of_the_health_log_is_read_from_its_place() -> None:
    told = nvme_log.health_of(
        health(
            critical_warning=2, temperature=301, spare=99, threshold=10, used=255,
            power_cycles=11, unsafe=12, media_errors=13, error_entries=14,
            warning_minutes=15, critical_minutes=16, sensor_1=302, sensor_8=303,
            light=17, heavy=18, light_s=19, heavy_s=20, energy=2**64 - 1, interval=1 << 16 | 65535,
        ),
        0,
    )  # fmt: skip
    assert (told.critical_warning, told.temperature_k) == (2, 301)
    assert (told.spare_percent, told.spare_threshold_percent, told.used_percent) == (99, 10, 255)
    assert (told.power_cycles, told.unsafe_shutdowns) == (11, 12)
    assert (told.media_errors, told.error_log_entries) == (13, 14)
    assert (told.warning_minutes, told.critical_minutes) == (15, 16)
    assert told.sensors_k == [302, *[None] * 6, 303]
    assert (told.light_throttles, told.heavy_throttles) == (17, 18)
    assert (told.light_throttled_s, told.heavy_throttled_s) == (19, 20)
    assert (told.energy_wh, told.interval_uw) == (2**64 - 1, 6_553_500)


def test_what_a_controller_does_not_report_is_not_a_zero() -> None:
    told = nvme_log.health_of(bytes(512), 0)
    assert (told.temperature_k, told.energy_wh, told.interval_uw) == (None, None, None)
    assert told.sensors_k == [None] * 8


def test_the_power_measurement_log() -> None:
    told = nvme_log.power_of(power(attributes=0b111), 9)
    assert (told.at_ns, told.generation, told.measurements, told.above) == (9, 3, 1000, 4)
    assert (told.mean_uw, told.max_uw, told.error_percent) == (7_250_000, 6_000_000, 5)
    assert (told.measuring, told.contiguous, told.estimated) == (True, False, True)
    assert told.bins == [NvmePowerBin(0, 10), NvmePowerBin(250_000, 11)]
    assert told.bins_left_out == 0
    page = bytearray(power(bins=600))
    page[56] = 255
    told = nvme_log.power_of(bytes(page), 0)
    assert (len(told.bins), told.bins_left_out, told.error_percent) == (504, 96, None)


def test_the_commands_are_those_of_the_specification() -> None:
    sent: list[tuple[int, tuple[int, ...]]] = []

    def answer(opcode: int, dwords: tuple[int, ...]) -> NvmeReply:
        sent.append((opcode, dwords))
        return NvmeReply(0, 4, b"")

    channel = FakeChannel(nvme_answer=answer)
    lengths = {asked: len(nvme_log.ask(PLACE, asked, channel.open).data) for asked in Asked}
    assert lengths == dict(zip(Asked, (4096, 256, 0, 512, 4096, 1024, 512), strict=True))
    assert sent == [
        *((0x06, (1,)), (0x0A, (0x0C,)), (0x0A, (0x02,))),
        # Dwords less one, and the number of the page; of the whole controller. Reading the first
        # one clears no pending event (bit 15).
        *((0x02, (127 << 16 | 1 << 15 | 0x02, 0)), (0x02, (1023 << 16 | 0x25, 0))),
        *((0x02, (255 << 16, 0)), (0x02, (127 << 16 | 0xC0, 0))),
    ]
    assert channel.namespaces == [0, 0, 0, *[0xFFFFFFFF] * 4]
    assert channel.opens == channel.closes == len(Asked)


def test_a_controller_that_is_gone_is_a_sentence() -> None:
    def gone(place: Place) -> FakeChannel:
        raise OSError(errno.ENODEV, "No such device")

    with pytest.raises(SpekError, match=r"^/dev/nvme0: No such device$"):
        nvme_log.ask(PLACE, Asked.STATE, gone)


@pytest.mark.parametrize("multipath", [False, True])
def test_a_disk_has_the_node_of_its_controller(tmp_path: Path, multipath: bool) -> None:
    machine = Machine(tmp_path, multipath)
    place = nvme_log.controller_of(machine.device(), machine.roots)
    assert place == Place(str(tmp_path / "dev/nvme0"), (240, 0), is_character=True)
    assert nvme_log.controller_of(machine.device(259, 1), machine.roots) is None
    (machine.device().sysfs / "device").unlink()
    assert nvme_log.controller_of(machine.device(), machine.roots) is None


def test_a_disk_is_asked_by_the_controller_that_was_asked_before(tmp_path: Path) -> None:
    """Counters of two controllers have no difference."""
    machine, opened = Machine(tmp_path, multipath=True), []
    machine.connect(2)
    machine.disconnect(0)
    ((place, _),) = nvme_log.controllers([machine.device()], machine.roots)
    assert place.number == (240, 2)

    def open_node(place: Place) -> FakeChannel:
        opened.append(place.number)
        return FakeChannel(nvme_answer=lambda opcode, dwords: NvmeReply(0, 1, b""))

    def ask() -> NvmeReply:
        disk = machine.device()
        return nvme_log.ask_disk(disk, place.number, Asked.STATE, machine.roots, open_node)

    # The first one by its name is another one now.
    machine.connect(1)
    assert ask().result == 1 and opened == [(240, 2)]
    machine.disconnect(2)
    with pytest.raises(SpekError, match=r"^controller 240:2 of .*nvme0n1 is gone, and no other is"):
        ask()
    assert opened == [(240, 2)]


def test_a_controller_that_goes_leaves_the_others(tmp_path: Path) -> None:
    machine = Machine(tmp_path, multipath=True)
    machine.connect(1)
    (tmp_path / "sys/devices/pci0/nvme/nvme0/dev").unlink()
    (place,) = nvme_log.controllers_of(machine.device(), machine.roots)
    assert place.number == (240, 1)


def test_disks_of_one_controller_are_read_once(machine: Machine) -> None:
    devices = [machine.volume(), machine.device(259, 1), machine.device()]
    ((place, disks),) = nvme_log.controllers(devices, machine.roots)
    assert place.number == (240, 0)
    assert [disk.name for disk in disks] == ["nvme0n1"]


def test_a_disk_is_below_what_lies_on_it_only(machine: Machine) -> None:
    volume = machine.volume()
    found = nvme_log.below_any([volume], (259, 0), machine.roots)
    assert found is not None and found.name == "nvme0n1"
    assert nvme_log.below_any([volume], (8, 0), machine.roots) is None
    assert nvme_log.below_any([], (259, 0), machine.roots) is None


def test_a_reading_takes_three_commands_after_the_first(machine: Machine) -> None:
    controller = FakeController(identity_page=identify(measures_power=True))
    readings = readings_of(machine, controller)
    readings.take()
    first = [Asked.IDENTITY, Asked.AUTONOMOUS, Asked.STATE, Asked.HEALTH, Asked.POWER]
    assert controller.asked == first
    controller.state, controller.health_page = 2, health(temperature=320, units_written=9)
    controller.spent_ns = 4000
    readings.take()
    assert controller.asked[len(first) :] == [Asked.STATE, Asked.HEALTH, Asked.POWER]
    part = readings.part("", is_complete=True)
    assert part.before is not None and part.after is not None
    assert (part.before.data_units_written, part.after.data_units_written) == (7, 9)
    assert [(sample.state, sample.temperature_k) for sample in part.samples] == [(0, 310), (2, 320)]
    assert (part.readings, part.commands, part.hottest_k, part.state_changes) == (2, 8, 320, 1)
    assert (part.commands_ns, part.command_max_ns) == (5 * 1000 + 3 * 4000, 4000)
    assert part.autonomous is True and part.power_after is not None
    assert readings.part("x", is_complete=False).after is None


def test_a_controller_without_a_log_is_not_asked_for_it(machine: Machine) -> None:
    controller = FakeController(identity_page=identify(apsta=0))
    readings = readings_of(machine, controller)
    readings.take()
    assert controller.asked == [Asked.IDENTITY, Asked.STATE, Asked.HEALTH]
    part = readings.part("", is_complete=True)
    assert part.autonomous is False and part.power_before is None


def test_the_extended_log_counts_what_readings_miss(machine: Machine) -> None:
    controller = FakeController(
        identity_page=identify(version=0x020000),
        extended_page=extended(written=MOST, read=2, states=2**64 - 3, events=255, free=80),
    )
    readings = readings_of(machine, controller)
    readings.take()
    first = [Asked.IDENTITY, Asked.AUTONOMOUS, Asked.LOGS]
    each = [Asked.STATE, Asked.HEALTH, Asked.EXTENDED]
    assert controller.asked == first + each
    controller.extended_page = extended(written=MOST, states=2**64 - 1, throttling=2, incomplete=4)
    readings.take()
    assert controller.asked == first + each * 2
    part = readings.part("", is_complete=True)
    assert part.extended_before is not None and part.extended_after is not None
    before, after = part.extended_before, part.extended_after
    assert (before.media_bytes_written, before.media_bytes_read) == (MOST, 2)
    assert (before.throttling, before.throttling_events, before.free_blocks_percent) == (0, 255, 80)
    assert (before.state_changes, after.state_changes) == (2**64 - 3, 2**64 - 1)
    assert part.state_changes == 0
    assert (after.throttling, after.incomplete_shutdowns) == (2, 4)
    assert readings.part("x", is_complete=False).extended_after is None


@pytest.mark.parametrize(("version", "changes"), [(1, None), (2, 7), (0x0100, 7)])
def test_the_extended_log_counts_state_changes_from_its_version_2_on(
    machine: Machine, version: int, changes: int | None
) -> None:
    controller = FakeController(
        identity_page=identify(version=0x020000),
        extended_page=extended(version, written=MOST, states=7),
    )
    readings = readings_of(machine, controller)
    readings.take()
    before = readings.part("", is_complete=True).extended_before
    assert before is not None
    assert (before.state_changes, before.media_bytes_written) == (changes, MOST)


@pytest.mark.parametrize(
    ("controller", "asked"),
    [
        # Before 2.0 there is no list, and a refused command would be an entry in the error log.
        (FakeController(identity_page=identify(version=0x010400)), 0),
        (FakeController(identity_page=identify(version=0x020000), logs_page=logs(0, 2)), 0),
        (
            FakeController(
                identity_page=identify(version=0x020000), statuses={Asked.LOGS: INVALID_LOG_PAGE}
            ),
            0,
        ),
        # A vendor's own log with this number.
        (FakeController(identity_page=identify(version=0x020000), extended_page=bytes(512)), 1),
        (
            FakeController(
                identity_page=identify(version=0x020000),
                statuses={Asked.EXTENDED: INVALID_LOG_PAGE},
            ),
            1,
        ),
    ],
)
def test_a_controller_without_the_extended_log_is_asked_for_it_once_at_most(
    machine: Machine, controller: FakeController, asked: int
) -> None:
    readings = readings_of(machine, controller)
    readings.take()
    readings.take()
    assert controller.asked.count(Asked.EXTENDED) == asked
    part = readings.part("", is_complete=True)
    assert part.after is not None and part.extended_before is part.extended_after is None


def test_a_refused_feature_or_power_log_costs_no_reading(machine: Machine) -> None:
    refused = (Asked.AUTONOMOUS, Asked.STATE, Asked.POWER)
    controller = FakeController(
        identity_page=identify(measures_power=True), statuses=dict.fromkeys(refused, 0x4002)
    )
    readings = readings_of(machine, controller)
    readings.take()
    part = readings.part("", is_complete=True)
    assert part.before is not None and part.autonomous is None and part.power_before is None
    assert part.samples[0].state is None


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (Asked.IDENTITY, "Identify Controller"),
        (Asked.HEALTH, "the SMART / Health Information log"),
    ],
)
def test_a_controller_without_the_health_log_is_a_sentence(
    machine: Machine, asked: Asked, name: str
) -> None:
    readings = readings_of(machine, FakeController(statuses={asked: INVALID_LOG_PAGE}))
    with pytest.raises(SpekError, match=f"^/dev/nvme0 refused {name} with status 0x4109$"):
        readings.take()


def test_changes_of_the_state_are_those_between_known_ones(machine: Machine) -> None:
    controller = FakeController()
    readings = readings_of(machine, controller)
    part = readings.part("", is_complete=False)
    assert (part.state_changes, part.hottest_k, part.samples) == (0, None, [])
    for state, kelvin in ((0, 0), (None, 300), (0, 302), (2, 301), (0, 0)):
        controller.statuses = {Asked.STATE: 0x4002} if state is None else {}
        controller.state, controller.health_page = state or 0, health(temperature=kelvin)
        readings.take()
    part = readings.part("", is_complete=True)
    assert (part.state_changes, part.hottest_k) == (2, 302)
    assert [sample.state for sample in part.samples] == [0, None, 0, 2, 0]


def test_a_peak_without_a_sample_counts(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvme_log, "SAMPLES_MAX", 4)
    controller = FakeController()
    readings = readings_of(machine, controller)
    for number in range(9):
        # For one reading that has no sample in the end.
        is_peak = number == 5
        controller.state = 2 if is_peak else 0
        controller.health_page = health(temperature=350 if is_peak else 300)
        readings.take()
    part = readings.part("", is_complete=True)
    assert {(sample.state, sample.temperature_k) for sample in part.samples} == {(0, 300)}
    assert (part.readings, part.state_changes, part.hottest_k) == (9, 2, 350)


def test_samples_of_a_long_run_are_thinned_and_keep_both_ends(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvme_log, "SAMPLES_MAX", 4)
    controller = FakeController()
    readings = readings_of(machine, controller)
    for number in range(8):
        controller.health_page = health(temperature=300 + number)
        readings.take()
    kept = [s.temperature_k for s in readings.part("", is_complete=True).samples]
    assert kept == [300, 302, 304, 306, 307]
    controller.health_page = health(temperature=308)
    readings.take()
    kept = [s.temperature_k for s in readings.part("", is_complete=True).samples]
    assert kept == [300, 304, 308]
