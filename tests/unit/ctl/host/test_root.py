# SPDX-License-Identifier: GPL-2.0
"""The part with root's rights: what it imports, what it passes on, what it refuses."""

from __future__ import annotations

import base64
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from enum import IntEnum
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest
from lib.ctl.host_peer import Peer
from lib.ctl.verified import config_of
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk
from lib.fakes.nvme_controller import Machine
from lib.fakes.power_disk import FakeChannel, FakeDisk, polled
from lib.waiting import LONG_S, eventually

from spekctl.block import device as block_device
from spekctl.block import openers, safety, zones
from spekctl.block.blkid import Signature
from spekctl.block.device import Device
from spekctl.errors import ExitCode, RefusedError
from spekctl.host import root, wire
from spekctl.kernel import answers
from spekctl.kernel import link as kernel_link
from spekctl.kernel.client import Kernel
from spekctl.kernel.gen import spek, spek_prober
from spekctl.kernel.netlink import Refusal
from spekctl.kernel.records import ClaimState, RunState
from spekctl.log import buffer
from spekctl.power import disk as power_disk
from spekctl.power import look, nvme_log
from spekctl.power.disk import Disk, Protocol
from spekctl.power.passthrough import NvmeReply
from spekctl.run import candidates
from spekctl.run.rights import Rights

SOON_S = LONG_S
RUN = 7  # of FakeKernel
# All that the process with root's rights has of spekctl.
MODULES = {
    "",
    *("block", "block.augmented", "block.blkid", "block.device", "block.openers"),
    "block.opening",
    *("block.replaced", "block.safety", "block.state_log", "block.zones"),
    *("closing", "condition", "contract", "contract.requests", "contract.wire", "distribution"),
    *("documents", "documents.device", "documents.document", "documents.nvme", "entry", "errors"),
    "files",
    *("host", "host.peer", "host.root", "host.standard", "host.wire"),
    *("kernel", "kernel.answers", "kernel.bare", "kernel.client", "kernel.coded", "kernel.gen"),
    *("kernel.gen.spek", "kernel.gen.spek_prober", "kernel.gen.spek_prober_records"),
    *("kernel.gen.spek_records", "kernel.link", "kernel.netlink", "kernel.records"),
    *("log", "log.buffer", "namespaces", "power", "power.disk", "power.nvme_log"),
    *("power.passthrough", "recorded"),
    *("run", "run.candidates", "run.rights", "suggest", "units"),
    *("workload", "workload.config", "workload.endings", "workload.options", "workload.values"),
}
# Debian's Python has a sitecustomize, which every process imports.
FOREIGN = {"msgspec", "pyroute2", "typing_extensions", "_distutils_hack", "sitecustomize"}


def test_the_process_imports_what_it_needs_and_nothing_else() -> None:
    code = (
        "import runpy, sys\n"
        "sys.argv = ['spekctl', 'host', '--stdio']\n"
        "try:\n"
        "    runpy.run_module('spekctl', run_name='__main__')\n"
        "except SystemExit:\n"
        "    print(*sys.modules, file=sys.stderr)\n"
    )
    requests = b'{"do": "devices", "id": 1}\n'
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], input=requests, capture_output=True, check=True
    )
    imported = set(done.stderr.decode().split())
    ours = {name for name in imported if name.split(".")[0] == "spekctl"} - {"spekctl.__main__"}
    assert {name.removeprefix("spekctl").lstrip(".") for name in ours} <= MODULES
    tops = {name.split(".")[0] for name in imported - ours}
    foreign = {name for name in tops if name not in sys.stdlib_module_names}
    assert {name for name in foreign if not name.startswith("__")} <= FOREIGN | {"spekctl"}
    assert not tops & {"tomllib", "sqlite3", "xml", "http", "ssl", "multiprocessing", "asyncio"}
    assert len(imported) < 260, len(imported)


def encoded(contract: ModuleType, command: IntEnum, values: dict[str, Any]) -> bytes:
    """A message of @command."""
    message = contract.MESSAGES[command]()
    message["cmd"], message["version"] = int(command), contract.VERSION
    message["attrs"] = kernel_link._encode(type(message), values)
    message.encode()
    return bytes(message.data)


