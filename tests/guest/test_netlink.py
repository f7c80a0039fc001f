# SPDX-License-Identifier: GPL-2.0
"""The spek netlink family: who may do what, what is refused and how, dumps, ownership, news.

The sentences are part of the contract: people read them. So the tests compare errno, sentence
and attribute of each refusal.
"""

from __future__ import annotations

import errno
import itertools
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.netlink_raw import (
    NLM_F_ACK,
    NLM_F_DUMP,
    NLM_F_REQUEST,
    NLMSG_ERROR,
    Answer,
    Refusal,
    Socket,
    attribute,
)

from spekctl.gen import spek
from spekctl.gen.spek import Cmd, Law, Metric, Pattern, Phase, Reason, RunState
from spekctl.vm import guest_side

MIB = 1 << 20
SECOND = 10**9
DISK_MIB = 64


@pytest.fixture(scope="module")
def disks(spek_module: Path) -> Iterator[list[str]]:
    """Three null_blk disks for the whole file; the third takes 2 s for each I/O."""
    before = set(guest_side.CONFIGFS.glob("nullb*")) if guest_side.CONFIGFS.exists() else set()
    slow = {"irqmode": "2", "completion_nsec": str(2 * SECOND)}
    nodes = [
        guest_side.make_disk(
            {"bytes": DISK_MIB * MIB, "block_size": 512, "options": options, "kind": "null_blk"}
        )
        for options in ({}, {}, slow)
    ]
    yield nodes
    for item in set(guest_side.CONFIGFS.glob("nullb*")) - before:
        (item / "power").write_text("0")
        item.rmdir()


@pytest.fixture
def nl(spek_module: Path) -> Iterator[Socket]:
    """A socket; afterwards nothing of the test is left in the kernel."""
    with Socket(spek) as found:
        yield found
    with Socket(spek) as cleaner:
        # The runs of the socket that was closed go meanwhile, which interrupts a dump.
        while (left := cleaner.dump(Cmd.RUN_GET)).interrupted:
            pass
        for run in left.values:
            remove(cleaner, run["id"])
    # each run holds the module until its devices are free
    assert eventually(lambda: Path("/sys/module/spek/refcnt").read_text().strip() == "0")


def target(node: str) -> dict[str, int]:
    device = os.stat(node).st_rdev
    return {"major": os.major(device), "minor": os.minor(device)}


def stream(**changes: Any) -> dict[str, Any]:
    values = {
        "asu": 0,
        "arrival": 0,
        "read_ppm": 1_000_000,
        "pattern": int(Pattern.UNIFORM),
        "range_bytes": DISK_MIB * MIB,
        "align_bytes": 4096,
        "size": [{"bytes": 4096, "weight": 1}],
        **changes,
    }
    return {key: value for key, value in values.items() if value is not None}


def asu(**changes: Any) -> dict[str, Any]:
    values = {"bytes": DISK_MIB * MIB, "extent": [{"target": 0, "start": 0}], **changes}
    return {key: value for key, value in values.items() if value is not None}


def config(node: str, **changes: Any) -> dict[str, Any]:
    """A run that is fine; a change to None leaves the attribute out."""
    values = {
        "name": "test",
        "seed": 1,
        "max_outstanding": 32,
        "time_ns": 3600 * SECOND,
        "worker": [{"cpu": 0}],
        "target": [target(node)],
        "asu": [asu()],
        "arrival": [{"law": int(Law.CLOSED), "depth": 4}],
        "stream": [stream()],
        **changes,
    }
    return {key: value for key, value in values.items() if value is not None}


def new(nl: Socket, node: str, **changes: Any) -> int:
    (answer,) = nl.ask(Cmd.RUN_NEW, **config(node, **changes)).values
    return int(answer["id"])


def state(nl: Socket, run: int) -> RunState:
    return RunState(nl.ask(Cmd.RUN_GET, id=run).values[0]["state"])


def eventually(what: Callable[[], bool], timeout_s: float = 30.0) -> bool:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return what()


def is_gone(nl: Socket, run: int) -> bool:
    try:
        nl.ask(Cmd.RUN_GET, id=run)
    except Refusal as no:
        assert no.errno == errno.ENOENT
        return True
    return False


def is_free(node: str) -> bool:
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        assert error.errno == errno.EBUSY
        return False
    return True


def remove(nl: Socket, run: int) -> None:
    """End and delete a run, whatever state it is in."""
    try:
        if state(nl, run) in (RunState.RUNNING, RunState.DRAINING):
            nl.ask(Cmd.RUN_STOP, id=run)
            assert eventually(lambda: state(nl, run) == RunState.DONE)
        nl.ask(Cmd.RUN_DEL, id=run)
    except Refusal as no:
        assert no.errno == errno.ENOENT


