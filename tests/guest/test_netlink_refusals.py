# SPDX-License-Identifier: GPL-2.0
"""What the spek family refuses, and how.

The sentences are part of the contract: people read them. So the tests compare errno, sentence
and attribute of each refusal.
"""

from __future__ import annotations

import errno
import os
import random
import struct
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import null_disk
from lib.guest.netlink import (
    BY_ID,
    DISK_MIB,
    DUMPS,
    MIB,
    SECOND,
    asu,
    config,
    is_free,
    make,
    new,
    refused,
    remove,
    state,
    stream,
    target,
)
from lib.guest.netlink_raw import Refusal, Socket, attribute
from lib.waiting import comes_true

from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd, Pattern, RunState
from spekctl.kernel.netlink import HEADER, NLM_F_ACK, NLM_F_REQUEST, NLMSG_ERROR

pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel_at_length]

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
    ({"time_ns": None}, errno.EINVAL, "", "A run needs an end: a time or a count above 0, or"),
    ({"time_ns": 0}, errno.EINVAL, "time_ns", "A run needs an end: a time or a count above 0, or"),
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
        "The report interval must be 0 (none) or at least 1 ms.",
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
    ({"backend": 4}, errno.ERANGE, "backend", "integer out of range"),
    (
        {"stream": [stream(), stream(read_ppm=1_000_001)]},
        errno.ERANGE,
        "stream[1].read_ppm",
        "integer out of range",
    ),
    ({"name": "x" * 64}, errno.EINVAL, "name", "Attribute failed policy validation"),
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
        "A stream names an address range that does not exist.",
    ),
    (
        {"stream": [stream(size=[{"bytes": 1000, "weight": 1}])]},
        errno.EINVAL,
        "stream[0]",
        "A block size is not a multiple of 512 bytes.",
    ),
    ({"arrival": [{"law": 0}]}, errno.ERANGE, "arrival[0]", "The depth of a closed loop"),
    (
        {"arrival": [{"law": 1, "rate_milli": 1000, "think_ns": 1}]},
        errno.EINVAL,
        "arrival[0]",
        "A think time is given for an arrival process whose law is not closed.",
    ),
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
    assert no.text.startswith(text)
    assert nl.dump(Cmd.RUN_GET).values == []


def test_a_refused_run_leaves_the_device_free(nl: Socket, disks: list[str]) -> None:
    refused(lambda: new(nl, disks[0], worker=[{"cpu": 9999}]))
    refused(lambda: new(nl, disks[0], asu=[asu(bytes=1 << 40)]))

    assert is_free(disks[0])


def test_the_same_device_twice_is_refused(nl: Socket, disks: list[str]) -> None:
    no = refused(lambda: new(nl, disks[0], target=[target(disks[0])] * 2))

    assert (no.errno, no.attr) == (errno.EINVAL, "target[1]")
    assert no.text == "The same device is a target twice."


def test_a_device_that_somebody_holds_is_busy(nl: Socket, disks: list[str]) -> None:
    held = os.open(disks[1], os.O_RDONLY | os.O_EXCL)
    try:
        no = refused(lambda: new(nl, disks[0], target=[target(disks[0]), target(disks[1])]))
    finally:
        os.close(held)

    assert (no.errno, no.attr) == (errno.EBUSY, "target[1]")


def test_a_device_of_another_run_is_busy(nl: Socket, disks: list[str]) -> None:
    new(nl, disks[0])

    no = refused(lambda: new(nl, disks[0]))

    assert (no.errno, no.attr) == (errno.EBUSY, "target[0]")


def test_no_such_device(nl: Socket, disks: list[str]) -> None:
    no = refused(lambda: new(nl, disks[0], target=[{"major": 7, "minor": 9999}]))

    assert no.attr == "target[0]"
    assert no.errno in (errno.ENXIO, errno.ENODEV)


def test_a_disk_that_was_replaced_is_refused(nl: Socket, disks: list[str]) -> None:
    seq = int(Path("/sys/block", os.path.basename(disks[0]), "diskseq").read_text())

    no = refused(lambda: new(nl, disks[0], target=[{**target(disks[0]), "diskseq": seq + 1}]))

    assert (no.errno, no.attr) == (errno.ENODEV, "target[0]")
    new(nl, disks[0], target=[{**target(disks[0]), "diskseq": seq}])


def test_a_writing_stream_needs_the_permission_of_the_run(nl: Socket, disks: list[str]) -> None:
    no = refused(lambda: new(nl, disks[0], stream=[stream(read_ppm=0)]))
    assert no.errno == errno.EPERM

    run = new(nl, disks[0], stream=[stream(read_ppm=0)], write=1)
    assert nl.ask(Cmd.RUN_GET, id=run).values[0]["write"] == 1


def test_a_range_beyond_the_device_is_refused(nl: Socket, disks: list[str]) -> None:
    no = refused(lambda: new(nl, disks[0], asu=[asu(bytes=(DISK_MIB + 1) * MIB)]))

    assert no.attr in ("asu[0]", "target[0]")


def test_a_stripe_unit_below_a_logical_block_is_refused(nl: Socket) -> None:
    """Requests of parts of a block go past every check of the block layer."""
    with null_disk(size_mb=64, bs=4096) as first, null_disk(size_mb=64, bs=4096) as second:
        values = config(
            first,
            target=[target(first), target(second)],
            asu=[
                asu(
                    bytes=64 * MIB,
                    stripe_bytes=512,
                    extent=[{"target": 0, "start": 0}, {"target": 1, "start": 0}],
                )
            ],
            stream=[stream(range_bytes=64 * MIB)],
        )
        no = refused(lambda: make(nl, values))
        assert (no.errno, no.attr) == (errno.EINVAL, "asu[0]")
        assert no.text.startswith("The stripe unit is smaller than a logical block"), no.text
        values["asu"][0]["stripe_bytes"] = 4096
        remove(nl, make(nl, values))


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
    """Bytes of a request are changed at random, one by one: no change makes its CPU exist."""
    streams = [stream(name="a"), stream(name="b", pattern=int(Pattern.WALK))]
    nowhere = [{"major": 4000, "minor": 12345, "diskseq": 1}]
    ranges = [asu(name="x"), asu()]
    values = config(
        disks[0], target=nowhere, stream=streams, asu=ranges, worker=[{"cpu": 0x01010101}]
    )
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
        (frame,) = nl.carrier.frames()
        assert frame.kind == NLMSG_ERROR
        codes.add(-struct.unpack_from("=i", frame.data, HEADER.size)[0])

    assert 0 not in codes
    assert codes >= {errno.EINVAL, errno.ERANGE}
    assert nl.dump(Cmd.RUN_GET).values == []


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
        "A dump returns all runs: leave out the number.",
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
            "At most 1000000 operations can be previewed.",
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
        no = refused(partial(nl.ask, cmd, id=run))
        assert (no.errno, no.attr) == (errno.EBUSY, "id")

    nl.ask(Cmd.RUN_STOP, id=run)
    assert comes_true(lambda: state(nl, run) == RunState.DONE)
    assert refused(lambda: nl.ask(Cmd.RUN_START, id=run)).errno == errno.EBUSY