class FakeLink:
    """A socket of a module, which remembers what was passed on."""

    passed: list[tuple[str, dict[str, Any]]] = []  # noqa: RUF012 - of all of them
    refuses: Refusal | None = None
    tells: dict[str, list[dict[str, Any]]] = {}  # noqa: RUF012 - by command

    def __init__(self, contract: Any, group: str | None, missing: str) -> None:
        self._contract = contract
        self.group = group
        self.news = threading.Event()
        self.is_closed = False
        LINKS.append(self)

    def forward(self, command: int, attributes: bytes, dump: bool) -> tuple[list[bytes], bool]:
        cls = self._contract.MESSAGES[command]
        name = self._contract.Cmd(command).name
        self.passed.append((name, answers.values(cls, attributes, 0, len(attributes))))
        if self.refuses is not None:
            raise self.refuses
        if name in ("RUN_NEW", "CLAIM_NEW", "PROBE_START"):
            return [encoded(self._contract, self._contract.Cmd(command), {"id": RUN})], False
        told = self.tells.get(name, [])
        return [encoded(self._contract, self._contract.Cmd(command), each) for each in told], dump

    def wait(self, timeout_s: float) -> bool:
        if not self.news.wait(min(timeout_s, 0.05)):
            return False
        self.news.clear()
        return True

    def close(self) -> None:
        self.is_closed = True


LINKS: list[FakeLink] = []


class RootPeer(Peer):
    """Whoever started the host."""

    def desk(self, connect: Callable[[], Kernel], rights: Rights) -> Any:
        return root.Root(self._up, connect, FakeLink)  # type: ignore[arg-type]

    def pass_on(
        self, link: int, contract: ModuleType, command: IntEnum, **values: Any
    ) -> dict[str, Any]:
        data = encoded(contract, command, values)[answers.HEADERS_LEN :]
        text = base64.b64encode(data).decode()
        return self.ask("ask", link=link, command=int(command), attributes=text)

    def new_run(self, **values: Any) -> int:
        """A run that was made; the socket that has it."""
        link = int(self.ask("open", family="spek")["answer"])
        assert "error" not in self.pass_on(link, spek, spek.Cmd.RUN_NEW, **values)
        return link

    def hear(self, link: int, kind: str, state: RunState | ClaimState, *numbers: int) -> None:
        """Have the kernel say that the run or claim with devices 250:@numbers is in @state."""
        target = [{"major": 250, "minor": number, "diskseq": 9} for number in numbers]
        self.hear_of(link, kind, state, target)

    def hear_of(
        self, link: int, kind: str, state: RunState | ClaimState, target: list[dict[str, int]]
    ) -> None:
        """As hear(), of these targets."""
        command = spek.Cmd[f"{kind.upper()}_GET"]
        FakeLink.tells[command.name] = [{"id": RUN, "state": state.code, "target": target}]
        assert "error" not in self.pass_on(link, spek, command, id=RUN)


@pytest.fixture
def peer(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> Iterator[RootPeer]:
    monkeypatch.setattr(FakeLink, "passed", [])
    monkeypatch.setattr(FakeLink, "refuses", None)
    monkeypatch.setattr(FakeLink, "tells", {})
    LINKS.clear()
    kernel.config = config_of("random-write-4k")
    asking = RootPeer(lambda: kernel)
    hello = asking.until("hello")
    assert (hello["protocol"], hello["commands"]) == (4, wire.VERBS)
    yield asking
    asking.hang_up()
    asking.thread.join(SOON_S)
    assert not asking.thread.is_alive()
    asking.lines.close()


def passed() -> list[str]:
    return [name for name, _ in FakeLink.passed]


def test_a_run_that_reads_from_its_claim_to_its_release(peer: RootPeer) -> None:
    link = peer.new_run(seed=5)
    for command in (spek.Cmd.RUN_GET, spek.Cmd.RUN_START, spek.Cmd.RUN_STOP, spek.Cmd.RUN_DEL):
        assert peer.pass_on(link, spek, command, id=RUN)["answer"] == {}
    assert FakeLink.passed == [
        ("RUN_NEW", {"seed": 5}),
        *((name, {"id": RUN}) for name in ("RUN_GET", "RUN_START", "RUN_STOP", "RUN_DEL")),
    ]
    assert peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)["error"]["text"] == (
        f"run {RUN} is not of this host"
    )
    assert peer.ask("close", link=link) == {"id": peer.number, "answer": None}
    assert LINKS[0].is_closed
    assert "there is no socket" in peer.pass_on(link, spek, spek.Cmd.RUN_GET)["error"]["text"]