def refused(act: Callable[[], Answer]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act()
    assert caught.value.text, "a refusal without a sentence"
    return caught.value


# Refusals ----------------------------------------------------------------------


MISSING = [
    # changes, attribute that is missing, sentence
    ({"name": None}, "name", "A run needs the name of its workload."),
    ({"seed": None}, "seed", "A run needs a seed."),
    ({"max_outstanding": None}, "max_outstanding", "A run needs a limit of outstanding I/Os."),
    ({"worker": None}, "worker", "A run needs at least one worker."),
    ({"target": None}, "target", "A run needs at least one target."),
    ({"asu": None}, "asu", "A run needs at least one address range (asu)."),
    ({"arrival": None}, "arrival", "A run needs at least one arrival process."),
    ({"stream": None}, "stream", "A run needs at least one stream."),
    ({"worker": [{"cpu": 0}, {}]}, "worker[1].cpu", "A worker needs a CPU."),
    (
        {"target": [{"minor": 0}]},
        "target[0].major",
        "A target needs the major number of its device.",
    ),
    (
        {"target": [{"major": 8}]},
        "target[0].minor",
        "A target needs the minor number of its device.",
    ),
    ({"asu": [asu(bytes=None)]}, "asu[0].bytes", "An address range (asu) needs a size."),
    (
        {"asu": [asu(extent=None)]},
        "asu[0].extent",
        "An address range (asu) needs at least one extent.",
    ),
    (
        {"asu": [asu(), asu(extent=[{"target": 0, "start": 0}, {"start": 0}])]},
        "asu[1].extent[1].target",
        "An extent needs the index of its target.",
    ),
    (
        {"asu": [asu(extent=[{"target": 0}])]},
        "asu[0].extent[0].start",
        "An extent needs its first byte on the target.",
    ),
    ({"arrival": [{"depth": 4}]}, "arrival[0].law", "An arrival process needs a law."),
    (
        {"stream": [stream(asu=None)]},
        "stream[0].asu",
        "A stream needs the index of its address range (asu).",
    ),
    (
        {"stream": [stream(arrival=None)]},
        "stream[0].arrival",
        "A stream needs the index of its arrival process.",
    ),
    (
        {"stream": [stream(read_ppm=None)]},
        "stream[0].read_ppm",
        "A stream needs its share of reads.",
    ),
    (
        {"stream": [stream(pattern=None)]},
        "stream[0].pattern",
        "A stream needs an address pattern.",
    ),
    (
        {"stream": [stream(range_bytes=None)]},
        "stream[0].range_bytes",
        "A stream needs the size of its range.",
    ),
    (
        {"stream": [stream(align_bytes=None)]},
        "stream[0].align_bytes",
        "A stream needs the alignment of its addresses.",
    ),
    (
        {"stream": [stream(), stream(size=None)]},
        "stream[1].size",
        "A stream needs at least one block size.",
    ),
    (
        {"stream": [stream(size=[{"bytes": 4096, "weight": 1}, {"weight": 1}])]},
        "stream[0].size[1].bytes",
        "A block size needs its bytes.",
    ),
    (
        {"stream": [stream(size=[{"bytes": 4096}])]},
        "stream[0].size[0].weight",
        "A block size needs its weight.",
    ),
]


@pytest.mark.parametrize(("changes", "missing", "text"), MISSING, ids=[row[1] for row in MISSING])
def test_run_new_names_what_is_missing(
    nl: Socket, disks: list[str], changes: dict[str, Any], missing: str, text: str
) -> None:
    no = refused(lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0], **changes)))

    assert (no.errno, no.missing, no.text) == (errno.EINVAL, missing, text)
    assert no.attr == missing.rpartition(".")[0]


