# SPDX-License-Identifier: GPL-2.0
"""Power states of modelled drives: looks wake none, and keep none awake.

The witnesses are the drive, which counts its starts, the time in each condition and its energy, and
the SCSI layer, which traces every command on its way to the drive.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from lib.guest.disks import emulated, settle
from lib.guest.modelled import SMALL, Disk, disk_of, modelled, send
from lib.guest.netlink_raw import Socket
from lib.guest.trace import Events, events
from lib.waiting import LONG_S, comes_true, eventually

from spekctl import cli
from spekctl.documents import document
from spekctl.documents.disk_states import Basis, DiskStates, PowerState
from spekctl.documents.power_states import PowerStates
from spekctl.documents.prober import ProberReport
from spekctl.documents.result import load_result
from spekctl.errors import ExitCode
from spekctl.kernel.drives import Drives, Making, values_of
from spekctl.kernel.gen import spek_drive
from spekctl.kernel.gen.spek_drive import Cmd
from spekctl.kernel.gen.spek_drive_records import StatsInfo
from spekctl.power import asleep, disk
from spekctl.power.disk import Protocol
from spekctl.power.look import RECENT_NS, Look, Observer
from spekctl.power.passthrough import Node, Place, ScsiReply

pytestmark = pytest.mark.usefixtures("drive_module")

STOP, STANDBY = bytes([0x1B, 0, 0, 0, 0, 0]), bytes([0x1B, 0, 0, 0, 0x30, 0])
REQUEST_SENSE, ATA_SIXTEEN, ATA_TWELVE = 0x03, 0x85, 0xA1
LOOKS = 40
DISPATCHED = re.compile(r"scsi_dispatch_cmd_start: host_no=(\d+) .* raw=([0-9a-f]{2})")


class Short(Node):
    """A node to a translation layer that has ATA PASS-THROUGH (12) only."""

    def scsi(
        self, cdb: bytes, length: int = 0, data: bytes = b"", timeout_ms: int = 0
    ) -> ScsiReply:
        if cdb[0] == ATA_SIXTEEN:
            return ScsiReply(2, 0, bytes([0x70, 0, 5, *[0] * 9, 0x20, 0, 0, 0, 0, 0]), b"")
        return super().scsi(cdb, length, data, timeout_ms)


def sent(seen: Events, on: Disk) -> Counter[int]:
    """Operation codes of the commands that the SCSI layer has given to the drive."""
    host = on.address.split(":")[0]
    pairs = DISPATCHED.findall(seen.text())
    return Counter(int(opcode, 16) for number, opcode in pairs if number == host)


def observer(on: Disk, protocol: Protocol = Protocol.SCSI) -> Observer:
    watching = Observer(disk.find(on.node, protocol))
    watching.count()
    return watching


def read(on: Disk, offset: int = 0) -> None:
    """Past the page cache."""
    fd = os.open(on.node, os.O_RDONLY | os.O_DIRECT)
    try:
        assert os.preadv(fd, [mmap.mmap(-1, 4096)], offset) == 4096
    finally:
        os.close(fd)


def condition(drives: Drives, on: Disk) -> str:
    return str(drives.drive(on.drive).condition.value)


def rail_uw(condition_index: int) -> tuple[int, int]:
    return SMALL.watts.base[condition_index]


def nj_between(before: StatsInfo, after: StatsInfo) -> list[int]:
    pairs = zip(before.energies, after.energies, strict=True)
    return [late.nj - early.nj for early, late in pairs]


@contextlib.contextmanager
def answering(drives: Drives, fixed: bool) -> Iterator[Disk]:
    """A drive that returns ATA registers in fixed format, as some bridges do, or as libata does."""
    if not fixed:
        with modelled(drives) as on:
            yield on
        return
    with Socket(spek_drive) as nl:
        answer = nl.ask(Cmd.DRIVE_NEW, **values_of(SMALL, Making()) | {"fixed_ata_sense": 1})
    number = int(answer.values[0]["id"])
    try:
        on = disk_of(drives, number)
        settle()
        yield on
    finally:
        drives.delete(number)
        assert drives.wait_gone(number, LONG_S)


ASKING = [
    pytest.param(Protocol.SCSI, Node, False, REQUEST_SENSE, id="REQUEST SENSE"),
    pytest.param(Protocol.ATA, Node, False, ATA_SIXTEEN, id="ATA 16"),
    pytest.param(Protocol.ATA, Short, False, ATA_TWELVE, id="ATA 12"),
    pytest.param(Protocol.ATA, Node, True, ATA_SIXTEEN, id="ATA 16, fixed format"),
]


@pytest.mark.parametrize(("protocol", "node", "fixed", "opcode"), ASKING)
@pytest.mark.parametrize(
    ("command", "index", "name"), [(STANDBY, 1, "standby"), (STOP, 2, "stopped")]
)
def test_looks_wake_no_drive(
    drives: Drives,
    protocol: Protocol,
    node: Callable[[Place], Node],
    fixed: bool,
    opcode: int,
    command: bytes,
    index: int,
    name: str,
) -> None:
    """A standing spindle stands: exactly its joules, no start, and no command but the one."""
    with answering(drives, fixed) as on, events("scsi") as seen:
        assert send(on.node, command).status == 0
        eventually(lambda: condition(drives, on) == name, "the spindle turns")
        given = sent(seen, on)
        watching = replace(observer(on, protocol), open_node=node)
        watching.count()
        before = drives.stats(on.drive)
        states = {watching.look().state for _ in range(LOOKS)}
        after = drives.stats(on.drive)

        # ATA has one value for both.
        told = PowerState.STANDBY if protocol is Protocol.ATA else PowerState(name)
        assert states == {told}
        assert sent(seen, on) - given == Counter({opcode: LOOKS})
        # The first one in the long form was refused.
        assert watching.commands == LOOKS + (node is Short)
        assert after.starts == before.starts
        assert condition(drives, on) == name
        elapsed = after.now_ns - before.now_ns
        for nj, uw in zip(nj_between(before, after), rail_uw(index), strict=True):
            assert abs(nj - uw * elapsed // 10**6) <= 1


def test_a_suspended_disk_gets_nothing_and_is_not_opened(drives: Drives) -> None:
    with modelled(drives) as on, suspended(on), events("scsi") as seen:
        before, requests = drives.stats(on.drive), disk.requests_of(disk.find(on.node))
        watching = observer(on)
        looks = [watching.look() for _ in range(LOOKS)]

        assert {(look.state, look.basis) for look in looks} == {(PowerState.SUSPENDED, Basis.SYSFS)}
        assert sent(seen, on) == Counter()
        assert watching.commands == 0
        assert disk.requests_of(watching.disk) == requests
        assert (on.device / "power/runtime_status").read_text() == "suspended\n"
        assert drives.stats(on.drive).starts == before.starts
        assert disk.stops_on_suspend(watching.disk)


@contextlib.contextmanager
def managed(on: Disk, delay_ms: int) -> Iterator[None]:
    """The kernel suspends the disk after this time without use, and stops its spindle."""
    scsi_disk = Path("/sys/class/scsi_disk", on.address)
    manage = scsi_disk / "manage_runtime_start_stop"
    if not manage.exists():
        manage = scsi_disk / "manage_start_stop"
    manage.write_text("1")
    (on.device / "power/autosuspend_delay_ms").write_text(str(delay_ms))
    (on.device / "power/control").write_text("auto")
    try:
        yield
    finally:
        (on.device / "power/control").write_text("on")


@contextlib.contextmanager
def suspended(on: Disk) -> Iterator[None]:
    status = on.device / "power/runtime_status"
    with managed(on, 100):
        eventually(lambda: status.read_text() == "suspended\n", "the disk does not suspend")
        yield


def test_looks_do_not_put_off_that_the_kernel_suspends_a_disk(drives: Drives) -> None:
    """A command would count as use: with a delay longer than the interval, it never came to it."""
    with modelled(drives) as on, events("scsi") as seen, managed(on, 2000):
        watching = observer(on)
        seen_states = []

        def look() -> bool:
            seen_states.append(watching.look().state)
            return seen_states[-1] is PowerState.SUSPENDED

        eventually(look, "the disk does not suspend")
        assert set(seen_states) <= {
            *(PowerState.ACTIVE, PowerState.ACTIVE_OR_IDLE, PowerState.SUSPENDED)
        }
        assert watching.commands == 0
        assert REQUEST_SENSE not in sent(seen, on)


@pytest.mark.parametrize("protocol", [Protocol.SCSI, Protocol.ATA])
def test_looks_do_not_put_off_the_drives_own_timer(
    drives: Drives, protocol: Protocol, capfd: pytest.CaptureFixture[str]
) -> None:
    # However long a look takes, many of them come within one of these.
    for timer in ("5s", "60s"):
        with modelled(drives) as on:
            words = ("power", "set", on.node, "idle", "--timer", timer, "--protocol", str(protocol))
            assert cli.run([*words]) == ExitCode.OK
            assert ": idle" in capfd.readouterr().out
            watching = observer(on, protocol)
            first = watching.look()
            until(watching, PowerState.STANDBY)
            assert drives.stats(on.drive).starts == 0
            assert condition(drives, on) in ("standby", "to-standby")
        if first.state in (PowerState.IDLE, PowerState.IDLE_A) and watching.commands > 10:
            break
    else:
        pytest.fail("the drive is not looked at again and again before it stands")


def until(watching: Observer, state: PowerState) -> None:
    """Look all the time: a timer that a look puts off never ends."""
    assert comes_true(lambda: watching.look().state is state), watching.last


def test_active_and_idle_are_told_apart_by_io(drives: Drives) -> None:
    """A disk at work gets no command, which would have to wait for the queue."""
    with modelled(drives) as on, events("scsi") as seen:
        watching = observer(on)
        assert watching.look().state is PowerState.IDLE
        given = sent(seen, on)
        for turn in range(5):
            read(on, 4096 * 100 * turn)
            look = watching.look()
            assert (look.state, look.basis) == (PowerState.ACTIVE, Basis.IO)
        assert sent(seen, on)[REQUEST_SENSE] == given[REQUEST_SENSE]
        look = watching.look()
        assert (look.state, look.basis) == (PowerState.IDLE, Basis.COMMAND)


def test_a_sleeping_disk_gets_nothing_until_it_is_used(
    drives: Drives, capfd: pytest.CaptureFixture[str]
) -> None:
    with modelled(drives) as on, events("scsi") as seen:
        # The time after which the error handler takes a command back, and resets the drive.
        (on.device / "timeout").write_text("2")
        (on.device / "eh_timeout").write_text("2")
        words = ("--protocol", "ata")
        assert cli.run(["power", "set", on.node, "sleep", *words]) == ExitCode.OK
        assert capfd.readouterr().out == f"{on.node}: sleep\n"
        given, before = sent(seen, on), drives.stats(on.drive)
        watching = observer(on, Protocol.ATA)
        looks = [watching.look() for _ in range(LOOKS)]
        assert {(look.state, look.basis) for look in looks} == {(PowerState.SLEEP, Basis.RECORD)}
        assert sent(seen, on) == given
        assert drives.stats(on.drive).starts == before.starts == 0

        assert cli.run(["power", "set", on.node, "active", *words]) == ExitCode.OK
        assert drives.stats(on.drive).starts == 1
        # udev may be reading it: then it is active by I/O, and not asked.
        states = {f"{on.node}: {state}\n" for state in ("active", "active/idle")}
        assert capfd.readouterr().out in states
        assert not asleep.sleeps(watching.disk)


def spent_s(before: StatsInfo, after: StatsInfo, condition: str) -> float:
    """Seconds of a condition, as the drive counts them."""
    pairs = zip(before.conditions, after.conditions, strict=True)
    (spent_ns,) = (late.ns - early.ns for early, late in pairs if late.condition.value == condition)
    return spent_ns / 1e9


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Look, int]]:
    """Looks at disks so far, each with the commands that it took."""
    noted: list[tuple[Look, int]] = []
    look, glance = Observer.look, Observer.glance

    def noting(observer: Observer, spared: str = "") -> Look:
        before = observer.commands
        result = look(observer, spared)
        noted.append((result, observer.commands - before))
        return result

    def glancing(observer: Observer) -> Look | None:
        before = observer.commands
        result = glance(observer)
        if result is not None:
            noted.append((result, observer.commands - before))
        return result

    monkeypatch.setattr(Observer, "look", noting)
    monkeypatch.setattr(Observer, "glance", glancing)
    return noted


def told(path: Path) -> DiskStates:
    (part,) = document.read(path, PowerStates).disks
    return part


def test_a_series_of_looks_counts_what_the_drive_counts(
    drives: Drives,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    looks: list[tuple[Look, int]],
) -> None:
    """Two spin-ups by reads; times as exact as each change says."""
    path = tmp_path / "states.json"
    usual = signal.getsignal(signal.SIGINT)
    with modelled(drives) as on:

        def await_looks() -> None:
            """However long each takes, some that have begun since are over."""
            goal = len(looks) + 4
            eventually(lambda: len(looks) >= goal, "nobody looks")

        def use() -> None:
            # It looks from when it listens to Ctrl-C, which ends it, however long all takes.
            eventually(lambda: signal.getsignal(signal.SIGINT) is not usual, "nobody looks")
            for _ in range(2):
                await_looks()
                read(on)
                await_looks()
                assert send(on.node, STANDBY).status == 0
            await_looks()
            os.kill(os.getpid(), signal.SIGINT)

        assert send(on.node, STANDBY).status == 0
        before = drives.stats(on.drive)
        worker = threading.Thread(target=use)
        worker.start()
        words = ["power", "states", on.node, "--every", "250ms", "-o", str(path)]
        code = cli.run(words)
        worker.join()
        after = drives.stats(on.drive)
        printed = capfd.readouterr().out
        part = told(path)

    assert code == ExitCode.OK
    assert part.spin_ups == after.starts - before.starts == 2
    stood_s = spent_s(before, after, "standby") + spent_s(before, after, "to-standby")
    # Outside of the looks, the drive stands.
    outside_s = (after.now_ns - before.now_ns) / 1e9 - sum(part.seconds.values())
    error_s = 2 * sum(change.within_ns for change in part.changes) / 1e9
    assert abs(part.seconds[PowerState.STANDBY] - (stood_s - outside_s)) <= error_s
    assert part.changes[0].state is part.changes[-1].state is PowerState.STANDBY
    assert part.commands <= part.looks
    assert cli.run(["show", str(path)]) == ExitCode.OK
    assert "spin-ups" in printed and "spin-ups" in capfd.readouterr().out


def test_a_run_has_the_power_states_of_its_disk(
    drives: Drives,
    spek_module: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    looks: list[tuple[Look, int]],
) -> None:
    """Here the load itself starts the disk."""
    path = tmp_path / "run.json"
    with modelled(drives) as on:
        assert send(on.node, STANDBY).status == 0
        before = drives.stats(on.drive)
        words = ["run", "random-read-4k", "--device", on.node, "--time", "3s", "-o", str(path)]
        code = cli.run([*words, "--progress", "none", "--power-states", "250ms"])
        after = drives.stats(on.drive)
    printed = capfd.readouterr().out
    states = load_result(path).power_states

    assert code == ExitCode.OK
    assert states is not None
    (part,) = states
    assert part.disk == on.node
    assert part.changes[0].state is PowerState.STANDBY
    assert part.spin_ups == after.starts - before.starts == 1
    # When it neither stood nor started it was active, as exactly as each change says.
    down_s = sum(spent_s(before, after, name) for name in ("standby", "to-standby", "starting"))
    error_s = 2 * sum(change.within_ns for change in part.changes) / 1e9
    assert part.seconds[PowerState.ACTIVE] >= sum(part.seconds.values()) - down_s - error_s
    # At work it is not asked, in whichever part of the looks that was.
    assert (part.looks, part.commands) == (len(looks), sum(asked for _, asked in looks))
    at_work = [
        asked
        for (before, _), (look, asked) in pairwise(looks)
        if look.io and before.state.is_up and look.at_ns - before.at_ns <= RECENT_NS
    ]
    assert at_work and not any(at_work)
    assert "power states of the disks" in printed


def test_a_run_asks_its_disk_as_often_as_it_says(
    drives: Drives, spek_module: Path, tmp_path: Path
) -> None:
    """Looks are part of every run: what they have sent is in its result."""
    path = tmp_path / "run.json"
    with modelled(drives) as on, events("scsi") as seen:
        before = drives.stats(on.drive)
        words = ["run", "random-read-4k", "--device", on.node, "--time", "3s", "-o", str(path)]
        assert cli.run([*words, "--progress", "none"]) == ExitCode.OK
        assert drives.stats(on.drive).starts == before.starts
        asked = sent(seen, on)[REQUEST_SENSE]
        states = load_result(path).power_states
        assert states is not None
        (part,) = states
        assert part.commands == asked
        assert part.seconds[PowerState.ACTIVE] > 0

        assert cli.run([*words, "--progress", "none", "--power-states", "off"]) == ExitCode.OK
        assert load_result(path).power_states is None
        assert sent(seen, on)[REQUEST_SENSE] == asked


def test_samples_of_the_prober_have_the_power_states_of_idle_disks(
    drives: Drives, prober_module: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nobody loads them; the one that stands is not started."""
    path = tmp_path / "machine.json"
    with modelled(drives) as on, modelled(drives) as standing:
        assert send(standing.node, STOP).status == 0
        before = drives.stats(standing.drive)
        words = ["prober", "start", "--for", "3s", "--power-states", "250ms", "-o", str(path)]
        code = cli.run([*words, "--device", on.node, "--device", standing.node])
        after = drives.stats(standing.drive)
    printed = capfd.readouterr().out
    report = document.read(path, ProberReport)

    assert code == ExitCode.OK
    assert report.power_states is not None
    states = {part.disk: part.changes[-1].state for part in report.power_states}
    assert states == {on.node: PowerState.IDLE, standing.node: PowerState.STOPPED}
    assert after.starts == before.starts
    assert report.start_ns and "power states of the disks" in printed