@pytest.mark.parametrize(
    ("contract", "command"),
    [
        (spek, spek.Cmd.RUN_START),
        (spek, spek.Cmd.RUN_STOP),
        (spek, spek.Cmd.RUN_DEL),
        (spek, spek.Cmd.CLAIM_DEL),
        (spek_prober, spek_prober.Cmd.PROBE_STOP),
        (spek_prober, spek_prober.Cmd.PROBE_DEL),
    ],
)
def test_what_others_have_made_is_left_alone(
    peer: RootPeer, contract: ModuleType, command: IntEnum
) -> None:
    link = int(peer.ask("open", family=contract.FAMILY)["answer"])
    refusal = peer.pass_on(link, contract, command, id=RUN)["error"]
    assert refusal["code"] == ExitCode.USAGE and "is not of this host" in refusal["text"]
    assert "is not of this host" in peer.pass_on(link, contract, command)["error"]["text"]
    assert passed() == []


def test_a_map_and_a_claim_of_others_are_left_alone(peer: RootPeer) -> None:
    link = peer.new_run()
    refusal = peer.pass_on(link, spek, spek.Cmd.MAP_SET, run=RUN + 1, target=0, first=0)
    assert "is not of this host" in refusal["error"]["text"]
    refusal = peer.pass_on(link, spek, spek.Cmd.RUN_NEW, claim=3)
    assert refusal["error"]["text"] == "claim 3 is not of this host"
    peer.pass_on(link, spek, spek.Cmd.CLAIM_NEW, write=1)
    assert "error" not in peer.pass_on(link, spek, spek.Cmd.RUN_NEW, claim=RUN)
    assert "error" not in peer.pass_on(link, spek, spek.Cmd.CLAIM_DEL, id=RUN)
    assert passed() == ["RUN_NEW", "CLAIM_NEW", "RUN_NEW", "CLAIM_DEL"]


@pytest.mark.parametrize(
    ("contract", "command"),
    [
        *(
            (spek, command)
            for command in (spek.Cmd.OP_GET, spek.Cmd.TRACE_FEED, spek.Cmd.TRACE_END)
        ),
        *(
            (spek_prober, command)
            for command in (spek_prober.Cmd.FEED_OPEN, spek_prober.Cmd.FEED_PUSH)
        ),
        (spek_prober, spek_prober.Cmd.FEED_CLOSE),
    ],
)
def test_other_commands_are_not_passed_on(
    peer: RootPeer, contract: ModuleType, command: IntEnum
) -> None:
    link = int(peer.ask("open", family=contract.FAMILY)["answer"])
    refusal = peer.ask("ask", link=link, command=int(command))["error"]
    assert refusal["text"] == f"command {int(command)} of {contract.FAMILY} is not for this host"
    assert passed() == []


def test_no_run_outlives_the_host(peer: RootPeer) -> None:
    link = int(peer.ask("open", family="spek")["answer"])
    refusal = peer.pass_on(link, spek, spek.Cmd.RUN_NEW, detached=1)["error"]
    assert "cannot be detached" in refusal["text"] and passed() == []


@pytest.mark.parametrize("data", [b"\x03\x00\x01\x00", b"\xff\xff\x01\x00abcd"])
def test_what_is_no_attribute_is_not_passed_on(peer: RootPeer, data: bytes) -> None:
    link = int(peer.ask("open", family="spek")["answer"])
    text = base64.b64encode(data).decode()
    refusal = peer.ask("ask", link=link, command=int(spek.Cmd.RUN_GET), attributes=text)["error"]
    assert refusal["text"].startswith("these are no attributes of spek") and passed() == []


