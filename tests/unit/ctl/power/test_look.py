# SPDX-License-Identifier: GPL-2.0
"""The order of questions: what is sent, and above all what is not."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lib.fakes.power_disk import FakeChannel, FakeDisk, ata_reply, fixed_sense, polled

from spekctl.documents.disk_states import Basis, PowerState
from spekctl.errors import NotPermittedError, SpekError
from spekctl.power import asleep, ata, scsi
from spekctl.power.disk import Protocol
from spekctl.power.look import RECENT_NS, Look, Observer, Told
from spekctl.power.passthrough import NvmeReply, ScsiReply

ACTIVE_SENSE = polled(0, 0)


class Rig:
    """A disk, its channel and a clock, seen by an observer."""

    def __init__(self, root: Path, protocol: Protocol = Protocol.SCSI) -> None:
        self.fake = FakeDisk(root, protocol=protocol)
        self.channel = FakeChannel(scsi_answer=lambda cdb: ACTIVE_SENSE)
        self.now_ns = 0
        self.observer = Observer(
            self.fake.disk, self.channel.open, lambda: self.now_ns, root / "asleep"
        )
        self.observer.count()

    def look(self) -> tuple[PowerState, Basis]:
        seen = self.seen()
        return seen.state, seen.basis

    def seen(self) -> Look:
        self.now_ns += 10**9
        return self.observer.look()

    def answers(self, reply: ScsiReply) -> None:
        self.channel.scsi_answer = lambda cdb: reply


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("suspended", PowerState.SUSPENDED),
        ("suspending", PowerState.SUSPENDED),
        ("resuming", PowerState.STARTING),
    ],
)
def test_a_suspended_disk_is_not_opened(rig: Rig, status: str, state: PowerState) -> None:
    rig.fake.write("device/power/runtime_status", status)
    rig.fake.io(5, in_flight=1)
    assert rig.look() == (state, Basis.SYSFS)
    assert rig.channel.opens == 0


def test_a_sleeping_disk_is_not_opened_until_it_was_used(rig: Rig, tmp_path: Path) -> None:
    asleep.note(rig.fake.disk, tmp_path / "asleep")
    assert rig.look() == (PowerState.SLEEP, Basis.RECORD)
    assert rig.channel.opens == 0
    rig.fake.io(1)
    assert rig.look() == (PowerState.ACTIVE, Basis.COMMAND)


def test_requests_in_flight_need_no_question(rig: Rig) -> None:
    rig.fake.io(0, in_flight=2)
    assert rig.look() == (PowerState.ACTIVE, Basis.IO)
    assert rig.channel.opens == 0


def test_a_disk_at_work_is_not_asked(rig: Rig) -> None:
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    for completed in (1, 2, 3):
        rig.fake.io(completed)
        assert rig.look() == (PowerState.ACTIVE, Basis.IO)
    assert rig.channel.sent == [scsi.REQUEST_SENSE]
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    assert rig.observer.commands == 2


def test_a_glance_sees_io_and_sends_nothing(rig: Rig) -> None:
    assert rig.observer.glance() is None
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    assert rig.observer.glance() is None
    for completed, in_flight in ((1, 0), (1, 3), (2, 0)):
        rig.now_ns += RECENT_NS
        rig.fake.io(completed, in_flight)
        seen = rig.observer.glance()
        assert seen is not None and seen.at_ns == rig.now_ns
        assert (seen.state, seen.basis, seen.io) == (PowerState.ACTIVE, Basis.IO, True)
    assert rig.observer.commands == 1


def test_a_glance_does_not_say_that_a_disk_is_up(rig: Rig) -> None:
    """What it does not say is left for the next look."""
    rig.answers(polled(0x5E, 2))
    assert rig.look() == (PowerState.STANDBY, Basis.COMMAND)
    rig.fake.io(1)
    assert rig.observer.glance() is None
    rig.answers(ACTIVE_SENSE)
    assert rig.look() == (PowerState.ACTIVE, Basis.COMMAND)
    rig.now_ns += RECENT_NS + 1
    rig.fake.io(2)
    assert rig.observer.glance() is None
    assert rig.seen().io


def test_a_disk_that_is_spared_is_known_by_io_and_by_the_kernel(rig: Rig, tmp_path: Path) -> None:
    seen = rig.observer.look("spared")
    assert (seen.state, seen.basis, seen.detail) == (PowerState.UNKNOWN, Basis.NONE, "spared")
    rig.fake.io(1)
    seen = rig.observer.look("spared")
    assert (seen.state, seen.basis) == (PowerState.ACTIVE, Basis.IO)
    rig.fake.write("device/power/runtime_status", "suspended")
    assert rig.observer.look("spared").state is PowerState.SUSPENDED
    rig.fake.write("device/power/runtime_status", "active")
    asleep.note(rig.fake.disk, tmp_path / "asleep")
    assert rig.observer.look("spared").state is PowerState.SLEEP
    assert rig.channel.opens == 0


def test_io_that_the_kernel_does_not_count_is_io(rig: Rig) -> None:
    ios = 0
    rig.observer.uncounted = lambda: ios
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    ios = 1
    assert rig.look() == (PowerState.ACTIVE, Basis.IO)
    ios = 2
    assert rig.observer.glance() is not None
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)


def test_another_process_asks_where_this_one_may_not(rig: Rig, tmp_path: Path) -> None:
    asking = Observer(rig.fake.disk, rig.channel.open, asleep_folder=tmp_path / "asleep")
    other = Observer(rig.fake.disk, ask_by=asking.answer, asleep_folder=tmp_path / "asleep")
    other.count()
    rig.answers(polled(0x5E, 2))
    seen = other.look()
    assert (seen.state, seen.basis) == (PowerState.STANDBY, Basis.COMMAND)
    assert seen.detail == "by timer"
    assert other.commands == asking.commands == len(rig.channel.sent) == 1
    # The kernel has suspended it between the two questions.
    rig.fake.write("device/power/runtime_status", "suspended")
    assert asking.answer() == (PowerState.SUSPENDED, Basis.SYSFS, "", 0)
    rig.fake.write("device/power/runtime_status", "active")

    def fail() -> Told:
        raise SpekError("the helper is gone")

    other.ask_by = fail
    assert (other.look().state, other.look().detail) == (PowerState.UNKNOWN, "the helper is gone")


def test_after_a_long_time_old_io_does_not_count(rig: Rig) -> None:
    """The disk's own timer may have stopped it since."""
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    rig.fake.io(1)
    rig.now_ns += RECENT_NS
    rig.answers(polled(0x5E, 2))
    assert rig.look() == (PowerState.STANDBY, Basis.COMMAND)