def test_one_look_at_several_disks(drives: Drives, capfd: pytest.CaptureFixture[str]) -> None:
    with modelled(drives) as first, modelled(drives) as second:
        assert send(second.node, STOP).status == 0
        assert cli.run(["power", "states", first.node, second.node, "--json"]) == ExitCode.OK
        report = json.loads(capfd.readouterr().out)
        states = {part["disk"]: part["changes"][0]["state"] for part in report["disks"]}
        assert states == {first.node: "idle", second.node: "stopped"}


def test_a_disk_in_use_keeps_its_state(drives: Drives, capfd: pytest.CaptureFixture[str]) -> None:
    with modelled(drives) as on:
        fd = os.open(on.node, os.O_RDONLY | os.O_EXCL)
        try:
            pid = os.fork()
            if not pid:
                # The holder is another process than the command.
                code = cli.run(["power", "set", on.node, "standby"])
                os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == ExitCode.REFUSED
            assert f"{on.node} is in use: process" in capfd.readouterr().err
            assert condition(drives, on) == "active"
            assert cli.run(["power", "set", on.node, "standby", "--force"]) == ExitCode.OK
        finally:
            os.close(fd)
        eventually(lambda: condition(drives, on) == "standby", "no standby")


def test_a_suspended_disk_keeps_its_state(
    drives: Drives, capfd: pytest.CaptureFixture[str]
) -> None:
    with modelled(drives) as on, suspended(on):
        assert cli.run(["power", "set", on.node, "standby"]) == ExitCode.REFUSED
        assert "is suspended by the kernel" in capfd.readouterr().err
        assert (on.device / "power/runtime_status").read_text() == "suspended\n"