def test_a_refusal_of_the_module_is_passed_back(peer: RootPeer) -> None:
    link = int(peer.ask("open", family="spek")["answer"])
    FakeLink.refuses = Refusal(22, "no", 24)
    answer = peer.pass_on(link, spek, spek.Cmd.RUN_NEW)["answer"]
    assert answer == {"refused": {"code": 22, "text": "no", "offset": 24}}


def use_disk(monkeypatch: pytest.MonkeyPatch, signatures: list[Any]) -> None:
    monkeypatch.setattr(block_device, "by_number", lambda major, minor: disk("/dev/fake0"))
    monkeypatch.setattr(safety, "signatures_on", lambda device, diskseq: signatures)


def test_a_run_that_may_write_is_started_after_a_check(
    peer: RootPeer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_disk(monkeypatch, [Signature("xfs", "filesystem", 0)])
    link = peer.new_run(write=1)
    refusal = peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)["error"]
    assert refusal["text"] == f"run {RUN} may write and was not checked"
    for wish, text in (
        ({}, "give --write"),
        ({"write": True}, "/dev/fake0 holds data: file system xfs"),
        ({"write": True, "destroy": ["S999"]}, "--destroy S999 names another device"),
    ):
        assert text in peer.ask("check", run=RUN, **wish)["error"]["text"]
        assert "error" in peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)
    remarks = peer.ask("check", run=RUN, write=True, destroy=["S123"])["answer"]
    assert remarks == ["/dev/fake0 holds data and will be overwritten: file system xfs at byte 0"]
    assert "error" not in peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)
    assert passed() == ["RUN_NEW", "RUN_START"]
    assert "not of this host" in peer.ask("check", run=8, write=True)["error"]["text"]


