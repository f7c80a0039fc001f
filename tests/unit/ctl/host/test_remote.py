# SPDX-License-Identifier: GPL-2.0
"""The kernel side through a helper: sockets, checks and logs, before a helper that plays them."""

from __future__ import annotations

import base64
import select
import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from lib.fakes.machine import disk

from spekctl.block.zones import Zone, explained, offline
from spekctl.documents.disk_states import Basis, PowerState
from spekctl.errors import ExitCode, UsageError
from spekctl.host import remote, wire
from spekctl.host.client import HostError
from spekctl.host.remote import Remote
from spekctl.kernel import answers, client, link
from spekctl.kernel import link as kernel_link
from spekctl.kernel.gen import spek
from spekctl.kernel.netlink import GENERIC, HEADER, NLM_F_DUMP, Frame
from spekctl.power.nvme_log import Asked
from spekctl.power.passthrough import NvmeReply

CONTROL = 0x10


class FakeHelper:
    """Answers by verb: a value, an exception, or what a function of the request says."""

    def __init__(self, on_event: Callable[[Any], None]) -> None:
        self.on_event = on_event
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Any] = {"open": 3, "close": None, "close-log": None}

    def ask(self, verb: str, answer: Any = Any, **fields: Any) -> Any:
        request = msgspec.json.encode({"do": verb, "id": 1, **fields})
        msgspec.json.decode(request, type=wire.AnyRequest)  # it is one
        self.asked.append((verb, fields))
        value = self.answers[verb]
        value = value(**fields) if callable(value) else value
        if isinstance(value, Exception):
            raise value
        return msgspec.json.decode(msgspec.json.encode(value), type=answer)

    def close(self) -> None:
        self.asked.append(("end", {}))


@pytest.fixture
def lender(monkeypatch: pytest.MonkeyPatch) -> Any:
    def start(words: Any, on_event: Any, on_end: Any, events: Any) -> FakeHelper:
        assert events is wire.AnyEvent and list(words) == ["sudo"]
        return FakeHelper(on_event)

    monkeypatch.setattr(remote, "Helper", start)
    return Remote(["sudo"])


def answer_of(command: int, values: dict[str, Any]) -> bytes:
    message = spek.MESSAGES[command]()
    message["cmd"], message["version"] = command, spek.VERSION
    message["attrs"] = kernel_link._encode(type(message), values)
    message.encode()
    return bytes(message.data)


class Families:
    """The socket to the family that knows the others."""

    def exchange(self, request: bytes) -> tuple[list[Frame], bool]:
        from pyroute2.netlink import ctrlmsg

        message = ctrlmsg()
        message["attrs"] = [["CTRL_ATTR_FAMILY_ID", 0x21]]
        message.encode()
        return [Frame(CONTROL, 0, 1, bytes(message.data))], False

    def close(self) -> None:
        pass