WRONG = [
    # changes, errno, attribute to blame, sentence (or its beginning)
    ({"count": 5}, errno.EINVAL, "count", "A run ends by time or by count, not by both."),
    ({"time_ns": None}, errno.EINVAL, "", "A run needs an end: a time or a count above 0."),
    ({"time_ns": 0}, errno.EINVAL, "time_ns", "A run needs an end: a time or a count above 0."),
    (
        {"ramp_ns": 5, "ramp_count": 5},
        errno.EINVAL,
        "ramp_count",
        "The ramp-up ends by time or by count, not by both.",
    ),
    (
        {"interval_ns": 999_999},
        errno.ERANGE,
        "interval_ns",
        "The shortest report interval is 1 ms; 0 is none at all.",
    ),
    (
        {"time_ns": 366 * 86400 * SECOND + 1},
        errno.ERANGE,
        "time_ns",
        "The longest time is 366 days.",
    ),
    (
        {"ramp_ns": (1 << 64) - 1},
        errno.ERANGE,
        "ramp_ns",
        "The longest time is 366 days.",
    ),
    ({"spin_ns": 10_000_001}, errno.ERANGE, "spin_ns", "A worker spins for at most 10 ms."),
    # the kernel's own words for what the policy refuses
    ({"max_outstanding": 0}, errno.ERANGE, "max_outstanding", "integer out of range"),
    ({"max_outstanding": 65537}, errno.ERANGE, "max_outstanding", "integer out of range"),
    ({"batch": 257}, errno.ERANGE, "batch", "integer out of range"),
    ({"write": 2}, errno.ERANGE, "write", "integer out of range"),
    ({"backend": 3}, errno.ERANGE, "backend", "integer out of range"),
    (
        {"stream": [stream(), stream(read_ppm=1_000_001)]},
        errno.ERANGE,
        "stream[1].read_ppm",
        "integer out of range",
    ),
    ({"name": "x" * 64}, errno.EINVAL, "name", "attribute failed policy validation"),
    ({"seed": b"\1\0\0\0"}, errno.EINVAL, "seed", "invalid attribute length"),
    ({"id": 1}, errno.EINVAL, "id", ""),
    # what only answers carry
    (
        {"worker": [{"cpu": 0, "pid": 1}]},
        errno.EINVAL,
        "worker[0].pid",
        "This attribute is for answers: a request can't set it.",
    ),
    # devices
    (
        {"target": [{"major": 4096, "minor": 0}]},
        errno.ERANGE,
        "target[0]",
        "Device numbers have 12 bits of major and 20 of minor.",
    ),
    (
        {"asu": [asu(extent=[{"target": 1, "start": 0}])]},
        errno.EINVAL,
        "asu[0]",
        "An extent lies on a target that the run doesn't have.",
    ),
    # what streams mean: found by the core, told with the attribute
    (
        {"stream": [stream(), stream(asu=1)]},
        errno.EINVAL,
        "stream[1]",
        "A stream names an address range that is not there.",
    ),
    (
        {"stream": [stream(size=[{"bytes": 1000, "weight": 1}])]},
        errno.EINVAL,
        "stream[0]",
        "A block size is not a multiple of 512 bytes.",
    ),
    ({"arrival": [{"law": 0}]}, errno.ERANGE, "arrival[0]", "The depth of a closed loop"),
    # too many
    ({"worker": [{"cpu": 0}] * 257}, errno.ERANGE, "worker[256]", "A run has at most 256 workers."),
    (
        {"target": [{"major": 8, "minor": i} for i in range(17)]},
        errno.ERANGE,
        "target[16]",
        "A run has at most 16 targets.",
    ),
    (
        {"asu": [asu()] * 17},
        errno.ERANGE,
        "asu[16]",
        "A run has at most 16 address ranges (asus).",
    ),
    (
        {"asu": [asu(extent=[{"target": 0, "start": 0}] * 17)]},
        errno.ERANGE,
        "asu[0].extent[16]",
        "An address range (asu) has at most 16 extents.",
    ),
    (
        {"arrival": [{"law": 0, "depth": 1}] * 17},
        errno.ERANGE,
        "arrival[16]",
        "A run has at most 16 arrival processes.",
    ),
    ({"stream": [stream()] * 65}, errno.ERANGE, "stream[64]", "A run has at most 64 streams."),
    (
        {"stream": [stream(size=[{"bytes": 4096, "weight": 1}] * 65)]},
        errno.ERANGE,
        "stream[0].size[64]",
        "A stream has at most 64 block sizes.",
    ),
]


@pytest.mark.parametrize(
    ("changes", "code", "attr", "text"), WRONG, ids=[f"{i}-{row[2]}" for i, row in enumerate(WRONG)]
)
def test_run_new_says_what_is_wrong(
    nl: Socket, disks: list[str], changes: dict[str, Any], code: int, attr: str, text: str
) -> None:
    no = refused(lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0], **changes)))

    assert (no.errno, no.attr) == (code, attr), no
    assert no.text.lower().startswith(text.lower())
    assert nl.dump(Cmd.RUN_GET).values == []


def test_a_refused_run_leaves_the_device_free(nl: Socket, disks: list[str]) -> None:
    refused(lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0], worker=[{"cpu": 9999}])))
    refused(lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0], asu=[asu(bytes=1 << 40)])))

    assert is_free(disks[0])


def test_the_same_device_twice_is_refused(nl: Socket, disks: list[str]) -> None:
    no = refused(lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0], target=[target(disks[0])] * 2)))

    assert (no.errno, no.attr) == (errno.EINVAL, "target[1]")
    assert no.text == "The same device is a target twice."


def test_a_device_that_somebody_holds_is_busy(nl: Socket, disks: list[str]) -> None:
    held = os.open(disks[1], os.O_RDONLY | os.O_EXCL)
    try:
        no = refused(
            lambda: nl.ask(
                Cmd.RUN_NEW, **config(disks[0], target=[target(disks[0]), target(disks[1])])
            )
        )
    finally:
        os.close(held)

    assert (no.errno, no.attr) == (errno.EBUSY, "target[1]")


def test_a_device_of_another_run_is_busy(nl: Socket, disks: list[str]) -> None:
    new(nl, disks[0])

    no = refused(lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0])))

    assert (no.errno, no.attr) == (errno.EBUSY, "target[0]")


def test_no_such_device(nl: Socket, disks: list[str]) -> None:
    no = refused(
        lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0], target=[{"major": 7, "minor": 9999}]))
    )

    assert no.attr == "target[0]"
    assert no.errno in (errno.ENXIO, errno.ENODEV)


def test_a_disk_that_was_replaced_is_refused(nl: Socket, disks: list[str]) -> None:
    seq = int(Path("/sys/block", os.path.basename(disks[0]), "diskseq").read_text())

    no = refused(
        lambda: nl.ask(
            Cmd.RUN_NEW, **config(disks[0], target=[{**target(disks[0]), "diskseq": seq + 1}])
        )
    )

    assert (no.errno, no.attr) == (errno.ENODEV, "target[0]")
    new(nl, disks[0], target=[{**target(disks[0]), "diskseq": seq}])


