# SPDX-License-Identifier: GPL-2.0
"""The host on a fake kernel: its answers, its refusals, and its runs, over real pipes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from lib.ctl.host_peer import Peer
from lib.fakes.kernel import FakeKernel, without_io
from lib.fakes.machine import disk
from lib.fakes.prober import SECOND, FakeProber
from lib.waiting import LONG_S

from spekctl.block import device as block_device
from spekctl.block import safety
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, NoKernelSideError
from spekctl.host import protocol, serve, wire
from spekctl.kernel import client, prober
from spekctl.power.meter import PowerOptions
from spekctl.run import candidates, observe, request

OWN = (
    '[workload]\nname = "t"\nsummary = "s"\n[[stream]]\nname = "s"\nsize = "4KiB"\n'
    '[[asu]]\nname = "a"\ndevice = "/etc/shadow"\n'
)
JOB: dict[str, Any] = {"workload": "random-read-4k", "devices": ["/dev/fake0"]}
TRACE = """
[workload]
name = "t"
summary = "t"
[[stream]]
name = "t"
pattern = "trace"
trace = { files = ["/etc/shadow"] }
"""
SOON_S = LONG_S


@pytest.fixture
def peer(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    peer = Peer(lambda: kernel)
    assert peer.until("hello")["protocol"] == wire.PROTOCOL
    yield peer
    peer.hang_up()
    peer.thread.join(SOON_S)
    assert not peer.thread.is_alive()
    peer.lines.close()


def held(kernel: FakeKernel) -> Callable[[], None]:
    """Let the run stand still until the returned function is called."""
    free = threading.Event()
    before = kernel.on_wait

    def wait(second: int) -> None:
        before(second)
        free.wait(SOON_S)

    kernel.on_wait = wait
    return free.set


def test_a_run_from_its_start_to_its_result(peer: Peer, kernel: FakeKernel) -> None:
    answer = peer.ask("start", job={**JOB, "options": {"time": "3s", "depth": "4"}})["answer"]
    assert answer["name"] == "random-read-4k" and not answer["writes"]
    assert answer["command"] == [
        *("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s", "--depth", "4"),
    ]
    started = peer.until("started")
    assert started["title"] == "random-read-4k on /dev/fake0"
    assert len(started["streams"]) == 1
    ended = peer.until("ended")
    assert ended["code"] == ExitCode.OK and "completed" in ended["text"]
    rows = [row for event in peer.events if event["event"] == "rows" for row in event["rows"]]
    assert [row["read"]["iops"] for row in rows] == [100, 100, 100]
    assert [row["streams"] for row in rows] == [[100]] * 3
    result = msgspec.convert(ended["result"], Result)
    assert result.command == answer["command"] and result.totals.read.ios == 300
    assert result.config.arrivals[0].depth == 4
    assert kernel.deleted and kernel.closed


@pytest.mark.parametrize("verb", ["start", "dry-run"])
def test_a_path_that_means_another_disk_than_the_one_shown_is_refused(
    verb: str, peer: Peer, kernel: FakeKernel
) -> None:
    error = peer.ask(verb, job={**JOB, "ids": {"/dev/fake0": "S122"}})["error"]
    assert error == {
        "code": ExitCode.REFUSED,
        "text": "/dev/fake0 is another device now: S122 was chosen, and S123 is there; look at the"
        " devices again",
    }
    assert "run-new" not in kernel.calls
    error = peer.ask(verb, job={**JOB, "ids": {"/dev/fake1": "S123"}})["error"]
    assert error["text"] == "ids: /dev/fake1 is none of the run's devices"


@pytest.mark.parametrize("shown", ["S123", "250:0/0"])
def test_the_disk_that_was_shown_is_the_same_by_each_of_its_names(shown: str, peer: Peer) -> None:
    """Its serial number may be known late."""
    assert "answer" in peer.ask("dry-run", job={**JOB, "ids": {"/dev/fake0": shown}})


def test_a_disk_that_got_a_second_path_is_the_same(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its serial number then names two disks."""
    second = disk(shared=frozenset({"S123"}), other_paths=("fake1",))
    monkeypatch.setattr(block_device, "find", lambda path: second)
    assert "answer" in peer.ask("dry-run", job={**JOB, "ids": {"/dev/fake0": "S123"}})