def test_under_a_claim_a_run_starts_after_a_look_and_a_check(
    peer: RootPeer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the look saw may be overwritten by all runs under the claim, and nothing else."""
    xfs, ext4 = Signature("xfs", "filesystem", 0), Signature("ext4", "filesystem", 0)
    held = SimpleNamespace(id=RUN, write=1, targets=kernel.run_get(RUN).targets)
    monkeypatch.setattr(kernel, "claims", lambda: [held])
    use_disk(monkeypatch, [xfs])
    link = int(peer.ask("open", family="spek")["answer"])
    assert "not of this host" in peer.ask("look", claim=RUN, write=True)["error"]["text"]
    peer.pass_on(link, spek, spek.Cmd.CLAIM_NEW, write=1)
    peer.pass_on(link, spek, spek.Cmd.RUN_NEW, write=1, claim=RUN)
    refusal = peer.ask("check", run=RUN, write=True, destroy=["S123"])["error"]["text"]
    assert refusal == f"claim {RUN} was not looked at"

    assert "holds data" in peer.ask("look", claim=RUN, write=True)["error"]["text"]
    (remark,) = peer.ask("look", claim=RUN, write=True, destroy=["S123"])["answer"]
    assert "will be overwritten" in remark
    use_disk(monkeypatch, [xfs, ext4])
    refusal = peer.ask("check", run=RUN, write=True, destroy=["S123"])["error"]["text"]
    assert "did not hold when it was claimed: file system ext4" in refusal
    assert "error" in peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)
    use_disk(monkeypatch, [xfs])
    assert peer.ask("check", run=RUN, write=True)["answer"] == []
    assert "error" not in peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)


def test_zones_of_devices_of_its_runs_and_claims_are_told(
    peer: RootPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = zones.Zone(0, 1 << 28, 2, 1 << 27)
    device = disk(zoned="host-managed", diskseq=9)
    asked = []

    def report(disk: Device, start: int, count: int) -> list[zones.Zone]:
        asked.append((disk, start, count))
        return [zone]

    monkeypatch.setattr(zones, "report", report)
    monkeypatch.setattr(block_device, "by_number", lambda *number: device)
    refusal = "device 250:0 was in no run or claim of this host"
    assert peer.ask("zones", major=250, minor=0)["error"]["text"] == refusal
    link = int(peer.ask("open", family="spek")["answer"])
    peer.pass_on(link, spek, spek.Cmd.CLAIM_NEW, target=[{"major": 250, "minor": 0}])
    peer.hear(link, "claim", ClaimState.READY, 0)
    peer.pass_on(link, spek, spek.Cmd.RUN_NEW, target=[{"major": 250, "minor": 1}])
    peer.hear(link, "run", RunState.READY, 1)
    assert peer.ask("zones", major=250, minor=0)["answer"] == [[0, 1 << 28, 2, 1 << 27]]
    told = peer.ask("zones", major=250, minor=1, start=512, count=1)["answer"]
    assert told == [[0, 1 << 28, 2, 1 << 27]]
    assert asked == [(device, 0, wire.ZONES_MAX), (device, 512, 1)]
    # Another device has that number now, or none has.
    monkeypatch.setattr(block_device, "by_number", lambda *number: disk(diskseq=10))
    assert peer.ask("zones", major=250, minor=0)["error"]["text"] == refusal
    monkeypatch.setattr(block_device, "by_number", lambda *number: None)
    assert peer.ask("zones", major=250, minor=0)["answer"] == []
    for wrong in ({"count": 0}, {"count": wire.ZONES_MAX + 1}, {"start": -1}, {"minor": 1 << 20}):
        refused = peer.ask("zones", **{"major": 250, "minor": 0, **wrong})["error"]["text"]
        assert "not a request" in refused


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        ("run", (RunState.OPENING, RunState.FAILED, RunState.CLOSING)),
        ("claim", (ClaimState.OPENING, ClaimState.FAILED, ClaimState.CLOSING)),
    ],
)
def test_a_device_that_the_kernel_has_not_opened_is_not_looked_at(
    peer: RootPeer,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    states: tuple[RunState | ClaimState, ...],
) -> None:
    """Whoever may ask for a run or a claim can name any device."""
    monkeypatch.setattr(block_device, "by_number", lambda *number, **owners: disk(diskseq=9))
    monkeypatch.setattr(zones, "report", lambda *asked: [])
    link = int(peer.ask("open", family="spek")["answer"])
    peer.pass_on(link, spek, spek.Cmd[f"{kind.upper()}_NEW"], target=[{"major": 250, "minor": 0}])
    by = {"controller_major": 240, "controller_minor": 0, "what": "health"}
    refusals = "was in no run or claim", "is below no device that was in a run or claim"
    for state in (None, *states):
        if state is not None:
            peer.hear(link, kind, state, 0)
        for verb, more, refusal in zip(("zones", "nvme"), ({}, by), refusals, strict=True):
            text = peer.ask(verb, major=250, minor=0, **more)["error"]["text"]
            assert text == f"device 250:0 {refusal} of this host"
    # One of somebody else is none of this host.
    other = [{"id": RUN + 1, "state": 0, "target": [{"major": 250, "minor": 0}]}]
    FakeLink.tells[f"{kind.upper()}_GET"] = other
    peer.pass_on(link, spek, spek.Cmd[f"{kind.upper()}_GET"])
    assert "error" in peer.ask("zones", major=250, minor=0)
    ready = RunState.READY if kind == "run" else ClaimState.READY
    peer.hear(link, kind, ready, 0)
    assert peer.ask("zones", major=250, minor=0)["answer"] == []


@pytest.mark.parametrize("kind", ["run", "claim"])
def test_what_has_ended_before_it_was_ready_is_not_taken_for_a_later_one(
    peer: RootPeer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(block_device, "by_number", lambda *number: disk(diskseq=9))
    ready = RunState.READY if kind == "run" else ClaimState.READY
    new, end = spek.Cmd[f"{kind.upper()}_NEW"], spek.Cmd[f"{kind.upper()}_DEL"]
    link = int(peer.ask("open", family="spek")["answer"])
    peer.pass_on(link, spek, new)
    peer.pass_on(link, spek, end, id=RUN)
    peer.hear(link, kind, ready, 0)
    assert "error" in peer.ask("zones", major=250, minor=0)
    peer.pass_on(link, spek, new)
    peer.ask("close", link=link)
    peer.hear(int(peer.ask("open", family="spek")["answer"]), kind, ready, 0)
    assert "error" in peer.ask("zones", major=250, minor=0)


def test_controllers_of_its_disks_are_asked_by_known_commands_only(
    peer: RootPeer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = Machine(tmp_path)
    volume, sent = machine.volume(), []

    looked: list[tuple[int, int]] = []

    def by_number(major: int, minor: int, owners: dict[str, set[str]]) -> Device | None:
        looked.append((major, minor))
        return volume if (major, minor) == (253, 0) else None

    def ask_disk(disk: Device, controller: tuple[int, int], asked: nvme_log.Asked) -> NvmeReply:
        assert controller == (240, 3)
        sent.append((disk.name, asked))
        return NvmeReply(2, 7, b"page", 75_000)

    monkeypatch.setattr(nvme_log, "ask_disk", ask_disk)
    disks = [Disk(machine.device(), Protocol.NVME, None)]
    monkeypatch.setattr(power_disk, "below", lambda device, roots: list(disks))
    monkeypatch.setattr(block_device, "by_number", by_number)
    by = {"controller_major": 240, "controller_minor": 3}
    wish = {"major": 259, "minor": 0, "what": "health", **by}
    refusal = "device 259:0 is below no device that was in a run or claim of this host"
    assert peer.ask("nvme", **wish)["error"]["text"] == refusal
    link = int(peer.ask("open", family="spek")["answer"])
    targets = [{"major": 253, "minor": 0}, {"major": 8, "minor": 0}]
    peer.pass_on(link, spek, spek.Cmd.CLAIM_NEW, target=targets)
    peer.hear_of(link, "claim", ClaimState.READY, targets)
    assert peer.ask("nvme", **wish)["answer"] == [2, 7, base64.b64encode(b"page").decode(), 75_000]
    assert peer.ask("nvme", **{**wish, "what": "state"})["answer"][1] == 7
    assert sent == [("nvme0n1", "health"), ("nvme0n1", "state")]
    # What is below which device was looked at once.
    assert looked.count((253, 0)) == 1
    # Another disk has its number: that is not asked by what was seen of the first one.
    sysfs = machine.device().sysfs
    (sysfs / "diskseq").write_text("11\n")
    assert peer.ask("nvme", **wish)["answer"][0] == 2
    assert looked.count((253, 0)) == 2
    disks.clear()
    (sysfs / "dev").unlink()
    assert peer.ask("nvme", **wish)["error"]["text"] == refusal
    assert len(sent) == 3
    for wrong in (
        {"minor": 5},
        {"controller_minor": -1},
        {"what": "format"},
        {"what": 2},
        {"minor": 1 << 20},
    ):
        assert "error" in peer.ask("nvme", **{**wish, **wrong})
    assert len(sent) == 3


def test_a_disk_below_its_devices_is_asked_for_its_power_state(
    peer: RootPeer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = FakeDisk(tmp_path)
    volume = msgspec.structs.replace(disk(diskseq=9), major=253, minor=0)
    channel = FakeChannel(scsi_answer=lambda cdb: polled(0x5E, 2))
    monkeypatch.setattr(look.Observer, "_ask", asking_by(channel))
    monkeypatch.setattr(power_disk, "below", lambda device, roots: [fake.disk])
    monkeypatch.setattr(block_device, "is_there", lambda device: True)
    monkeypatch.setattr(
        block_device,
        "by_number",
        lambda *number, **owners: volume if number == (253, 0) else None,
    )
    wish = {"major": 8, "minor": 0}
    refusal = "device 8:0 is below no device that was in a run or claim of this host"
    assert peer.ask("power-state", **wish)["error"]["text"] == refusal
    assert channel.opens == 0
    link = int(peer.ask("open", family="spek")["answer"])
    targets = [{"major": 253, "minor": 0}]
    peer.pass_on(link, spek, spek.Cmd.CLAIM_NEW, target=targets)
    peer.hear_of(link, "claim", ClaimState.READY, targets)
    assert peer.ask("power-state", **wish)["answer"] == ["standby", "command", "by timer", 1]
    # The helper does not take its word for it that the disk may be asked.
    fake.write("device/power/runtime_status", "suspended")
    assert peer.ask("power-state", **wish)["answer"] == ["suspended", "sysfs", "", 0]
    assert channel.opens == 1
    for wrong in ({"minor": 1}, {"major": -1}, {"what": "sleep"}):
        assert "error" in peer.ask("power-state", **{**wish, **wrong})
    assert channel.opens == 1


def asking_by(channel: FakeChannel) -> Callable[[look.Observer], object]:
    """Observer._ask() by way of @channel."""
    ask = look.Observer._ask

    def asking(observer: look.Observer) -> object:
        observer.open_node = channel.open
        return ask(observer)

    return asking


def test_a_disk_with_an_unknown_user_is_not_written(
    peer: RootPeer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_disk(monkeypatch, [])
    monkeypatch.setattr(openers, "PAUSE_S", 0.0)
    kernel.opens = 2
    link = peer.new_run(write=1)
    refusal = peer.ask("check", run=RUN, write=True)["error"]["text"]
    assert "the kernel counts 1 more open of it than processes have" in refusal
    assert "error" in peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)


def test_a_device_that_is_gone_is_not_checked(
    peer: RootPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_device, "by_number", lambda major, minor: None)
    peer.new_run(write=1)
    assert peer.ask("check", run=RUN, write=True)["error"]["text"].endswith(" is gone")


class Hung:
    """A step that stands still, as one that reads a hung disk."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.free = threading.Event()

    def __call__(self, *_: object, **__: object) -> Any:
        self.reached.set()
        self.free.wait(SOON_S)
        return []


@pytest.mark.parametrize("by_hanging_up", [False, True])
def test_a_disk_that_hangs_holds_up_neither_a_stop_nor_the_end(
    peer: RootPeer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, by_hanging_up: bool
) -> None:
    listing, checking = Hung(), Hung()
    monkeypatch.setattr(candidates, "every", listing)
    use_disk(monkeypatch, [])
    monkeypatch.setattr(safety, "check_write", checking)
    link = peer.new_run(write=1)
    peer.say(b'{"do": "devices", "id": 50}\n')
    peer.say(f'{{"do": "check", "id": 51, "run": {RUN}, "write": true}}\n'.encode())
    assert listing.reached.wait(SOON_S) and checking.reached.wait(SOON_S)
    if by_hanging_up:
        peer.hang_up()
        peer.thread.join(SOON_S)
        assert not peer.thread.is_alive() and kernel.deleted
    else:
        assert peer.ask("stop") == {"id": peer.number, "answer": None}
        assert "error" not in peer.pass_on(link, spek, spek.Cmd.RUN_DEL, id=RUN)
    assert not listing.free.is_set() and not checking.free.is_set()
    listing.free.set()
    checking.free.set()


def test_a_run_that_was_stopped_before_its_start_is_not_started(peer: RootPeer) -> None:
    assert peer.ask("stop")["error"]["text"] == "there is no run to stop"
    link = peer.new_run()
    assert peer.ask("stop")["answer"] is None
    refusal = peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)["error"]
    assert refusal == {
        "code": ExitCode.REFUSED,
        "text": "the run was stopped before it started",
    }
    assert passed() == ["RUN_NEW"]