def test_a_writing_stream_needs_the_permission_of_the_run(nl: Socket, disks: list[str]) -> None:
    no = refused(lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0], stream=[stream(read_ppm=0)])))
    assert no.errno == errno.EPERM

    run = new(nl, disks[0], stream=[stream(read_ppm=0)], write=1)
    assert nl.ask(Cmd.RUN_GET, id=run).values[0]["write"] == 1


def test_a_range_beyond_the_device_is_refused(nl: Socket, disks: list[str]) -> None:
    no = refused(
        lambda: nl.ask(Cmd.RUN_NEW, **config(disks[0], asu=[asu(bytes=(DISK_MIB + 1) * MIB)]))
    )

    assert no.attr in ("asu[0]", "target[0]")


def test_a_nest_without_its_flag_is_refused(nl: Socket, disks: list[str]) -> None:
    request = nl.request_bytes(Cmd.RUN_NEW, config(disks[0]), NLM_F_REQUEST | NLM_F_ACK)
    ident = next(row[0] for row in spek.RunMsg.nla_map if row[1] == "SPEK_A_RUN_WORKER")
    flagged = struct.pack("=H", ident | 0x8000)
    at = request.index(flagged, 20)
    request = request[:at] + struct.pack("=H", ident) + request[at + 2 :]

    no = refused(lambda: nl.exchange(Cmd.RUN_NEW, request))

    assert no.errno == errno.EINVAL


def test_an_unknown_attribute_is_refused(nl: Socket) -> None:
    request = nl.frame(nl.family, Cmd.RUN_GET, attribute(900, b"1234"), NLM_F_REQUEST | NLM_F_ACK)

    assert refused(lambda: nl.exchange(Cmd.RUN_GET, request)).errno == errno.EINVAL


def test_an_unknown_command_is_refused(nl: Socket) -> None:
    request = nl.frame(nl.family, 99, b"", NLM_F_REQUEST | NLM_F_ACK)

    with pytest.raises(Refusal) as caught:
        nl.exchange(Cmd.RUN_GET, request)
    assert caught.value.errno == errno.EOPNOTSUPP


def test_damaged_requests_are_refused_and_do_no_harm(nl: Socket, disks: list[str]) -> None:
    """Bytes of a good request are changed at random; its device doesn't exist, so none can pass."""
    streams = [stream(name="a"), stream(name="b", pattern=int(Pattern.WALK))]
    nowhere = [{"major": 4000, "minor": 12345, "diskseq": 1}]
    values = config(disks[0], target=nowhere, stream=streams, asu=[asu(name="x"), asu()])
    good = nl.request_bytes(Cmd.RUN_NEW, values, NLM_F_REQUEST | NLM_F_ACK)
    dice = random.Random(20260101)
    head = 20
    codes = set()
    for _ in range(500):
        body = bytearray(good[head:])
        for _ in range(dice.randint(1, 6)):
            value = dice.choice((0, 1, 4, 127, 128, 255, dice.randrange(256)))
            body[dice.randrange(len(body))] = value
        if dice.random() < 0.2:
            del body[dice.randrange(len(body)) :]
        nl.sock.send(struct.pack("=I", head + len(body)) + good[4:head] + bytes(body))
        ((kind, _flags, _seq, payload),) = nl.buffer()
        assert kind == NLMSG_ERROR
        codes.add(-struct.unpack_from("=i", payload)[0])

    assert 0 not in codes
    assert codes >= {errno.EINVAL, errno.ERANGE}
    assert nl.dump(Cmd.RUN_GET).values == []


BY_ID = [Cmd.RUN_GET, Cmd.RUN_START, Cmd.RUN_STOP, Cmd.RUN_DEL]
DUMPS = [Cmd.STATS_GET, Cmd.INTERVAL_GET, Cmd.OP_GET]


@pytest.mark.parametrize("cmd", BY_ID, ids=lambda cmd: cmd.name)
def test_a_command_needs_the_number_of_a_run_that_exists(nl: Socket, cmd: Cmd) -> None:
    no = refused(lambda: nl.ask(cmd))
    assert (no.errno, no.text) == (errno.EINVAL, "The request needs the number of a run.")

    no = refused(lambda: nl.ask(cmd, id=12345))
    assert (no.errno, no.attr) == (errno.ENOENT, "id")
    assert no.text == "There is no run with this number."


@pytest.mark.parametrize("cmd", DUMPS, ids=lambda cmd: cmd.name)
def test_a_dump_needs_the_number_of_a_run_that_exists(nl: Socket, cmd: Cmd) -> None:
    no = refused(lambda: nl.dump(cmd))
    assert (no.errno, no.text) == (errno.EINVAL, "The request needs the number of a run.")

    no = refused(lambda: nl.dump(cmd, run=12345))
    assert (no.errno, no.text) == (errno.ENOENT, "There is no run with this number.")


def test_a_dump_of_runs_takes_no_number(nl: Socket) -> None:
    no = refused(lambda: nl.dump(Cmd.RUN_GET, id=1))

    assert (no.errno, no.text) == (
        errno.EINVAL,
        "A dump is of all runs: leave the number out.",
    )


