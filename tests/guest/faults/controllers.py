# SPDX-License-Identifier: GPL-2.0
"""Scenarios: controllers die, don't listen, or get into each other's way."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
from collections.abc import Callable, Sequence

from guest.faults.world import SECOND, WAIT_S, World, can_be_claimed, endless, scenario
from lib.guest.drive import Controller, one_stream
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.owner import controller_process
from lib.waiting import eventually

from spekctl.kernel.client import _run_attributes
from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd
from spekctl.kernel.netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST
from spekctl.kernel.records import Reason, RunState


@scenario("bio", "mq")
def controller_killed(world: World, backend: str) -> str:
    """Its run ends with it and leaves nothing, not even a result."""
    node = world.null().node
    with controller_process(endless(node, backend)) as (_pid, run):
        world.moves(run)
    eventually(lambda: not world.controller.runs(), "the run is still there", WAIT_S)
    world.results["gone with its owner"] += 1
    return node


@scenario()
def controller_killed_while_the_device_hangs(world: World) -> str:
    """The claim stays until the last I/O is back: who would want the device before?"""
    disk = world.null(completion_nsec=SECOND // 2, hw_queue_depth=256)
    with controller_process(endless(disk.node)) as (_pid, run):
        world.wait(run, "nothing is sent", lambda info: info.outstanding > 0)
    # A run gives its device back, and then it goes.
    if can_be_claimed(disk.node):
        assert not any(info.outstanding for info in world.controller.runs())
    eventually(lambda: not world.controller.runs(), "the run is still there", WAIT_S)
    world.results["gone with its owner"] += 1
    assert can_be_claimed(disk.node)
    return world.null().node


@scenario()
def listener_that_is_overrun(world: World) -> str:
    """News are lost (ENOBUFS), states are not: a dump says what has become of every run."""
    node = world.null().node
    with Socket(spek) as listener:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        listener.join(spek.GROUP_RUNS)
        runs: list[int] = []
        for _ in range(8):
            run = world.controller.run_new(one_stream(node, depth=4, count=20))
            world.controller.run_start(run)
            world.done(run, Reason.COMPLETED)
            runs.append(run)
        lost = False
        heard: set[int] = set()
        with contextlib.suppress(TimeoutError):
            while True:
                try:
                    message = listener.notification(0.1)
                    heard |= {message.values["id"]} & set(runs)
                except OSError as error:
                    if error.errno != errno.ENOBUFS:
                        raise
                    lost = True
        assert lost and len(heard) < len(runs), "the socket was not overrun"
        listener.sock.settimeout(WAIT_S)
        states = {info["id"]: info["state"] for info in listener.dump(Cmd.RUN_GET).values}
        assert {states[run] for run in runs} == {RunState.DONE.code}
    for run in runs:
        assert sum(cell.ios for cell in world.controller.stats(run)) == 20
        world.controller.run_delete(run)
    return node


@scenario()
def two_controllers_at_once(world: World) -> str:
    """Of two that want the same disk one gets it; both may stop and delete a run, one succeeds."""
    node = world.null().node
    others = [Controller(), Controller()]
    try:
        config = endless(node)
        runs = [run for _error, run in race(lambda controller: controller.run_new(config), others)]
        errors = [
            error for error, _run in race(lambda controller: controller.run_new(config), others)
        ]
        assert sorted(run > 0 for run in runs) == [False, True], runs
        assert errors == [errno.EBUSY, errno.EBUSY]
        run = max(runs)
        world.controller.run_start(run)
        world.moves(run)
        stops = [error for error, _ in race(lambda controller: controller.run_stop(run), others)]
        assert set(stops) <= {0, errno.EBUSY} and 0 in stops
        world.done(run, Reason.STOPPED)
        removals = [
            error for error, _ in race(lambda controller: controller.run_delete(run), others)
        ]
        # EBUSY: the other one's deletion was accepted, and is not over yet.
        assert sorted(removals) in ([0, errno.ENOENT], [0, errno.EBUSY])
    finally:
        for controller in others:
            controller.close()
    return node


def race(
    act: Callable[[Controller], int | None], controllers: Sequence[Controller]
) -> list[tuple[int, int]]:
    """(errno, result) of the same act of each controller, at the same time."""
    answers = [(0, 0)] * len(controllers)
    line = threading.Barrier(len(controllers))

    def play(index: int) -> None:
        line.wait()
        try:
            answers[index] = (0, act(controllers[index]) or 0)
        except Refusal as no:
            answers[index] = (no.errno, 0)

    threads = [threading.Thread(target=play, args=(index,)) for index in range(len(controllers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@scenario()
def controller_that_never_reads(world: World) -> str:
    """Answers that it does not take are its own loss: the others are served, and a run whose
    number could not be told is taken back."""
    disks = [world.null().node, world.null(irqmode=0).node]
    do, dump = NLM_F_REQUEST | NLM_F_ACK, NLM_F_REQUEST | NLM_F_DUMP
    mine = _run_attributes(one_stream(disks[1], depth=1, count=1))
    with Socket(spek) as deaf, world.running(endless(disks[0])) as run:
        deaf.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        deaf.sock.setblocking(False)
        for _ in range(60):
            send(deaf, deaf.request_bytes(Cmd.RUN_GET, {"id": run}, do))
        send(deaf, deaf.request_bytes(Cmd.RUN_NEW, mine, do))
        send(deaf, deaf.request_bytes(Cmd.STATS_GET, {"run": run}, dump))
        world.moves(run)
        eventually(
            lambda: [info.id for info in world.controller.runs()] == [run],
            "a run that nobody knows of",
            WAIT_S,
        )
        assert can_be_claimed(disks[1])
        world.stop(run)
    return disks[0]


def send(deaf: Socket, request: bytes) -> None:
    """The kernel says so when it could not deliver an answer; the sender does not care."""
    with contextlib.suppress(OSError):
        deaf.sock.send(request)


@scenario()
def reader_that_leaves_in_mid_dump(world: World) -> str:
    """A dump that was begun and never read holds the run's memory, not the run."""
    node = world.null().node
    dump = NLM_F_REQUEST | NLM_F_DUMP
    with Socket(spek) as reader, world.running(endless(node)) as run:
        asked = {"run": run, "worker": 0, "count": 1_000_000}
        reader.sock.send(reader.request_bytes(Cmd.OP_GET, asked, dump))
        world.moves(run)
        world.stop(run)
    eventually(lambda: not world.controller.runs(), "the run is still there", WAIT_S)
    return node
