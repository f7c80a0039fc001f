# SPDX-License-Identifier: GPL-2.0
"""Claims: devices that stay with a controller between its runs."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import make_null, remove_null
from lib.guest.modules import is_loaded, references, unload_soon
from lib.guest.netlink import (
    DISK_MIB,
    MIB,
    asu,
    config,
    delete,
    finished,
    is_free,
    is_gone,
    make,
    refused,
    state,
    stream,
    target,
)
from lib.guest.netlink_raw import Refusal, Socket
from lib.waiting import comes_true, eventually

from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import ClaimState, Cmd, Data, Pattern, Reason, RunState

pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel]

CLONE_NEWPID = 0x20000000  # linux/sched.h
LOOP_CHANGE_FD = 0x4C06  # linux/loop.h
BUSY = "The device, one of its partitions or the disk it is on is in use: it must be free."


def tool(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout.strip()


def get(nl: Socket, claim: int) -> dict[str, Any]:
    return nl.ask(Cmd.CLAIM_GET, id=claim).values[0]


def claim_of(nl: Socket, *nodes: str, write: int = 1) -> int:
    """A READY claim."""
    claim = int(nl.ask(Cmd.CLAIM_NEW, write=write, target=list(map(target, nodes))).values[0]["id"])
    assert comes_true(lambda: get(nl, claim)["state"] == ClaimState.READY), get(nl, claim)
    return claim


def without_owner(values: dict[str, Any]) -> dict[str, Any]:
    """As notifications have it: their readers may be in other PID namespaces."""
    assert values["owner_pid"] == os.getpid()
    return {name: value for name, value in values.items() if name != "owner_pid"}


def is_released(nl: Socket, claim: int) -> bool:
    try:
        get(nl, claim)
    except Refusal as no:
        assert no.errno == errno.ENOENT
        return True
    return False


def release(nl: Socket, claim: int) -> None:
    nl.ask(Cmd.CLAIM_DEL, id=claim)
    assert comes_true(lambda: is_released(nl, claim))


def opens(nl: Socket, claim: int) -> list[int]:
    """Of each device of a claim; 0 if it is not known."""
    return [device.get("opens", 0) for device in get(nl, claim)["target"]]


def run_under(nl: Socket, claim: int, node: str, **changes: Any) -> int:
    return make(nl, config(node, claim=claim, **changes))


def stopped(nl: Socket, run: int) -> None:
    nl.ask(Cmd.RUN_STOP, id=run)
    assert comes_true(lambda: state(nl, run) == RunState.DONE)


def test_a_claim_counts_who_else_has_its_devices_open(nl: Socket, disks: list[str]) -> None:
    claim = claim_of(nl, *disks)
    alone = [1] * len(disks)
    assert comes_true(lambda: opens(nl, claim) == alone), opens(nl, claim)
    with open(disks[0], "rb"):
        assert comes_true(lambda: opens(nl, claim) == [2, *alone[1:]]), opens(nl, claim)
    assert comes_true(lambda: opens(nl, claim) == alone), opens(nl, claim)
    release(nl, claim)


def in_child(work: Callable[[], object], namespace: bool = False) -> tuple[int, int]:
    """What @work says in a process of its own, and the number of that process here. @namespace: it
    is process 1 of a PID namespace. Both processes have ended."""
    said, say = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            if namespace and ctypes.CDLL(None).unshare(CLONE_NEWPID):
                os._exit(1)
            inner = os.fork()
            if inner:
                os.waitpid(inner, 0)
                os.write(say, f" {inner}".encode())
            else:
                os.write(say, str(work()).encode())
        os._exit(0)
    os.close(say)
    os.waitpid(child, 0)
    with open(said) as text:
        number, pid = map(int, text.read().split())
    return number, pid


def test_a_claim_names_the_process_that_made_it(nl: Socket, disks: list[str]) -> None:
    claim = claim_of(nl, disks[0])
    assert get(nl, claim)["owner_pid"] == os.getpid()
    assert [entry["owner_pid"] for entry in nl.dump(Cmd.CLAIM_GET).values] == [os.getpid()]

    def seen() -> int:
        with Socket(spek) as link:
            (dumped,) = link.dump(Cmd.CLAIM_GET).values
            assert get(link, claim)["owner_pid"] == dumped["owner_pid"]
            return int(dumped["owner_pid"])

    assert in_child(seen)[0] == os.getpid()
    # This process has no number in another PID namespace.
    assert in_child(seen, namespace=True)[0] == 0
    release(nl, claim)


@pytest.mark.parametrize("namespace", [False, True])
def test_a_claim_names_its_process_as_the_asker_numbers_it(
    nl: Socket, disks: list[str], namespace: bool
) -> None:
    def both() -> int:
        """Made and asked for in the other namespace."""
        with Socket(spek) as own:
            claim = claim_of(own, disks[0])
            assert get(own, claim)["owner_pid"] == os.getpid()
            number = int(get(own, claim)["owner_pid"])
            release(own, claim)
            return number

    number, pid = in_child(both, namespace)
    assert number == (1 if namespace else pid)
    assert is_free(disks[0])


def test_a_claim_whose_process_has_ended_names_none(nl: Socket, disks: list[str]) -> None:
    """The socket is open in another process, so the claim stays; the number of the process that
    made it may be given to another one."""
    claim, _ = in_child(lambda: claim_of(nl, disks[0]))
    assert get(nl, claim)["owner_pid"] == 0
    assert not is_free(disks[0])
    release(nl, claim)
    assert is_free(disks[0])


def test_devices_stay_claimed_between_two_runs(nl: Socket, disks: list[str]) -> None:
    claim = claim_of(nl, *disks)
    for _ in range(2):
        run = run_under(nl, claim, disks[0], count=100, time_ns=None)
        assert nl.ask(Cmd.RUN_GET, id=run).values[0]["claim"] == claim
        finished(nl, run)
        assert get(nl, claim)["runs"] == 0
        assert not is_free(disks[0])
        no = refused(lambda: make(nl, config(disks[0])))
        assert (no.errno, no.text) == (errno.EBUSY, BUSY)
        delete(nl, run)
        assert not is_free(disks[0])
    info = get(nl, claim)
    assert [device["name"] for device in info["target"]] == [Path(node).name for node in disks]
    assert (info["write"], all(device["diskseq"] for device in info["target"])) == (1, True)
    release(nl, claim)
    assert all(map(is_free, disks))


def test_a_device_that_is_only_read_is_opened_as_such(nl: Socket, disks: list[str]) -> None:
    """Beside a device that is written, under a claim and without one."""
    read, written = disks[:2]
    only_read = {**target(read), "read_only": 1}
    both = {
        "write": 1,
        "target": [only_read, target(written)],
        "asu": [asu(), asu(extent=[{"target": 1, "start": 0}])],
        "stream": [stream(), stream(asu=1, read_ppm=0)],
        "count": 200,
        "time_ns": None,
    }
    tool("blockdev", "--setro", read)
    try:
        no = refused(
            lambda: make(nl, config(read, **{**both, "target": [*map(target, disks[:2])]}))
        )
        assert no.errno in (errno.EROFS, errno.EACCES) and no.attr == "target[0]"
        run = make(nl, config(read, **both))
        info = finished(nl, run)
        assert [each["read_only"] for each in info["target"]] == [1, 0]
        assert [bool(each["writes"]) for each in info["target"]] == [False, True]
        delete(nl, run)
        # Of a run or claim that writes nothing it says nothing more.
        reads = {"write": 0, "target": [only_read]}
        run = make(nl, config(read, **reads, count=200, time_ns=None))
        assert [each["read_only"] for each in finished(nl, run)["target"]] == [0]
        delete(nl, run)
        claim = int(nl.ask(Cmd.CLAIM_NEW, **reads).values[0]["id"])
        assert comes_true(lambda: get(nl, claim)["state"] == ClaimState.READY), get(nl, claim)
        assert [each["read_only"] for each in get(nl, claim)["target"]] == [0]
        release(nl, claim)
        writes_both = {**both, "stream": [stream(read_ppm=500_000), stream(asu=1, read_ppm=0)]}
        no = refused(lambda: make(nl, config(read, **writes_both)))
        assert no.errno == errno.EPERM
        assert no.text == (
            "The stream can write, and a device of its address range may only be read."
        )

        asked = {"write": 1, "target": [only_read, target(written)]}
        claim = int(nl.ask(Cmd.CLAIM_NEW, **asked).values[0]["id"])
        assert comes_true(lambda: get(nl, claim)["state"] == ClaimState.READY), get(nl, claim)
        assert [each["read_only"] for each in get(nl, claim)["target"]] == [1, 0]
        run = make(nl, config(read, claim=claim, **both))
        finished(nl, run)
        delete(nl, run)
        no = refused(lambda: run_under(nl, claim, read, write=1))
        assert no.errno == errno.EPERM
        assert no.text == "The run may write the device, which its claim has for reading only."
        release(nl, claim)
    finally:
        tool("blockdev", "--setrw", read)
    assert is_free(read) and is_free(written)


def test_a_claim_is_for_its_socket_its_devices_and_what_it_was_made_for(
    nl: Socket, disks: list[str]
) -> None:
    claim = claim_of(nl, disks[0], write=0)
    with Socket(spek) as stranger:
        no = refused(lambda: run_under(stranger, claim, disks[0]))
        assert (no.errno, no.attr) == (errno.EPERM, "claim")
        assert no.text == "The claim belongs to another socket, whose runs alone may use it."
    no = refused(lambda: run_under(nl, claim, disks[0], write=1))
    assert (no.errno, no.text) == (
        errno.EPERM,
        "The run may write, and its claim is for reading only.",
    )
    no = refused(lambda: run_under(nl, claim, disks[1]))
    assert (no.errno, no.attr) == (errno.EINVAL, "target[0]")
    assert no.text == "The device is not among those of the claim."
    no = refused(lambda: run_under(nl, claim, disks[0], detached=1))
    assert (no.errno, no.attr) == (errno.EINVAL, "detached")
    no = refused(lambda: run_under(nl, claim + 1000, disks[0]))
    assert (no.errno, no.attr) == (errno.ENOENT, "claim")
    assert get(nl, claim)["runs"] == 0
    delete(nl, run_under(nl, claim, disks[0]))
    release(nl, claim)


def test_a_device_has_one_run_at_a_time(nl: Socket, disks: list[str]) -> None:
    claim = claim_of(nl, *disks)
    run = run_under(nl, claim, disks[0])
    no = refused(
        lambda: make(
            nl,
            config(
                disks[1],
                claim=claim,
                target=[target(disks[1]), target(disks[0])],
                asu=[asu()],
                stream=[stream()],
            ),
        )
    )
    assert (no.errno, no.attr) == (errno.EBUSY, "target[1]")
    assert no.text == "Another run under this claim uses the device: one at a time may."
    second = run_under(nl, claim, disks[1])
    nl.ask(Cmd.RUN_START, id=run)
    nl.ask(Cmd.RUN_START, id=second)
    assert get(nl, claim)["runs"] == 2
    no = refused(lambda: nl.ask(Cmd.CLAIM_DEL, id=claim))
    assert no.text == "A run uses the claim: delete it, or wait until it is DONE."
    stopped(nl, run)
    third = run_under(nl, claim, disks[0])
    for number in (third, second):
        stopped(nl, number)
    for number in (run, second, third):
        delete(nl, number)
    release(nl, claim)


def test_a_run_that_fails_under_a_claim_gives_it_back(nl: Socket, disks: list[str]) -> None:
    claim = claim_of(nl, disks[0])
    no = refused(lambda: run_under(nl, claim, disks[0], asu=[asu(bytes=1 << 40)]))
    assert no.attr == "asu[0]"
    wrong = {**target(disks[0]), "diskseq": get(nl, claim)["target"][0]["diskseq"] + 1}
    no = refused(lambda: run_under(nl, claim, disks[0], target=[wrong]))
    assert no.text == "The disk was replaced after it was checked: check it again."
    assert get(nl, claim)["runs"] == 0
    delete(nl, run_under(nl, claim, disks[0]))
    release(nl, claim)


def test_what_can_not_be_claimed_is_said_and_nothing_is_kept(nl: Socket, disks: list[str]) -> None:
    def failed(*targets: dict[str, int]) -> tuple[int, str, int]:
        claim = int(nl.ask(Cmd.CLAIM_NEW, target=list(targets)).values[0]["id"])
        assert comes_true(lambda: get(nl, claim)["state"] == ClaimState.FAILED)
        info = get(nl, claim)
        no = refused(lambda: run_under(nl, claim, disks[0]))
        assert no.text == "Only a claim that is READY can be used."
        release(nl, claim)
        assert is_free(disks[0])
        return info["failure_errno"], info["failure"], info["failure_index"]

    held = os.open(disks[1], os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)
    try:
        assert failed(target(disks[0]), target(disks[1])) == (errno.EBUSY, BUSY, 1)
    finally:
        os.close(held)
    code, text, index = failed({**target(disks[0]), "diskseq": 2**40})
    assert (code, index) == (errno.ENODEV, 0)
    assert text == "The disk was replaced after it was checked: check it again."
    no = refused(lambda: nl.ask(Cmd.CLAIM_NEW, target=[target(disks[0])] * 2))
    assert (no.errno, no.attr) == (errno.EINVAL, "target[1]")
    no = refused(lambda: nl.ask(Cmd.CLAIM_NEW, write=1))
    assert no.text == "A claim needs at least one device."
    assert nl.dump(Cmd.CLAIM_GET).values == []


@pytest.mark.parametrize("runs", [False, True], ids=["idle", "with a run"])
def test_the_end_of_the_owner_releases_the_devices(
    nl: Socket, disks: list[str], runs: bool
) -> None:
    owner = Socket(spek)
    claim = claim_of(owner, *disks)
    run = run_under(owner, claim, disks[0])
    if runs:
        owner.ask(Cmd.RUN_START, id=run)
    else:
        delete(owner, run)
    owner.close()
    assert comes_true(lambda: is_gone(nl, run) and is_released(nl, claim))
    assert all(map(is_free, disks))


@pytest.fixture
def null(spek_module: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """A disk, and what takes it away."""
    node, item = make_null(size_mb=64)
    yield node, lambda: remove_null(item)
    if item.exists():
        remove_null(item)


def test_a_device_that_is_removed_while_claimed_and_idle(
    nl: Socket, null: tuple[str, Callable[[], None]]
) -> None:
    node, remove = null
    claim = claim_of(nl, node)
    values = config(node, claim=claim)
    run = make(nl, values)
    stopped(nl, run)
    remove()
    no = refused(lambda: make(nl, values))
    assert no.errno == errno.ENODEV
    assert no.text == "The device was removed while it was claimed."
    delete(nl, run)
    release(nl, claim)


def test_a_device_that_is_removed_while_a_run_uses_it(
    nl: Socket, null: tuple[str, Callable[[], None]]
) -> None:
    node, remove = null
    claim = claim_of(nl, node)
    run = run_under(nl, claim, node)
    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(lambda: state(nl, run) == RunState.RUNNING)
    remove()
    assert comes_true(lambda: state(nl, run) == RunState.DONE)
    assert nl.ask(Cmd.RUN_GET, id=run).values[0]["reason"] == Reason.DEVICE_GONE
    delete(nl, run)
    release(nl, claim)


@pytest.fixture
def images(tmp_path: Path) -> list[Path]:
    """Two files of the size of a disk."""
    paths = [tmp_path / "a", tmp_path / "b"]
    for number, path in enumerate(paths, start=1):
        with path.open("wb") as image:
            image.write(bytes([number]) * 4096)
            image.truncate(DISK_MIB * MIB)
    return paths


def test_a_disk_that_is_replaced_while_it_is_claimed(nl: Socket, images: list[Path]) -> None:
    """A loop device gets another file while it is open, and with it another sequence number. Newer
    kernels tell the holder that the disk is gone as well."""
    tool("modprobe", "loop")
    loop = tool("losetup", "--read-only", "--find", "--show", str(images[0]))
    try:
        claim = claim_of(nl, loop, write=0)
        values = config(loop, claim=claim, count=8, time_ns=None)
        run = make(nl, values)
        finished(nl, run)
        delete(nl, run)
        before = Path("/sys/block", Path(loop).name, "diskseq").read_text()
        with images[1].open("rb") as second, open(loop, "rb") as control:
            fcntl.ioctl(control, LOOP_CHANGE_FD, second.fileno())
        assert Path("/sys/block", Path(loop).name, "diskseq").read_text() != before
        no = refused(lambda: make(nl, values))
        assert no.errno == errno.ENODEV
        assert no.text in (
            "The disk was replaced while it was claimed: check it again.",
            "The device was removed while it was claimed.",
        )
        assert get(nl, claim)["runs"] == 0
        release(nl, claim)
    finally:
        tool("losetup", "--detach", loop)


def test_each_run_under_a_claim_drops_the_page_cache(nl: Socket, spek_module: Path) -> None:
    """A reader has the device open all the while, and sees what each run has written."""
    node, item = make_null(size_mb=8, memory_backed=1)
    try:
        claim = claim_of(nl, node)
        with open(node, "rb", buffering=0) as reader:
            contents = {reader.read(MIB)}
            for seed in (1, 2):
                run = run_under(
                    nl,
                    claim,
                    node,
                    write=1,
                    seed=seed,
                    count=256,
                    time_ns=None,
                    data=int(Data.RANDOM),
                    asu=[asu(bytes=MIB)],
                    stream=[stream(read_ppm=0, pattern=int(Pattern.SEQUENTIAL), range_bytes=MIB)],
                )
                finished(nl, run)
                delete(nl, run)
                reader.seek(0)
                contents.add(reader.read(MIB))
        assert len(contents) == 3
        release(nl, claim)
    finally:
        remove_null(item)


def without_opens(values: dict[str, Any]) -> dict[str, Any]:
    """A claim that is closing knows no opens any more."""
    targets = [
        {name: value for name, value in held.items() if name != "opens"}
        for held in values["target"]
    ]
    return {**values, "target": targets}


def test_each_state_of_a_claim_is_news(nl: Socket, disks: list[str]) -> None:
    """With the content of claim-get at that time."""
    with Socket(spek) as listener:
        listener.join(spek.GROUP_RUNS)
        claim = claim_of(nl, *disks)
        info = get(nl, claim)
        release(nl, claim)
        held = os.open(disks[1], os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)
        try:
            targets = list(map(target, disks))
            failing = int(nl.ask(Cmd.CLAIM_NEW, target=targets).values[0]["id"])
            told = [listener.notification() for _ in range(4)]
        finally:
            os.close(held)
        failure = get(nl, failing)
        release(nl, failing)
    assert {message.cmd for message in told} == {Cmd.CLAIM_NTF}
    news = [message.values for message in told]
    assert [values["state"] for values in news] == [
        *(ClaimState.READY, ClaimState.CLOSING, ClaimState.GONE, ClaimState.FAILED)
    ]
    assert news[0] == without_owner(info)
    assert [without_opens(values) for values in news[1:3]] == [
        {**without_opens(without_owner(info)), "state": state}
        for state in (ClaimState.CLOSING, ClaimState.GONE)
    ]
    assert news[3] == without_owner(failure)
    assert (failure["failure"], failure["failure_index"]) == (BUSY, 1)


def test_the_module_unloads_after_all(spek_module: Path, disks: list[str]) -> None:
    with Socket(spek) as owner:
        claim_of(owner, *disks)
        assert references("spek") == 1
    eventually(lambda: references("spek") == 0, "the module is held")
    unload_soon("spek")
    assert not is_loaded("spek")