@pytest.mark.parametrize(
    ("values", "code", "text"),
    [
        ({"count": 5}, errno.EINVAL, "The request needs the number of a worker."),
        ({"worker": 0}, errno.EINVAL, "The request needs the number of operations."),
        ({"worker": 1, "count": 5}, errno.ERANGE, "The run has no worker with this number."),
        (
            {"worker": 0, "count": 1_000_001},
            errno.ERANGE,
            "At most 1000000 operations can be had.",
        ),
    ],
)
def test_op_get_says_what_is_wrong(
    nl: Socket, disks: list[str], values: dict[str, int], code: int, text: str
) -> None:
    run = new(nl, disks[0])

    no = refused(lambda: nl.dump(Cmd.OP_GET, run=run, **values))

    assert (no.errno, no.text) == (code, text)


def test_a_run_in_the_wrong_state_is_busy(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0])
    nl.ask(Cmd.RUN_START, id=run)

    for cmd in (Cmd.RUN_START, Cmd.RUN_DEL):
        no = refused(lambda cmd=cmd: nl.ask(cmd, id=run))
        assert (no.errno, no.attr) == (errno.EBUSY, "id")

    nl.ask(Cmd.RUN_STOP, id=run)
    assert eventually(lambda: state(nl, run) == RunState.DONE)
    assert refused(lambda: nl.ask(Cmd.RUN_START, id=run)).errno == errno.EBUSY


# Rights ------------------------------------------------------------------------

# Sends requests as they are and prints errno and sentence of each ack, or joins a group. All
# in one process and without imports: a start of Python takes seconds in a guest.
SENDER = r"""
import socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
s.bind((0, 0)); s.settimeout(20); s.setsockopt(270, 11, 1); s.setsockopt(270, 10, 1)
if sys.argv[1] == "join":
    try:
        s.setsockopt(270, 1, int(sys.argv[2])); print(0)
    except OSError as error:
        print(error.errno)
    sys.exit()
for request in sys.argv[1:]:
    s.send(bytes.fromhex(request))
    data = s.recv(65536)
    kind, flags = struct.unpack_from("=HH", data, 4)
    code = struct.unpack_from("=i", data, 16)[0]
    text = data[40 if kind == 2 else 24:].split(b"\0")[0] if flags & 0x200 else b""
    print(-code, text.decode(errors="replace"))
"""

NO_RIGHTS = "This needs CAP_SYS_ADMIN in the initial user namespace: be root."
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NET_ADMIN = [*NOBODY, "--inh-caps=+net_admin", "--ambient-caps=+net_admin"]
SYS_ADMIN = [*NOBODY, "--inh-caps=+sys_admin", "--ambient-caps=+sys_admin"]
OTHER_USER_NS = ["unshare", "--user", "--map-root-user"]
OTHER_NET_NS = ["unshare", "--net"]