def test_io_of_a_disk_that_stood_is_asked_about(rig: Rig) -> None:
    """It may stand again, or have refused the I/O."""
    rig.answers(polled(0x5E, 2))
    assert rig.look() == (PowerState.STANDBY, Basis.COMMAND)
    rig.fake.io(1)
    seen = rig.seen()
    assert (seen.state, seen.basis, seen.io) == (PowerState.STANDBY, Basis.COMMAND, True)
    rig.fake.io(2)
    rig.answers(ACTIVE_SENSE)
    assert rig.look() == (PowerState.ACTIVE, Basis.COMMAND)


def test_a_disk_that_the_kernel_suspends_is_not_asked(rig: Rig) -> None:
    rig.fake.write("device/power/control", "auto")
    seen = rig.seen()
    assert (seen.state, seen.basis) == (PowerState.ACTIVE_OR_IDLE, Basis.SYSFS)
    assert "put off" in seen.detail
    rig.fake.io(1)
    assert rig.look() == (PowerState.ACTIVE, Basis.IO)
    assert rig.channel.opens == 0


def test_without_counters_active_and_idle_are_not_told_apart(rig: Rig) -> None:
    rig.fake.write("queue/iostats", "0")
    assert rig.look() == (PowerState.ACTIVE_OR_IDLE, Basis.COMMAND)


def test_the_first_look_needs_counters_before_it(rig: Rig) -> None:
    rig.observer = replace(rig.observer, _counters=None)
    assert rig.look() == (PowerState.ACTIVE_OR_IDLE, Basis.COMMAND)
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)


def test_what_the_disk_says_of_its_idle_stands(rig: Rig) -> None:
    rig.answers(polled(0x5E, 5))
    rig.fake.io(1)
    assert rig.look() == (PowerState.IDLE_B, Basis.COMMAND)


def test_an_attention_is_read_past(rig: Rig) -> None:
    replies = [polled(0x29, 0, key=6), polled(0x2A, 1, key=6), polled(0x5E, 4)]
    rig.channel.scsi_answer = lambda cdb: replies.pop(0)
    assert rig.look() == (PowerState.STANDBY, Basis.COMMAND)
    assert (len(rig.channel.sent), rig.observer.commands) == (3, 3)


