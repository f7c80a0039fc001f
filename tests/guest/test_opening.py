# SPDX-License-Identifier: GPL-2.0
"""A device that can't be opened for now holds up the run that wants it, and nothing else."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from lib.guest.drive import sysfs
from lib.guest.modules import load, unload_soon
from lib.guest.netlink import (
    asu,
    config,
    delete,
    is_free,
    is_gone,
    new,
    refused,
    remove,
    state,
    stream,
    target,
)
from lib.guest.netlink_raw import CTRL_CMD_GETFAMILY, GENL_ID_CTRL, Socket
from lib.waiting import LONG_S, comes_true, eventually

from spekctl.errors import ExitCode
from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import ClaimState, Cmd, Reason, RunState
from spekctl.kernel.netlink import HEADER, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE

pytestmark = pytest.mark.debug_kernel

SG_SCSI_RESET, SG_SCSI_RESET_DEVICE = 0x2284, 1
LIMIT_S = LONG_S  # for what must not wait for the device, which lets go only on request


class RecoveringDisk:
    """A simulated SCSI disk whose host can be put into error recovery: opens wait for its end."""

    def __init__(self, node: str) -> None:
        self.node = node
        address = (sysfs(node) / "device").resolve().name
        self.host = Path(f"/sys/class/scsi_host/host{address.partition(':')[0]}/state")

    @contextlib.contextmanager
    def recovers(self) -> Iterator[Callable[[], None]]:
        """Until the function is called, or the end."""
        fd = os.open(self.node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

        def end() -> None:
            self.host.write_text("running\n")
            # Its end wakes those that wait for the host.
            fcntl.ioctl(fd, SG_SCSI_RESET, struct.pack("@i", SG_SCSI_RESET_DEVICE))

        try:
            self.host.write_text("recovery\n")
            yield end
        finally:
            if self.host.read_text().strip() != "running":
                end()
            os.close(fd)


@pytest.fixture
def disk(nl: Socket, scsi_debug: Callable[..., str]) -> Iterator[RecoveringDisk]:
    disk = RecoveringDisk(scsi_debug(size_mb=64))
    yield disk
    # Before the driver is unloaded.
    for run in nl.dump(Cmd.RUN_GET).values:
        remove(nl, run["id"])
    eventually(lambda: is_free(disk.node), "the disk is in use")


def opening(nl: Socket, node: str) -> int:
    """A run whose device has not been opened."""
    (answer,) = nl.ask(Cmd.RUN_NEW, **config(node)).values
    run = int(answer["id"])
    assert state(nl, run) == RunState.OPENING
    return run


def families() -> set[int]:
    """What `genl ctrl list` lists."""
    frames: set[int] = set()
    with Socket(spek) as ctrl:
        ctrl.sock.send(
            ctrl.frame(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, b"", NLM_F_REQUEST | NLM_F_DUMP)
        )
        while True:
            for frame in ctrl.carrier.frames():
                if frame.kind == NLMSG_DONE:
                    return frames
                assert frame.kind == GENL_ID_CTRL
                frames.add(hash(frame.data[HEADER.size :]))


@pytest.mark.debug_kernel_at_length
def test_others_work_while_a_device_is_opened(
    nl: Socket, disks: list[str], disk: RecoveringDisk
) -> None:
    """Another run, other families, a module that registers a family."""
    prober = Path(os.environ["SPEK_MODULES"], "spek_prober.ko")
    with disk.recovers() as end, ThreadPoolExecutor(1) as threads:
        run = opening(nl, disk.node)

        ready = new(nl, disks[0])
        nl.ask(Cmd.RUN_START, id=ready)
        assert comes_true(lambda: state(nl, ready) == RunState.RUNNING)
        nl.ask(Cmd.RUN_STOP, id=ready)
        assert comes_true(lambda: state(nl, ready) == RunState.DONE)
        delete(nl, ready)
        before = families()
        assert len(before) > 2
        threads.submit(load, prober).result(LIMIT_S)
        assert len(families()) == len(before) + 1
        unload_soon("spek_prober")

        assert state(nl, run) == RunState.OPENING
        no = refused(lambda: nl.ask(Cmd.RUN_START, id=run))
        assert no.text == "Only a run that is READY can be started."
        end()
        assert comes_true(lambda: state(nl, run) == RunState.READY)
    nl.ask(Cmd.RUN_START, id=run)


@pytest.mark.debug_kernel_at_length
def test_a_run_that_is_stopped_while_it_opens_is_done_when_it_is_open(
    nl: Socket, disk: RecoveringDisk
) -> None:
    with disk.recovers() as end:
        run = opening(nl, disk.node)
        nl.ask(Cmd.RUN_STOP, id=run)
        assert state(nl, run) == RunState.OPENING
        end()
        assert comes_true(lambda: state(nl, run) == RunState.DONE)
    (info,) = nl.ask(Cmd.RUN_GET, id=run).values
    assert (info["reason"], info["started_ns"]) == (Reason.STOPPED, 0)
    assert is_free(disk.node)


@pytest.mark.parametrize("stops", [False, True], ids=["deleted", "stopped and deleted"])
def test_a_run_that_is_deleted_while_it_opens_goes_with_the_open(
    nl: Socket, disk: RecoveringDisk, stops: bool
) -> None:
    with disk.recovers() as end:
        run = opening(nl, disk.node)
        if stops:
            nl.ask(Cmd.RUN_STOP, id=run)
        nl.ask(Cmd.RUN_DEL, id=run)
        assert state(nl, run) == RunState.CLOSING
        no = refused(lambda: nl.ask(Cmd.RUN_DEL, id=run))
        assert no.text == "The run is being deleted already."
        nl.ask(Cmd.RUN_STOP, id=run)
        end()
        assert comes_true(lambda: is_gone(nl, run))
    assert is_free(disk.node)


def test_a_controller_that_is_killed_while_a_device_is_opened_leaves_nothing(
    nl: Socket, disk: RecoveringDisk
) -> None:
    reader, writer = os.pipe()
    with disk.recovers() as end:
        child = os.fork()
        if child == 0:
            try:
                with Socket(spek) as mine:
                    os.write(writer, b"%d\n" % opening(mine, disk.node))
                    signal.pause()
            finally:
                os._exit(1)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            run = int(pipe.readline())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert comes_true(lambda: state(nl, run) == RunState.CLOSING)
        end()
        assert comes_true(lambda: is_gone(nl, run))
    assert is_free(disk.node)


def test_a_claim_whose_owner_is_killed_while_a_device_is_opened(
    nl: Socket, disks: list[str], disk: RecoveringDisk
) -> None:
    """The owner goes at once, others are served and see what keeps the device."""

    def claims() -> list[dict[str, Any]]:
        return nl.dump(Cmd.CLAIM_GET).values

    with disk.recovers() as end:
        child = os.fork()
        if child == 0:
            try:
                with Socket(spek) as mine:
                    mine.ask(Cmd.CLAIM_NEW, target=[target(disk.node), target(disks[0])])
                    signal.pause()
            finally:
                os._exit(1)
        assert comes_true(lambda: [info["state"] for info in claims()] == [ClaimState.OPENING])
        delete(nl, new(nl, disks[0]))  # the second device is not claimed yet
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert comes_true(lambda: [info["state"] for info in claims()] == [ClaimState.CLOSING])
        (info,) = claims()
        assert {(device["major"], device["minor"]) for device in info["target"]} == {
            tuple(target(node).values()) for node in (disk.node, disks[0])
        }
        end()
        assert comes_true(lambda: not claims())
    assert is_free(disk.node) and is_free(disks[0])


@pytest.mark.debug_kernel_at_length
def test_a_second_target_that_is_opened_late_fails_the_run_with_its_reason(
    nl: Socket, disks: list[str], disk: RecoveringDisk
) -> None:
    """A device that was claimed in the meantime is named; the first target is released."""
    with disk.recovers() as end:
        values = config(
            disk.node,
            target=[target(disk.node), target(disks[0])],
            asu=[asu()],
            stream=[stream()],
        )
        run = int(nl.ask(Cmd.RUN_NEW, **values).values[0]["id"])
        held = os.open(disks[0], os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)
        try:
            end()
            assert comes_true(lambda: state(nl, run) == RunState.FAILED)
        finally:
            os.close(held)
    (info,) = nl.ask(Cmd.RUN_GET, id=run).values
    assert "is in use: it must be free" in info["failure"]
    assert (info["failure_part"], info["failure_index"]) == (spek.ConfigPart.TARGET, 1)
    assert is_free(disk.node)


@pytest.mark.debug_kernel_at_length
def test_ctrl_c_while_a_device_is_opened(nl: Socket, disk: RecoveringDisk) -> None:
    command = [sys.executable, "-m", "spekctl", "run", "random-read-4k", "--device", disk.node]
    with disk.recovers() as end:
        program = subprocess.Popen(
            [*command, "--time", "1s", "--no-prober"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert comes_true(lambda: bool(nl.dump(Cmd.RUN_GET).values)), program.communicate()
        (run,) = (values["id"] for values in nl.dump(Cmd.RUN_GET).values)
        assert state(nl, run) == RunState.OPENING
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=LIMIT_S)
        assert state(nl, run) == RunState.CLOSING
        end()
        assert comes_true(lambda: is_gone(nl, run))
    assert (program.returncode, out) == (ExitCode.INTERRUPTED, "")
    assert err == ("spekctl: interrupted while a device was being opened; nothing was sent to it\n")