def run_as(prefix: list[str], *arguments: str) -> list[tuple[int, str]]:
    """Errno and sentence for each argument."""
    done = subprocess.run(
        [*prefix, sys.executable, "-S", "-E", "-c", SENDER, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return [(int(code), text) for code, _, text in lines]


def send_as(prefix: list[str], request: bytes) -> tuple[int, str]:
    (answer,) = run_as(prefix, request.hex())
    return answer


def join_as(prefix: list[str], group: int) -> int:
    ((code, _text),) = run_as(prefix, "join", str(group))
    return code


def requests(nl: Socket, node: str) -> dict[str, bytes]:
    """One well-formed request of each kind."""
    do, dump = NLM_F_REQUEST | NLM_F_ACK, NLM_F_REQUEST | NLM_F_DUMP
    found = {"run-new": nl.request_bytes(Cmd.RUN_NEW, config(node), do)}
    found |= {cmd.name: nl.request_bytes(cmd, {"id": 1}, do) for cmd in BY_ID}
    found |= {f"{cmd.name} dump": nl.request_bytes(cmd, {"run": 1}, dump) for cmd in DUMPS}
    return {**found, "RUN_GET dump": nl.request_bytes(Cmd.RUN_GET, {}, dump)}


@pytest.mark.parametrize(
    "prefix",
    [NOBODY, NET_ADMIN, OTHER_USER_NS],
    ids=["ordinary user", "only CAP_NET_ADMIN", "root of another user namespace"],
)
def test_nothing_is_allowed_without_the_right(
    nl: Socket, disks: list[str], prefix: list[str]
) -> None:
    wanted = requests(nl, disks[0])

    answers = run_as(prefix, *(request.hex() for request in wanted.values()))

    expected = dict.fromkeys(wanted, (errno.EPERM, NO_RIGHTS))
    assert dict(zip(wanted, answers, strict=True)) == expected


def test_cap_sys_admin_is_enough(nl: Socket) -> None:
    request = nl.request_bytes(Cmd.RUN_GET, {"id": 12345}, NLM_F_REQUEST | NLM_F_ACK)

    assert send_as(SYS_ADMIN, request) == (
        errno.ENOENT,
        "There is no run with this number.",
    )


def test_a_socket_of_root_in_the_hands_of_another_has_no_right(nl: Socket) -> None:
    """The right is the sender's as well as the opener's."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            nl.ask(Cmd.RUN_GET, id=1)
        except Refusal as no:
            os.write(writer, str(no.errno).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert pipe.read() == str(errno.EPERM)
    os.waitpid(child, 0)


def test_the_family_is_not_in_other_network_namespaces(nl: Socket) -> None:
    request = nl.request_bytes(Cmd.RUN_GET, {"id": 1}, NLM_F_REQUEST | NLM_F_ACK)

    assert send_as(OTHER_NET_NS, request)[0] == errno.ENOENT


def test_news_need_the_right_too(nl: Socket) -> None:
    """Both stock kernels can restrict a group; compat has no other way than to ask them."""
    group = nl.groups[spek.GROUP_RUNS]

    assert join_as(NOBODY, group) == errno.EPERM
    assert join_as(NET_ADMIN, group) == errno.EPERM
    assert join_as([], group) == 0


# What runs tell ------------------------------------------------------------------


def test_run_get_tells_the_configuration(nl: Socket, disks: list[str]) -> None:
    run = new(
        nl,
        disks[0],
        name="all of it",
        seed=(1 << 64) - 1,
        batch=7,
        spin_ns=1234,
        interval_ns=SECOND,
        ramp_count=99,
        max_errors=3,
        detached=1,
        worker=[{"cpu": 1}, {"cpu": 0}],
        target=[target(disks[0]), target(disks[1])],
    )

    (info,) = nl.ask(Cmd.RUN_GET, id=run).values

    expected = {
        "id": run,
        "name": "all of it",
        "state": int(RunState.READY),
        "reason": int(Reason.NONE),
        "seed": (1 << 64) - 1,
        "batch": 7,
        "spin_ns": 1234,
        "interval_ns": SECOND,
        "ramp_count": 99,
        "ramp_ns": 0,
        "time_ns": 3600 * SECOND,
        "count": 0,
        "max_errors": 3,
        "detached": 1,
        "write": 0,
        "max_outstanding": 32,
    }
    assert {key: info[key] for key in expected} == expected
    assert [worker["cpu"] for worker in info["worker"]] == [1, 0]
    assert [one["name"] for one in info["target"]] == [os.path.basename(d) for d in disks[:2]]
    for one, node in zip(info["target"], disks[:2], strict=True):
        assert {key: one[key] for key in ("major", "minor")} == target(node)
        assert one["bytes"] == DISK_MIB * MIB
        assert one["logical_block"] == 512
        assert one["backend_reason"]


def test_a_run_of_256_workers_fits_into_an_answer_and_a_dump(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], worker=[{"cpu": 0}] * 256, max_outstanding=256)

    (one,) = nl.ask(Cmd.RUN_GET, id=run).values
    (same,) = nl.dump(Cmd.RUN_GET).values

    assert len(one["worker"]) == len(same["worker"]) == 256


def test_defaults(nl: Socket, disks: list[str]) -> None:
    (info,) = nl.ask(Cmd.RUN_GET, id=new(nl, disks[0])).values

    assert {key: info[key] for key in ("batch", "spin_ns", "interval_ns", "max_errors")} == {
        "batch": 16,
        "spin_ns": 0,
        "interval_ns": 0,
        "max_errors": 0,
    }


# Dumps ---------------------------------------------------------------------------


def histograms(answer: Answer) -> dict[tuple[int, int, Metric], list[dict[str, Any]]]:
    found: dict[tuple[int, int, Metric], list[dict[str, Any]]] = {}
    for values in answer.values:
        if "metric" in values:
            assert values["phase"] == Phase.MEASURE
            key = (values["stream"], values["direction"], Metric(values["metric"]))
            found.setdefault(key, []).append(values)
    return found


def test_a_statistics_dump_agrees_with_itself_while_the_run_goes_on(
    nl: Socket, disks: list[str]
) -> None:
    streams = [stream(read_ppm=500_000), stream(read_ppm=500_000)]
    run = new(nl, disks[0], stream=streams, write=1, interval_ns=10**7)
    nl.ask(Cmd.RUN_START, id=run)
    seen = []
    with Socket(spek, recv_bytes=8192) as slow:  # several reads for each dump
        for _ in range(5):
            time.sleep(0.15)
            answer = slow.dump(Cmd.STATS_GET, run=run)
            assert not answer.interrupted
            counters = {
                (one["stream"], one["direction"]): one
                for one in answer.values
                if "metric" not in one and one["phase"] == Phase.MEASURE
            }
            assert len(counters) == 4
            found = histograms(answer)
            assert len(found) == 4 * len(Metric)
            for (number, direction, _metric), parts in found.items():
                buckets = b"".join(part["hist"] for part in parts)
                total = sum(struct.unpack(f"={len(buckets) // 8}Q", buckets))
                assert total == counters[number, direction]["ios"]
                assert all(len(part["hist"]) <= 256 * 8 for part in parts)
                ends = [part["hist_first"] + len(part["hist"]) // 8 for part in parts]
                starts = [part["hist_first"] for part in parts]
                assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
            seen.append(sum(one["ios"] for one in counters.values()))
    assert seen == sorted(seen) and seen[0] < seen[-1]


def test_intervals_are_read_from_a_number_on(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], interval_ns=2 * 10**7)
    nl.ask(Cmd.RUN_START, id=run)
    assert eventually(lambda: nl.ask(Cmd.RUN_GET, id=run).values[0]["intervals"] >= 8)

    rows = nl.dump(Cmd.INTERVAL_GET, run=run).values
    late = nl.dump(Cmd.INTERVAL_GET, run=run, since=5).values

    assert [row["seq"] for row in rows] == list(range(len(rows)))
    assert late[0]["seq"] == 5
    for row in rows:
        assert len(row["cell"]) == 2 and len(row["streams"]) == 32
        reads, read_bytes, writes, write_bytes = struct.unpack("=4Q", row["streams"])
        assert (reads, read_bytes) == (row["cell"][0]["ios"], row["cell"][0]["bytes"])
        assert (writes, write_bytes) == (0, 0)
    assert all(a["end_ns"] == b["start_ns"] for a, b in itertools.pairwise(rows))
    beyond = nl.dump(Cmd.INTERVAL_GET, run=run, since=1 << 60).values
    assert beyond == []


def test_intervals_end_where_they_were_at_the_first_call(nl: Socket, disks: list[str]) -> None:
    """A reader slower than the run must not read for ever."""
    run = new(nl, disks[0], interval_ns=10**6)
    nl.ask(Cmd.RUN_START, id=run)
    assert eventually(lambda: nl.ask(Cmd.RUN_GET, id=run).values[0]["intervals"] >= 50)
    request = nl.request_bytes(Cmd.INTERVAL_GET, {"run": run}, NLM_F_REQUEST | NLM_F_DUMP)
    answer = Answer()
    with Socket(spek, recv_bytes=4096) as slow:
        before = nl.ask(Cmd.RUN_GET, id=run).values[0]["intervals"]
        slow.sock.send(request)
        first = nl.ask(Cmd.RUN_GET, id=run).values[0]["intervals"]
        while not slow.receive(Cmd.INTERVAL_GET, request, answer):
            time.sleep(0.02)
    assert before <= len(answer.messages) <= first


def ops(answer: Answer) -> bytes:
    data = b""
    for values in answer.values:
        assert values["first"] == len(data) // 32
        assert len(values["ops"]) <= 64 * 32
        data += values["ops"]
    return data


@pytest.mark.parametrize("count", [0, 1, 64, 65, 1000])
def test_op_get_gives_as_many_as_wanted(nl: Socket, disks: list[str], count: int) -> None:
    run = new(nl, disks[0])

    data = ops(nl.dump(Cmd.OP_GET, run=run, worker=0, count=count))

    assert len(data) == 32 * count


def test_op_get_is_the_same_every_time_and_for_every_buffer(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], worker=[{"cpu": 0}, {"cpu": 1}])
    wanted = {"run": run, "count": 5000}

    once = ops(nl.dump(Cmd.OP_GET, worker=0, **wanted))
    with Socket(spek, recv_bytes=4096) as small:
        again = ops(small.dump(Cmd.OP_GET, worker=0, **wanted))
    other = ops(nl.dump(Cmd.OP_GET, worker=1, **wanted))

    assert once == again
    assert once != other
    for _at, addr, size, _rep, number, _asu, _arr, write in struct.iter_unpack("=QQIIHHHH", once):
        assert addr % 4096 == 0 and addr + size <= DISK_MIB * MIB
        assert (size, number, write) == (4096, 0, 0)


def test_a_dump_keeps_its_run_until_it_ends(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0])
    answer = Answer()
    with Socket(spek, recv_bytes=8192) as reader:
        request = reader.request_bytes(
            Cmd.OP_GET, {"run": run, "worker": 0, "count": 20_000}, NLM_F_REQUEST | NLM_F_DUMP
        )
        reader.sock.send(request)
        assert not reader.receive(Cmd.OP_GET, request, answer)

        nl.ask(Cmd.RUN_DEL, id=run)
        assert is_gone(nl, run)
        while not reader.receive(Cmd.OP_GET, request, answer):
            pass

    assert len(ops(answer)) == 32 * 20_000


def test_a_dump_that_nobody_reads_to_the_end_holds_nothing(nl: Socket, disks: list[str]) -> None:
    """Its socket is closed in the middle; the fixture unloads the module later."""
    run = new(nl, disks[0], interval_ns=10**6)
    nl.ask(Cmd.RUN_START, id=run)
    time.sleep(0.2)
    for cmd, values in (
        (Cmd.OP_GET, {"run": run, "worker": 0, "count": 100_000}),
        (Cmd.STATS_GET, {"run": run}),
        (Cmd.INTERVAL_GET, {"run": run}),
        (Cmd.RUN_GET, {}),
    ):
        with Socket(spek, recv_bytes=4096) as reader:
            request = reader.request_bytes(cmd, values, NLM_F_REQUEST | NLM_F_DUMP)
            reader.sock.send(request)
            reader.buffer()
    remove(nl, run)
    assert eventually(lambda: Path("/sys/module/spek/refcnt").read_text().strip() == "0")


def test_a_dump_of_runs_says_when_the_set_changed(nl: Socket, null_blk: Callable[..., str]) -> None:
    # eight workers make a run so large that a buffer holds few; two buffers are ahead of the reader
    workers = [{"cpu": 0}] * 8
    runs = [new(nl, null_blk(size_mb=DISK_MIB), worker=workers) for _ in range(12)]
    answer = Answer()
    with Socket(spek, recv_bytes=4096) as reader:
        assert not reader.dump(Cmd.RUN_GET).interrupted

        request = reader.request_bytes(Cmd.RUN_GET, {}, NLM_F_REQUEST | NLM_F_DUMP)
        reader.sock.send(request)
        assert not reader.receive(Cmd.RUN_GET, request, answer)
        nl.ask(Cmd.RUN_DEL, id=runs[-1])
        while not reader.receive(Cmd.RUN_GET, request, answer):
            pass

    assert answer.interrupted
    told = [values["id"] for values in answer.values if values]
    assert told == runs[:-1]
    for run in runs[:-1]:
        nl.ask(Cmd.RUN_DEL, id=run)


# Ownership -----------------------------------------------------------------------


def child_makes(node: str, start: bool, **changes: Any) -> tuple[int, int]:
    """A process that makes a run and waits for its end; returns (pid, run)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Socket(spek) as mine:
                run = new(mine, node, **changes)
                if start:
                    mine.ask(Cmd.RUN_START, id=run)
                os.write(writer, str(run).encode() + b"\n")
                signal.pause()
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        return child, int(pipe.readline())


@pytest.mark.parametrize("start", [False, True], ids=["ready", "running"])
def test_a_run_dies_with_its_owner(nl: Socket, disks: list[str], start: bool) -> None:
    child, run = child_makes(disks[0], start)
    assert state(nl, run) == (RunState.RUNNING if start else RunState.READY)

    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    assert eventually(lambda: is_gone(nl, run))
    assert eventually(lambda: is_free(disks[0]))


def test_the_end_of_an_owner_does_not_wait_for_the_device(nl: Socket, disks: list[str]) -> None:
    child, run = child_makes(disks[2], start=True)
    assert eventually(lambda: nl.ask(Cmd.RUN_GET, id=run).values[0]["outstanding"] == 4)

    began = time.monotonic()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    assert time.monotonic() - began < 1.0
    assert eventually(lambda: is_gone(nl, run))


def test_a_detached_run_outlives_its_owner(nl: Socket, disks: list[str]) -> None:
    child, run = child_makes(disks[0], start=True, detached=1)

    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    time.sleep(0.5)

    assert state(nl, run) == RunState.RUNNING


def test_the_end_of_another_socket_ends_nothing(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0])
    with Socket(spek) as other:
        other.ask(Cmd.RUN_START, id=run)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        # the same port number, of another protocol
        route.bind((nl.sock.getsockname()[0], 0))
    time.sleep(0.3)

    assert state(nl, run) == RunState.RUNNING


def test_closing_the_socket_is_enough(nl: Socket, disks: list[str]) -> None:
    with Socket(spek) as owner:
        run = new(owner, disks[0])
        owner.ask(Cmd.RUN_START, id=run)
        assert state(nl, run) == RunState.RUNNING

    assert eventually(lambda: is_gone(nl, run))


# Stop, news ----------------------------------------------------------------------


def test_stop_does_not_wait_for_the_device(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[2])
    nl.ask(Cmd.RUN_START, id=run)
    assert eventually(lambda: nl.ask(Cmd.RUN_GET, id=run).values[0]["outstanding"] == 4)

    began = time.monotonic()
    nl.ask(Cmd.RUN_STOP, id=run)
    took = time.monotonic() - began
    after = state(nl, run)

    assert took < 1.0
    assert after == RunState.DRAINING
    nl.ask(Cmd.RUN_STOP, id=run)  # a second one is harmless
    assert refused(lambda: nl.ask(Cmd.RUN_DEL, id=run)).errno == errno.EBUSY
    assert eventually(lambda: state(nl, run) == RunState.DONE)
    (info,) = nl.ask(Cmd.RUN_GET, id=run).values
    assert info["reason"] == Reason.STOPPED and info["outstanding"] == 0


def test_news_tell_every_change_of_state(nl: Socket, disks: list[str]) -> None:
    with Socket(spek) as listener:
        listener.join(spek.GROUP_RUNS)
        run = new(nl, disks[0], time_ns=None, count=1000)
        nl.ask(Cmd.RUN_START, id=run)
        told = []
        while not told or told[-1]["state"] != RunState.DONE:
            message = listener.notification()
            assert (message.cmd, message.seq) == (Cmd.RUN_NTF, 0)
            if message.values["id"] == run:
                told.append(message.values)

    states = [values["state"] for values in told]
    assert states == sorted(states)
    assert RunState.RUNNING in states
    assert told[-1]["reason"] == Reason.COMPLETED
    (info,) = nl.ask(Cmd.RUN_GET, id=run).values
    assert set(told[-1]) == set(info)


def test_without_a_listener_nothing_is_lost(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], time_ns=None, count=10)
    nl.ask(Cmd.RUN_START, id=run)

    assert eventually(lambda: state(nl, run) == RunState.DONE)