def test_endless_attentions_end(rig: Rig) -> None:
    rig.answers(polled(0x29, 0, key=6))
    seen = rig.seen()
    assert (seen.state, seen.basis) == (PowerState.UNKNOWN, Basis.NONE)
    assert seen.detail.startswith("unit attention")
    assert len(rig.channel.sent) == 5


def test_an_ata_disk_gets_check_power_mode(tmp_path: Path) -> None:
    rig = Rig(tmp_path, Protocol.ATA)
    rig.answers(ata_reply(0))
    assert rig.look() == (PowerState.STANDBY, Basis.COMMAND)
    rig.answers(ata_reply(0xFF))
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    assert rig.channel.sent == [ata.command(ata.CHECK_POWER_MODE)] * 2


def test_a_bridge_that_has_the_short_form_only_is_asked_by_it_from_then_on(tmp_path: Path) -> None:
    rig = Rig(tmp_path, Protocol.ATA)
    refusal = ScsiReply(2, 0, fixed_sense(5, 0x20, 0), b"")
    rig.channel.scsi_answer = lambda cdb: refusal if cdb[0] == 0x85 else ata_reply(0x80)
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    assert [cdb[0] for cdb in rig.channel.sent] == [0x85, 0xA1, 0xA1]


def test_an_nvme_disk_gets_get_features(tmp_path: Path) -> None:
    rig = Rig(tmp_path, Protocol.NVME)
    rig.channel.nvme_answer = lambda opcode, dwords: NvmeReply(0, 0, b"")
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    assert rig.look() == (PowerState.IDLE, Basis.COMMAND)
    assert [command.hex() for command in rig.channel.sent] == ["0601", "0a0c", "0a02", "0a02"]
    assert rig.observer.commands == 4


@pytest.mark.parametrize("state", ["blocked", "offline", "quiesce", "transport-offline"])
def test_a_device_that_takes_no_commands_gets_none(rig: Rig, state: str) -> None:
    rig.fake.write("device/state", state)
    seen = rig.seen()
    assert (seen.state, seen.detail) == (
        PowerState.UNKNOWN,
        f"not asked: the kernel calls it {state}",
    )
    assert rig.channel.opens == 0


def test_a_disk_without_a_way_to_ask_is_active_by_io_only(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.observer.disk = replace(rig.fake.disk, place=None, obstacle="no way")
    seen = rig.seen()
    assert (seen.state, seen.basis, seen.detail) == (PowerState.UNKNOWN, Basis.NONE, "no way")
    rig.fake.io(1)
    assert rig.look() == (PowerState.ACTIVE, Basis.IO)


def test_a_disk_that_has_taken_the_place_of_another_is_not_asked(rig: Rig) -> None:
    """Swapped in the same slot, it has the same place in sysfs, and maybe the same number."""
    rig.fake.write("diskseq", "8")
    seen = rig.seen()
    assert (seen.state, seen.detail) == (PowerState.UNKNOWN, "another disk has taken its place")
    assert rig.channel.opens == 0


def test_a_disk_that_is_gone_is_unknown(rig: Rig) -> None:
    rig.fake.sysfs.rename(rig.fake.sysfs.with_name("gone"))
    seen = rig.seen()
    assert (seen.state, seen.detail) == (PowerState.UNKNOWN, "the disk is gone")


def raising(error: Exception) -> Callable[[bytes], ScsiReply]:
    def answer(cdb: bytes) -> ScsiReply:
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (OSError(errno.ENODEV, "No such device"), "/dev/sg0: No such device"),
        (SpekError("/dev/sg0: a command failed"), "/dev/sg0: a command failed"),
    ],
)
def test_a_failure_ends_no_series_of_looks(rig: Rig, error: Exception, detail: str) -> None:
    rig.channel.scsi_answer = raising(error)
    seen = rig.seen()
    assert (seen.state, seen.basis, seen.detail) == (PowerState.UNKNOWN, Basis.NONE, detail)
    assert rig.channel.closes == rig.channel.opens == 1


def test_who_is_not_root_is_told_so(rig: Rig) -> None:
    rig.channel.scsi_answer = raising(NotPermittedError("only root"))
    with pytest.raises(NotPermittedError):
        rig.look()
    assert rig.channel.closes == 1