def test_a_run_under_way_is_stopped(peer: RootPeer, kernel: FakeKernel) -> None:
    link = peer.new_run()
    peer.pass_on(link, spek, spek.Cmd.RUN_START, id=RUN)
    kernel.run_start(RUN)
    assert peer.ask("stop")["answer"] is None
    eventually(lambda: "run-stop" in kernel.calls, "the run was not stopped")


def test_the_runs_of_a_closed_socket_are_the_kernels_to_end(peer: RootPeer) -> None:
    link = peer.new_run()
    peer.ask("close", link=link)
    assert peer.ask("stop")["error"]["text"] == "there is no run to stop"


def test_changes_are_told_to_who_listens(peer: RootPeer) -> None:
    link = peer.ask("open", family="spek", listen=True)["answer"]
    assert LINKS[0].group == spek.GROUP_RUNS
    LINKS[0].news.set()
    assert peer.until("news") == {"event": "news", "link": link}
    refusal = peer.pass_on(link, spek, spek.Cmd.RUN_NEW)["error"]
    assert "is not for this host" in refusal["text"]
    peer.ask("close", link=link)
    eventually(lambda: LINKS[0].is_closed, "the socket stays open")
    refusal = peer.ask("open", family="spek_prober", listen=True)["error"]
    assert refusal["text"] == "spek_prober tells no changes"