def test_a_client_of_the_module_is_as_with_rights(
    lender: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same requests, and refusals that name the same part."""
    monkeypatch.setattr(remote, "NetlinkSocket", Families)
    monkeypatch.setattr(link, "_open_socket", lender.open_socket)
    kernel = client.connect()
    helper = lender.helper
    assert helper.asked == []  # nothing to be asked of it so far

    def passed(**asked: Any) -> wire.Reply:
        assert asked["command"] == spek.Cmd.RUN_GET and asked["link"] == 3
        values = answers.values(spek.RunMsg, asked["attributes"], 0, len(asked["attributes"]))
        if asked["dump"]:
            assert values == {}
            return wire.Reply([answer_of(spek.Cmd.RUN_GET, {"id": n, "name": "x"}) for n in (1, 2)])
        assert values == {"id": 5}
        return wire.Reply(refused=wire.Refused(2, "There is no run with this number.", 20))

    helper.answers["ask"] = passed
    assert [run.id for run in kernel.runs()] == [1, 2]
    with pytest.raises(UsageError, match="no run with this number"):
        kernel.run_get(5)
    assert [verb for verb, _ in helper.asked] == ["open", "ask", "ask"]
    kernel.close()
    kernel.close()
    assert helper.asked[-1] == ("close", {"link": 3})


def test_a_lost_helper_is_an_error_and_its_sockets_can_be_closed(lender: Any) -> None:
    socket = lender.open_socket("spek")
    socket.join(1)
    gone = HostError("the host ended (status -9)", ExitCode.RUN_FAILED)
    lender.helper.answers.update(ask=gone, close=gone)
    request = HEADER.pack(HEADER.size + 4, 0x21, NLM_F_DUMP, 1, 0) + GENERIC.pack(2, 1, 0)
    with pytest.raises(HostError, match="status -9"):
        socket.exchange(request)
    socket.close()
    socket.close()
    assert socket.fileno() < 0
    socket.wake()  # too late, and nobody's


def test_changes_wake_who_listens(lender: Any) -> None:
    socket = lender.open_socket("spek")
    socket.join(7)
    assert lender.helper.asked == [("open", {"family": "spek", "listen": True})]
    assert select.select([socket], [], [], 0)[0] == []
    for number in (4, 3):
        lender.helper.on_event(wire.News(number))
    assert select.select([socket], [], [], 0)[0] == [socket]
    socket.drain()
    socket.drain()
    assert select.select([socket], [], [], 0)[0] == []
    assert [socket.next_sequence(), socket.next_sequence()] == [1, 2]
    socket.close()
    lender.helper.on_event(wire.News(3))


def test_a_truncated_message_of_the_kernel_is_refused(lender: Any) -> None:
    lender.helper.answers["ask"] = wire.Reply([b"short"])
    request = HEADER.pack(HEADER.size + 4, 0x21, 0, 1, 0) + GENERIC.pack(2, 1, 0)
    with pytest.raises(HostError, match="shorter than its header"):
        lender.open_socket("spek").exchange(request)


def test_the_helper_checks_and_lists(lender: Any) -> None:
    lender.helper.answers.update({"check": ["it holds data"], "look": ["of xfs"], "devices": []})
    wish = SimpleNamespace(devices=[disk()], write_allowed=True, destroy=("S123",))
    looked = lender.look(SimpleNamespace(id=3), wish)
    assert looked.remarks == ["of xfs"]
    assert lender.check_write(lambda: SimpleNamespace(id=7), wish, looked) == ["it holds data"]
    assert lender.helper.asked == [
        ("look", {"claim": 3, "write": True, "destroy": ["S123"]}),
        ("check", {"run": 7, "write": True, "destroy": ["S123"]}),
    ]
    assert lender.candidates() == []
    lender.close()
    assert lender.helper.asked[-1] == ("end", {})


def test_records_are_read_until_there_are_no_more(
    lender: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_LOG_READ", 96)
    data = struct.pack("<300B", *(index % 251 for index in range(300)))
    left = [data]

    def read(run: int, worker: int, size: int) -> str:
        part, left[0] = left[0][:size], left[0][size:]
        return base64.b64encode(part).decode()

    lender.helper.answers["read-log"] = read
    info: Any = SimpleNamespace(id=7)
    opened = lender.open_log(info, 2)
    assert lender.helper.asked == [("read-log", {"run": 7, "worker": 2, "size": 0})]
    room = bytearray(250)
    assert opened.readinto(memoryview(room)) == 250 and bytes(room) == data[:250]
    assert opened.readinto(memoryview(room)) == 50 and bytes(room[:50]) == data[250:]
    before = len(lender.helper.asked)
    assert opened.readinto(memoryview(room)) == 0
    # What comes while it is read is for the next time.
    assert len(lender.helper.asked) == before + 1
    opened.close()
    assert lender.helper.asked[-1] == ("close-log", {"run": 7, "worker": 2})
    lender.helper.answers["read-log"] = HostError("no permission", ExitCode.PERMISSION)
    with pytest.raises(HostError) as refusal:
        lender.open_log(info, 0)
    assert refusal.value.exit_code is ExitCode.PERMISSION


def test_zones_are_asked_for_in_parts(lender: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "ZONES_MAX", 2)
    all_zones = [(start * 512, 512, 1, 512 - start) for start in range(5)]

    def zones(major: int, minor: int, start: int, count: int) -> list[tuple[int, int, int, int]]:
        assert (major, minor) == (250, 0)
        return [zone for zone in all_zones if zone[0] >= start][:count]

    lender.helper.answers["zones"] = zones
    zoned = disk(zoned="host-managed")
    assert lender.zones(zoned) == [Zone(*zone) for zone in all_zones]
    assert lender.zones(zoned, 1024, 1) == [Zone(*all_zones[2])]
    assert lender.zones(zoned, 512, 3) == [Zone(*zone) for zone in all_zones[1:4]]
    before = len(lender.helper.asked)
    assert lender.zones(disk()) == []
    assert len(lender.helper.asked) == before


def test_an_nvme_controller_is_asked_by_the_helper(lender: Any) -> None:
    lender.helper.answers["nvme"] = (0, 3, b"page", 75_000)
    assert lender.nvme(disk(), (240, 3), Asked.HEALTH) == NvmeReply(0, 3, b"page", 75_000)
    numbers = {"major": 250, "minor": 0, "controller_major": 240, "controller_minor": 3}
    fields = {**numbers, "what": "health"}
    assert lender.helper.asked[-1] == ("nvme", fields)


def test_a_disk_is_asked_for_its_power_state_by_the_helper(lender: Any) -> None:
    told = (PowerState.STANDBY, Basis.COMMAND, "by timer", 1)
    lender.helper.answers["power-state"] = told
    assert lender.power_asker(disk())() == told
    assert lender.helper.asked[-1] == ("power-state", {"major": 250, "minor": 0})


def test_zones_that_a_helper_does_not_tell_cost_no_result(lender: Any) -> None:
    lender.helper.answers["zones"] = HostError("not a request")
    assert lender.zones(disk(zoned="host-managed")) == []


def test_a_result_by_a_helper_says_that_a_zone_is_offline(lender: Any) -> None:
    lender.helper.answers["zones"] = [(0, 1 << 20, 15, 0)]
    failure = "read of 4096 bytes at byte 8192 of fake0 failed: errno 5"
    zoned = disk(zoned="host-managed")
    assert explained(failure, [zoned], lender.zones) == f"{failure}: its zone is offline"
    assert offline(zoned, lender.zones) == [Zone(0, 1 << 20, 15)]