def test_another_disk_with_the_serial_number_of_the_one_shown_is_refused(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as another logical unit, or a stick with a serial number that many have."""
    twin = disk(shared=frozenset({"S123"}))
    monkeypatch.setattr(block_device, "find", lambda path: twin)
    error = peer.ask("dry-run", job={**JOB, "ids": {"/dev/fake0": "S123"}})["error"]
    assert error["code"] == ExitCode.REFUSED


def test_a_run_without_io_has_failed_and_says_why(peer: Peer, kernel: FakeKernel) -> None:
    without_io(kernel)
    peer.ask("start", job={**JOB, "options": {"time": "3s"}})
    ended = peer.until("ended")
    assert ended["code"] == ExitCode.RUN_FAILED
    assert ended["text"] == "the run completed; no I/O completed in the measure phase"


def test_a_run_may_start_once_the_end_of_the_last_is_told(
    peer: Peer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()
    send = peer.host._peer.send

    def linger(message: object) -> None:
        send(message)
        if isinstance(message, protocol.Ended):
            told.wait(SOON_S)

    monkeypatch.setattr(peer.host._peer, "send", linger)
    try:
        for _ in range(2):
            peer.events.clear()
            job = {**JOB, "options": {"time": "1s"}}
            assert "error" not in peer.ask("start", job=job)
            assert peer.until("ended")["code"] == ExitCode.OK
    finally:
        told.set()


def test_a_stopped_run_has_a_result(peer: Peer, kernel: FakeKernel) -> None:
    free = held(kernel)
    assert peer.ask("start", job=JOB)["answer"]
    assert peer.ask("status")["answer"]["running"]
    refused = peer.ask("start", job=JOB)["error"]
    assert refused == {"code": ExitCode.REFUSED, "text": "a run is under way; stop it first"}
    peer.until("rows")
    assert "error" not in peer.ask("stop")
    free()
    ended = peer.until("ended")
    assert ended["code"] == ExitCode.INTERRUPTED and ended["result"]["outcome"]["state"] == "done"
    assert "run-stop" in kernel.calls and kernel.deleted
    while peer.ask("status")["answer"]["running"]:
        time.sleep(0.01)
    assert peer.ask("stop")["error"]["text"] == "there is no run to stop"


def test_a_run_ends_with_the_input(peer: Peer, kernel: FakeKernel) -> None:
    free = held(kernel)
    assert peer.ask("start", job=JOB)["answer"]
    peer.until("rows")
    peer.hang_up()
    while not peer.host._interrupts.count:
        time.sleep(0.01)
    free()
    assert peer.until("ended")["code"] == ExitCode.INTERRUPTED
    peer.thread.join(SOON_S)
    assert not peer.thread.is_alive() and kernel.deleted and "run-stop" in kernel.calls


class Hung:
    """A step that stands still, as one that reads a hung disk."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.free = threading.Event()

    def __call__(self, *_: object, **__: object) -> Any:
        self.reached.set()
        self.free.wait(SOON_S)
        return []


def test_a_stop_is_answered_while_a_list_of_devices_hangs(
    peer: Peer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = Hung()
    monkeypatch.setattr(candidates, "every", hung)
    free = held(kernel)
    assert peer.ask("start", job=JOB)["answer"]
    peer.until("rows")
    peer.say(b'{"do": "devices", "id": 50}\n')
    assert hung.reached.wait(SOON_S)
    assert peer.ask("stop") == {"id": peer.number, "answer": None}
    free()
    assert peer.until("ended")["code"] == ExitCode.INTERRUPTED
    hung.free.set()
    assert peer.answer() == {"id": 50, "answer": []}


def test_a_run_ends_with_the_input_while_a_list_of_devices_hangs(
    peer: Peer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = Hung()
    monkeypatch.setattr(candidates, "every", hung)
    free = held(kernel)
    assert peer.ask("start", job=JOB)["answer"]
    peer.until("rows")
    peer.say(b'{"do": "devices", "id": 50}\n')
    assert hung.reached.wait(SOON_S)
    peer.hang_up()
    while not peer.host._interrupts.count:
        time.sleep(0.01)
    free()
    peer.thread.join(SOON_S)
    assert not peer.thread.is_alive() and kernel.deleted and "run-stop" in kernel.calls
    assert not hung.free.is_set()


@pytest.mark.parametrize("by_hanging_up", [False, True])
def test_a_start_that_hangs_is_stopped_before_it_claims_anything(
    peer: Peer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, by_hanging_up: bool
) -> None:
    hung = Hung()
    monkeypatch.setattr(request, "check_write", hung)
    peer.say(b'{"do": "start", "id": 50, "job": {"devices": ["/dev/fake0"]}}\n')
    assert hung.reached.wait(SOON_S)
    if by_hanging_up:
        peer.hang_up()
        peer.thread.join(SOON_S)
    else:
        assert peer.ask("stop") == {"id": peer.number, "answer": None}
    hung.free.set()
    if not by_hanging_up:
        refusal = {"code": ExitCode.REFUSED, "text": "the run was stopped before it started"}
        assert peer.answer() == {"id": 50, "error": refusal}
        assert not peer.ask("status")["answer"]["running"]
    assert "run-new" not in kernel.calls


def test_requests_that_wait_are_limited(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    hung = Hung()
    monkeypatch.setattr(candidates, "every", hung)
    peer.say(b'{"do": "devices", "id": 1}\n')
    assert hung.reached.wait(SOON_S)
    for number in range(serve.WAITING_MAX + 1):
        peer.say(f'{{"do": "devices", "id": {number + 2}}}\n'.encode())
    assert peer.answer() == {
        "id": serve.WAITING_MAX + 2,
        "error": {"code": ExitCode.REFUSED, "text": "64 requests are waiting; wait for an answer"},
    }
    hung.free.set()
    assert [peer.answer()["id"] for _ in range(65)] == list(range(1, 66))


def test_a_failure_at_the_desk_is_told_and_ends_nothing(
    peer: Peer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(candidates, "every", broken)
    assert peer.ask("devices")["error"]["text"].startswith("the host failed")
    assert "planted" in capsys.readouterr().err
    assert peer.ask("status")["answer"]["running"] is False


def test_too_many_devices_are_counted_before_any_is_looked_at(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request, "on", lambda *_: pytest.fail("a device was looked at"))
    job = {"devices": [f"/dev/sd{number}" for number in range(2000)]}
    refusal = peer.ask("dry-run", job=job)["error"]["text"]
    assert refusal == "2000 devices; a run has at most 16"


def test_devices_are_counted_once_each(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several asus may be on one device of their own."""
    monkeypatch.setattr(block_device, "stays_in", lambda *_: False)
    devices = [f"/dev/sd{number}" for number in range(14)]
    devices += [f"asu{number}=/dev/own" for number in (1, 2)]
    words = {"workload": "spc1", "options": {"bsu": "1"}, "devices": [*devices, "asu3=/dev/own"]}
    refusal = peer.ask("dry-run", job=words)["error"]["text"]
    assert refusal.startswith("/dev/sd0 leads out of /dev")


def test_a_run_ends_when_nobody_reads(kernel: FakeKernel) -> None:
    peer = Peer(lambda: kernel)
    peer.until("hello")
    free = held(kernel)
    assert peer.ask("start", job=JOB)["answer"]
    peer.lines.close()
    free()
    deadline = time.monotonic() + SOON_S
    while not kernel.deleted and time.monotonic() < deadline:
        time.sleep(0.01)
    assert kernel.deleted
    peer.hang_up()
    peer.thread.join(SOON_S)


@pytest.mark.parametrize(
    ("job", "code", "text"),
    [
        ({"devices": []}, ExitCode.USAGE, "name a device"),
        ({**JOB, "toml": "x"}, ExitCode.USAGE, "workload and toml exclude each other"),
        ({**JOB, "workload": "/etc/shadow"}, ExitCode.USAGE, "there is no workload '/etc/shadow'"),
        ({**JOB, "workload": "../../x.toml"}, ExitCode.USAGE, "no workload '../../x.toml'"),
        ({**JOB, "devices": ["/etc/shadow"]}, ExitCode.USAGE, "/etc/shadow is not below /dev"),
        ({**JOB, "devices": ["/dev/../etc/x"]}, ExitCode.USAGE, "is not below /dev"),
        ({**JOB, "devices": ["/dev/shm/x"]}, ExitCode.USAGE, "leads out of /dev, or through"),
        ({**JOB, "devices": ["/dev/fd/0"]}, ExitCode.USAGE, "leads out of /dev, or through"),
        ({**JOB, "devices": ["/dev/stdin"]}, ExitCode.USAGE, "leads out of /dev, or through"),
        ({**JOB, "devices": ["all=/etc/shadow"]}, ExitCode.USAGE, "/etc/shadow is not below /dev"),
        ({"devices": ["/etc/shadow"], "toml": OWN}, ExitCode.USAGE, "is not below /dev"),
        ({"devices": [], "toml": OWN}, ExitCode.USAGE, "asu 'a' of t has a device of its own"),
        ({**JOB, "toml": OWN, "workload": ""}, ExitCode.USAGE, "asu 'a' of t has a device of its"),
        ({**JOB, "devices": ["asu1=/dev/fake0"]}, ExitCode.USAGE, "there is no asu 'asu1'"),
        ({**JOB, "options": {"output": "/etc/x"}}, ExitCode.USAGE, "there is no option --output"),
        ({**JOB, "options": {"time": "soon"}}, ExitCode.USAGE, "--time: "),
        ({**JOB, "options": {"depth": "0"}}, ExitCode.USAGE, "depth"),
        ({**JOB, "options": {"write": "yes"}}, ExitCode.USAGE, "--write: it is true or false"),
        ({**JOB, "options": {"backend": "x"}}, ExitCode.USAGE, "--backend: 'x' is none of auto"),
        ({**JOB, "options": {"stop-when": "x"}}, ExitCode.USAGE, "--stop-when: it is a list"),
        ({**JOB, "options": {"rate": "nan"}}, ExitCode.USAGE, "--rate: 'nan' is not a number"),
        ({**JOB, "options": {"log": "/etc/x"}}, ExitCode.USAGE, "without a directory"),
        ({**JOB, "options": {"log": ".."}}, ExitCode.USAGE, "without a directory"),
        ({**JOB, "options": {"log": ""}}, ExitCode.USAGE, "--log: the name is empty"),
        ({**JOB, "options": {"log-buffer": "4096"}}, ExitCode.USAGE, "needs --log as well"),
        (
            {**JOB, "options": {"log": "x", "log-buffer": "7"}},
            ExitCode.USAGE,
            "--log-buffer must be between",
        ),
        ({**JOB, "options": {"power-feed": "x"}}, ExitCode.USAGE, "--power-feed: it is a list"),
        (
            {**JOB, "options": {"power-feed": ["x"], "no-prober": True}},
            ExitCode.USAGE,
            "--power-feed and --no-prober exclude each other",
        ),
        (
            {**JOB, "options": {"power-baseline": "/etc/shadow"}},
            ExitCode.USAGE,
            "--power-baseline: '/etc/shadow' is not a power like",
        ),
        (
            {**JOB, "options": {"power-states": "often"}},
            ExitCode.USAGE,
            "--power-states: 'often' is neither a time with its unit",
        ),
        ({**JOB, "destroy": ["S123"]}, ExitCode.USAGE, "--destroy needs --write as well"),
        (
            {**JOB, "destroy": ["S1"], "options": {"write": True}},
            ExitCode.REFUSED,
            "--destroy S1 names none of the devices given",
        ),
        (
            {"devices": ["/dev/fake0"], "toml": TRACE},
            ExitCode.USAGE,
            "t replays a trace; this program reads no files",
        ),
        ({"devices": ["/dev/fake0"], "toml": "["}, ExitCode.USAGE, "not valid TOML"),
    ],
)
def test_what_is_refused_sends_nothing(
    peer: Peer, kernel: FakeKernel, job: dict[str, Any], code: ExitCode, text: str
) -> None:
    for verb in ("dry-run", "start"):
        error = peer.ask(verb, job=job)["error"]
        assert error["code"] == code and text in error["text"], error
    assert "run-new" not in kernel.calls


def test_a_workload_that_writes_needs_its_option(peer: Peer, kernel: FakeKernel) -> None:
    job = {**JOB, "workload": "random-write-4k"}
    answer = peer.ask("dry-run", job=job)["answer"]
    assert answer["writes"] and 'name = "random-write-4k"' in answer["toml"]
    error = peer.ask("start", job=job)["error"]
    assert error["code"] == ExitCode.REFUSED and "give --write" in error["text"]
    assert "run-new" not in kernel.calls


def test_data_is_only_destroyed_by_its_name(
    peer: Peer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spekctl.block import blkid

    signatures = [blkid.Signature("xfs", "filesystem", 0)]
    monkeypatch.setattr(safety, "signatures_on", lambda device, diskseq: signatures)
    job = {**JOB, "workload": "random-write-4k", "options": {"write": True, "time": "1s"}}
    assert peer.ask("start", job=job)["answer"]
    ended = peer.until("ended")
    assert ended["code"] == ExitCode.REFUSED and "--destroy S123" in ended["text"]
    assert "run-start" not in kernel.calls
    peer.events.clear()
    while peer.ask("status")["answer"]["running"]:
        time.sleep(0.01)
    assert peer.ask("start", job={**job, "destroy": ["S123"]})["answer"]
    assert peer.until("ended")["code"] == ExitCode.OK


def test_what_is_measured_is_what_a_job_asks_for(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, PowerOptions | None]] = []

    def connect(interval_ns: int, power: PowerOptions | None = None) -> tuple[tuple[()], str]:
        asked.append((interval_ns, power))
        return (), "there is no prober"

    monkeypatch.setattr(observe, "connect", connect)
    wish = {"prober-interval": "10ms", "power-feed": ["board", "wall"], "power-baseline": "5W"}
    assert peer.ask("start", job={**JOB, "options": {"time": "1s", **wish}})["answer"]["command"][
        6:
    ] == [
        *("--prober-interval", "10ms", "--power-feed", "board", "--power-feed", "wall"),
        *("--power-baseline", "5W"),
    ]
    assert peer.until("note")["text"] == "there is no prober"
    assert peer.until("ended")["code"] == ExitCode.OK
    assert asked == [(10_000_000, PowerOptions(("board", "wall"), 5.0))]
    peer.events.clear()
    assert peer.ask("start", job={**JOB, "options": {"time": "1s", "no-prober": True}})["answer"]
    assert peer.until("ended")["code"] == ExitCode.OK and len(asked) == 1


def test_a_stream_of_ones_own(peer: Peer) -> None:
    settings = ["stream.main.size=8KiB", "stream.main.pattern=sequential"]
    job = {"devices": ["/dev/fake0"], "settings": settings}
    toml = peer.ask("dry-run", job=job)["answer"]["toml"]
    assert 'size = "8KiB"' in toml and 'pattern = "sequential"' in toml
    again = {"devices": ["/dev/fake0"], "toml": toml, "settings": ["stream.main.read=50%"]}
    assert 'read = "50%"' in peer.ask("dry-run", job=again)["answer"]["toml"]


def test_devices_and_metrics(
    peer: Peer, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_device, "every", lambda everything: [disk("/dev/fake0")])
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "data_on", lambda device: [])
    monkeypatch.setattr(client, "connect", lambda: kernel)
    (entry,) = peer.ask("devices")["answer"]
    assert (entry["path"], entry["id"], entry["state"]) == (
        *("/dev/fake0", "S123", "reading and writing"),
    )
    free = held(kernel)
    peer.ask("start", job=JOB)
    while not peer.ask("status")["answer"]["runs"]:
        time.sleep(0.01)
    assert 'spek_run_active{run="7"}' in peer.ask("metrics")["answer"]
    assert peer.ask("metrics", openmetrics=True)["answer"].endswith("# EOF\n")
    peer.ask("stop")
    free()
    peer.until("ended")


@pytest.mark.parametrize(
    "data",
    [
        b"hello\n",
        b"[]\n",
        b"{}\n",
        b'{"do": "dance", "id": 3}\n',
        b'{"do": "start", "id": 3}\n',
        b'{"do": "start", "id": 3, "job": {"devices": ["/dev/fake0"], "log": "/etc/x"}}\n',
        b'{"do": "stop", "id": "x"}\n',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b'{"do":"status","id":' + b"9" * 5000 + b"}\n",
    ],
)
def test_nonsense_is_answered_and_nothing_else(peer: Peer, data: bytes) -> None:
    peer.say(data)
    assert peer.answer()["error"]["text"].startswith("not a request: ")
    assert not peer.ask("status")["answer"]["running"]


def test_an_endless_request_ends_the_conversation(peer: Peer) -> None:
    def write() -> None:
        try:
            for _ in range(wire.REQUEST_MAX // 4096 + 1):
                peer.say(b"x" * 4096)
        except OSError:
            pass

    threading.Thread(target=write, daemon=True).start()
    assert "at most" in peer.answer()["error"]["text"]
    peer.thread.join(SOON_S)


def test_a_failure_of_the_kernel_side_ends_the_run(
    kernel: FakeKernel, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> FakeKernel:
        raise NoKernelSideError("the module spek is not loaded")

    monkeypatch.setattr(peer.host, "_connect", missing)
    assert peer.ask("start", job=JOB)["answer"]
    assert peer.until("ended")["code"] == ExitCode.NO_KERNEL_SIDE
    assert peer.ask("status")["answer"]["trouble"] == "the module spek is not loaded"
    assert peer.ask("metrics")["error"]["code"] == ExitCode.NO_KERNEL_SIDE


def test_the_status_tells_the_probe_also_without_the_module_of_runs(
    kernel: FakeKernel, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> FakeKernel:
        raise NoKernelSideError("the module spek is not loaded")

    fake = FakeProber()
    monkeypatch.setattr(prober, "Prober", lambda: fake)
    assert peer.ask("status")["answer"]["probe"] == ""
    fake.start(SECOND, detached=True)
    line = "probe 4 of `spekctl prober start --detach` samples: 1 rows, one every 1s"
    assert peer.ask("status")["answer"]["probe"] == line
    monkeypatch.setattr(peer.host, "_connect", missing)
    answer = peer.ask("status")["answer"]
    assert (answer["probe"], answer["trouble"]) == (line, "the module spek is not loaded")


def test_a_broken_run_is_told_and_does_not_end_the_host(
    kernel: FakeKernel, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(observe, "connect", broken)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    assert peer.ask("start", job=JOB)["answer"]
    ended = peer.until("ended")
    assert ended["code"] == ExitCode.RUN_FAILED and "standard error" in ended["text"]
    assert "answer" in peer.ask("status")