@pytest.mark.parametrize("target", ["idle", "standby", "sleep"])
def test_start_stop_unit_sets_and_ends_each_state(drives: Drives, target: str) -> None:
    with modelled(drives) as on:
        assert cli.run(["power", "set", on.node, target]) == ExitCode.OK
        wanted = {"idle": "active", "standby": "standby", "sleep": "stopped"}[target]
        assert condition(drives, on) == wanted
        assert cli.run(["power", "set", on.node, "active"]) == ExitCode.OK
        assert condition(drives, on) == "active"
        assert drives.stats(on.drive).starts == (target != "idle")


def test_an_nvme_controller_names_its_power_state(capfd: pytest.CaptureFixture[str]) -> None:
    """QEMU's has one state, and does not let it be set."""
    node = emulated("nvme", 512)
    assert cli.run(["power", "states", node]) == ExitCode.OK
    (line,) = [line for line in capfd.readouterr().out.splitlines() if line.startswith(node)]
    assert line.split()[1:4] == ["idle", "command", "PS0,"]
    assert cli.run(["power", "set", node, "active"]) == ExitCode.RUN_FAILED
    assert "power state cannot be changed" in capfd.readouterr().err
    assert cli.run(["power", "set", node, "standby"]) == ExitCode.USAGE
    assert "no non-operational power state" in capfd.readouterr().err