def test_sockets_are_limited_and_of_two_modules(peer: RootPeer) -> None:
    assert "no module 'spek_drive'" in peer.ask("open", family="spek_drive")["error"]["text"]
    for _ in range(root.LINKS_MAX):
        assert peer.ask("open", family="spek")["answer"]
    assert "sockets are open" in peer.ask("open", family="spek")["error"]["text"]


def test_records_of_a_log_are_read(
    peer: RootPeer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "worker0"
    path.write_bytes(bytes(range(200)))
    monkeypatch.setattr(buffer, "open_buffer", lambda info, worker: path.open("rb", buffering=0))
    refusal = peer.ask("read-log", run=RUN, worker=0, size=10)["error"]
    assert refusal["text"] == f"run {RUN} is not of this host"
    peer.new_run()
    refusal = peer.ask("read-log", run=RUN, worker=0, size=10)["error"]
    assert refusal["text"] == f"run {RUN} has no log of worker 0"
    run_get = kernel.run_get
    monkeypatch.setattr(kernel, "run_get", lambda run: Logged(run_get(run)))
    assert peer.ask("read-log", run=RUN, worker=0, size=0)["answer"] == ""
    read = [peer.ask("read-log", run=RUN, worker=0, size=150)["answer"] for _ in range(3)]
    assert b"".join(map(base64.b64decode, read)) == bytes(range(200)) and read[2] == ""
    assert "has no log" in peer.ask("read-log", run=RUN, worker=99, size=1)["error"]["text"]
    assert peer.ask("close-log", run=RUN, worker=0)["answer"] is None


class Logged:
    """A run with a log."""

    log_dir = "spek/7"

    def __init__(self, info: Any) -> None:
        self.workers = info.workers
        self.state = info.state


@pytest.mark.parametrize(
    "line",
    [
        b"[]\n",
        b'{"do": "start", "id": 3}\n',
        b'{"do": "open", "id": 3, "family": "spek", "path": "/dev/sda"}\n',
        b'{"do": "ask", "id": 3, "link": -1, "command": 1}\n',
        b'{"do": "ask", "id": 3, "link": 1, "command": 256}\n',
        b'{"do": "read-log", "id": 3, "run": 1, "worker": 0, "size": 1048577}\n',
        b'{"do": "check", "id": 3, "run": "/dev/sda"}\n',
        b"\xff\n",
    ],
)
def test_nonsense_is_answered_and_nothing_else(peer: RootPeer, line: bytes) -> None:
    peer.say(line)
    assert peer.answer()["error"]["text"].startswith("not a request: ")
    assert passed() == []


def test_requests_that_wait_are_limited(peer: RootPeer, monkeypatch: pytest.MonkeyPatch) -> None:
    hung = Hung()
    monkeypatch.setattr(candidates, "every", hung)
    peer.say(b'{"do": "devices", "id": 1}\n')
    assert hung.reached.wait(SOON_S)
    for number in range(root.WAITING_MAX + 1):
        peer.say(f'{{"do": "devices", "id": {number + 2}}}\n'.encode())
    refusal = peer.answer()
    assert refusal["id"] == root.WAITING_MAX + 2
    assert refusal["error"]["text"] == "64 requests are waiting; wait for an answer"
    hung.free.set()


def test_a_failure_is_told_and_ends_nothing(
    peer: RootPeer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(candidates, "every", broken)
    assert peer.ask("devices")["error"]["text"].startswith("the host failed")
    assert "planted" in capsys.readouterr().err

    def refuse() -> None:
        raise RefusedError("not now")

    monkeypatch.setattr(candidates, "every", refuse)
    assert peer.ask("devices")["error"] == {"code": ExitCode.REFUSED, "text": "not now"}
