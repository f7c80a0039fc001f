# SPDX-License-Identifier: GPL-2.0
"""Every allocation in turn fails: the call says so or does without, and leaves nothing behind.

Each test calls something with its first allocation failing, then with its second, and so on until
there are no more; `make test` skips two of three after the 20th. Then twice for each place in our
modules that asks for memory: its first allocation fails, then each. `make faults KERNEL=debug` does
all of it a hundred times. After each try the device is free and there are no runs; the last try,
with nothing left to fail, is the next run that works.
What is leaked is found by kmemleak after the last test of this file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from guest import allocations as guest_failures
from guest.allocations import (
    Attempt,
    FailAtSite,
    Failing,
    FailNth,
    Outcomes,
    fail_by_number,
    fail_by_site,
    fail_each,
)
from guest.faults.times import TIMES
from lib.guest import modules
from lib.guest.disks import null_disk
from lib.guest.netlink import asu, config, delete, is_free, new, remove, state, stream
from lib.guest.netlink_raw import Answer, Refusal, Socket
from lib.guest.prober import wait_rows
from lib.waiting import comes_true

from spekctl.kernel.gen import spek, spek_prober
from spekctl.kernel.gen.spek import Cmd, ConfigPart, Data, Law, RunState
from spekctl.kernel.gen.spek_prober import Cmd as ProberCmd
from spekctl.kernel.gen.spek_prober import ProbeState
from spekctl.kernel.netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST
from spekctl.kernel.prober import Prober

pytestmark = [
    pytest.mark.debug_kernel_only("debug"),
    pytest.mark.usefixtures("allocation_sites", "failing_allocations"),
    # the kernel shows where each allocation failed, and vmalloc() that it did
    pytest.mark.allow_kernel_messages(r"Call Trace:"),
]

MIB = 1 << 20
# ENOBUFS: the kernel could not even send the answer, or take the request.
# EFAULT: no page was available for the reader's buffer.
NO_MEMORY = frozenset({errno.ENOMEM, errno.ENOBUFS, errno.EFAULT})
# EAGAIN: what the kernel says when it can't make a thread, for whatever reason.
NO_THREAD = NO_MEMORY | {errno.EAGAIN}
LAST = 60  # allocations at the end of loading a module: its own set-up
STRIDE = 97 if TIMES > 1 else 389  # of the others, which are the loader's


@pytest.fixture(scope="module")
def node(spek_module: Path) -> Iterator[str]:
    with null_disk(size_mb=64, irqmode=0) as node:
        yield node


@pytest.fixture
def link(node: str) -> Iterator[Socket]:
    with Socket(spek) as link:
        yield link
    assert comes_true(lambda: is_free(node))


def try_call(
    sock: Socket,
    failing: Failing,
    n: int,
    cmd: int,
    values: dict[str, Any],
    dump: bool = False,
    until: Callable[[Answer], int] | None = None,
) -> tuple[int, Answer]:
    """A command that lacks memory once. Return: errno, 0 if there was none, and the answer.

    @until: called with the answer while the allocation may still fail; its errno is returned
    """
    flags = NLM_F_REQUEST | (NLM_F_DUMP if dump else NLM_F_ACK)
    request = sock.request_bytes(cmd, values, flags)
    answer = Answer()
    failing.arm(n)
    try:
        sock.sock.send(request)
        if not dump and not until:
            failing.disarm()
        while not sock.receive(cmd, request, answer):
            pass
    except Refusal as no:
        return no.errno, answer
    except OSError as error:
        assert error.errno in NO_MEMORY, error
        if not dump:
            read_what_is_there(sock, cmd, request, answer)
        return int(error.errno), answer
    else:
        return (until(answer) if until else 0), answer
    finally:
        failing.disarm()


def read_what_is_there(sock: Socket, cmd: int, request: bytes, answer: Answer) -> None:
    """Of a request whose acknowledgement the kernel could not make, the answer may have come."""
    usual = sock.sock.gettimeout()
    sock.sock.setblocking(False)
    try:
        with contextlib.suppress(BlockingIOError):
            while not sock.receive(cmd, request, answer):
                pass
    finally:
        sock.sock.settimeout(usual)


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str, Outcomes], None]:
    """Counts, at the end of a campaign; those of each site for whoever reads the log with -rP."""

    def counts(what: str, outcomes: Outcomes) -> None:
        record_property("count", f"{what}: {TIMES} rounds; {outcomes}")
        for site, times in sorted(outcomes.sites.items()):
            print(f"  {times:4d} {site}")

    return counts


def assert_only_memory(
    outcomes: Outcomes, at_least: int, errors: frozenset[int] = NO_MEMORY
) -> None:
    assert set(outcomes.errors) <= errors, outcomes
    assert outcomes.failed >= at_least, outcomes


Say = Callable[[str, Outcomes], None]

# A run with one of everything that is allocated for a run.
SMALL = {
    "max_outstanding": 2,
    "log_records": 1024,
    "interval_ns": 10**9,
    "arrival": [{"law": int(Law.CLOSED), "depth": 2}],
    "asu": [asu(bytes=MIB)],
    "stream": [stream(range_bytes=MIB)],
}


def no_runs(sock: Socket) -> bool:
    return not sock.dump(Cmd.RUN_GET).values


# ---- loading ----


# A field of one of our tracepoints that finds no memory is a warning of the kernel's own, which
# loads the module all the same.
@pytest.mark.allow_kernel_messages(r"WARNING: .* event_define_fields")
@pytest.mark.parametrize("name", ["spek", "spek_prober"])
def test_loading(name: str, tmp_path: Path, say: Say) -> None:
    """All allocations of the module's own set-up, and each so many-th of the loader's, which are
    others in each round: STRIDE rounds make each of them fail."""
    assert not modules.is_loaded(name)
    path = Path(shutil.copy(Path(os.environ["SPEK_MODULES"], f"{name}.ko"), tmp_path))

    def load(failing: Failing, n: int) -> int:
        code, _left = load_failing(path, name, failing, n)
        return code

    nth = FailNth()
    load_failing(path, name, nth, guest_failures.NEVER_SO_MANY)
    code, left = load_failing(path, name, nth, guest_failures.NEVER_SO_MANY)
    nth.close()
    assert code == 0
    total = guest_failures.NEVER_SO_MANY - left
    assert total > LAST

    def numbers(turn: int) -> list[int]:
        loader = range(1 + turn % STRIDE, total - LAST, STRIDE)
        return [*loader, *range(total - LAST, total + 1)]

    outcomes = fail_each(load, module=name, numbers=numbers)

    say(f"loading {name}, {total} allocations", outcomes)
    assert_only_memory(outcomes, LAST // 2)
    assert outcomes.sites


def load_failing(path: Path, name: str, failing: Failing, n: int) -> tuple[int, int]:
    """Load a module and unload it. Return: errno or 0, and what failing.disarm() says."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        failing.arm(n)
        code = modules.finit_module(fd)
        left = failing.disarm()
    finally:
        os.close(fd)
    assert modules.is_loaded(name) == (code == 0)
    if code == 0:
        modules.unload_soon(name)
    return code, left


# ---- spek ----


def opening_ends(link: Socket, answer: Answer) -> int:
    """Wait until the run has opened its devices. Return: errno of its failure, or 0; of the
    question, if that lacks memory again and again."""
    (run,) = (values["id"] for values in answer.values)
    unanswered = 0
    while True:
        try:
            (info,) = link.ask(Cmd.RUN_GET, id=run).values
        except Refusal as no:
            assert no.errno in NO_MEMORY, no
            unanswered += 1
            if unanswered > 10:
                return no.errno
            continue
        if info["state"] != RunState.OPENING:
            break
        time.sleep(0.01)
    assert info["state"] in (RunState.READY, RunState.FAILED)
    if info["state"] == RunState.READY:
        return 0
    assert info["failure"]
    assert info["failure_part"] == ConfigPart.RUN or info["failure_errno"] not in NO_THREAD
    return int(info["failure_errno"])


def make_and_delete(
    link: Socket,
    node: str,
    use: Callable[[Failing, int, int], list[int]] | None = None,
    caller_only: bool = False,
    **changes: Any,
) -> Attempt:
    """A try of run-new, which leaves nothing behind whether it succeeds or not.

    @use: called with the failing, its number and the READY run; returns errnos
    @caller_only: what fails is run-new itself, not the opening of devices after it
    """

    def attempt(failing: Failing, n: int) -> int:
        until = None if caller_only else lambda answer: opening_ends(link, answer)
        values = config(node, **SMALL, **changes)
        code, answer = try_call(link, failing, n, Cmd.RUN_NEW, values, until=until)
        codes = [code]
        for reply in answer.values:
            opening_ends(link, answer)
            if use and state(link, reply["id"]) == RunState.READY:
                codes += use(failing, n, reply["id"])
            delete(link, reply["id"])
        # One whose number could not be told is deleted by the kernel.
        assert comes_true(lambda: no_runs(link))
        assert is_free(node)
        return next(filter(None, codes), 0)

    return attempt


def fail_in_run_new(link: Socket, node: str, **how: Any) -> Outcomes:
    """Each allocation of run-new, and those at each site until the run is READY or FAILED, in
    whatever task: a work item opens the devices."""
    outcomes = Outcomes()
    fail_by_number(
        make_and_delete(link, node, caller_only=True, **how), outcomes, None, "thread-self"
    )
    fail_by_site(make_and_delete(link, node, **how), outcomes, "spek", whose="*")
    return outcomes


def test_run_new(link: Socket, node: str, say: Say) -> None:
    outcomes = fail_in_run_new(link, node)

    say("run-new", outcomes)
    assert_only_memory(outcomes, 40)
    assert outcomes.functions >= {
        *("spek_nl_run_new_doit", "spek_run_alloc", "spek_stats_create", "spek_set_create"),
        *("spek_iolog_create", "spek_slots_create", "spek_worker_create"),
    }


def test_only_the_site_that_is_named_fails(link: Socket, node: str) -> None:
    attempt = make_and_delete(link, node)
    with contextlib.closing(FailAtSite("spek", whose="*")) as at:
        assert attempt(at, 0) == 0
        sites = [site for site in at.seen if site.startswith("spek_set_create+")]
        assert sites
        for site in sites:
            for at.site in (site.replace("+0x", "+0x1"), site.replace("spek", "speck")):
                assert attempt(at, 0) == 0
        assert at.hits == 0
        codes = []
        for at.site in sites:
            at.every, at.hits = False, 0
            codes.append(attempt(at, 0))
            assert at.hits == 1
            at.every = True
            assert attempt(at, 0) == errno.ENOMEM
            assert at.hits > 1
        # kzalloc() and kvzalloc(), which does without the first
        assert set(codes) == {0, errno.ENOMEM}


STAMPED = {"data": int(Data.STAMPED), "stamp_id": 7, "grain_bytes": 4096}


def test_a_map_of_what_was_written(link: Socket, node: str, say: Say) -> None:
    """Made with a run, set, read."""

    def use(failing: Failing, n: int, run: int) -> list[int]:
        return use_map(link, failing, n, run)

    outcomes = fail_in_run_new(link, node, use=use, **STAMPED)

    say("run-new, map-set, map-get", outcomes)
    assert_only_memory(outcomes, 40)
    assert outcomes.functions >= {
        "spek_verify_create",
        "spek_nl_map_set_doit",
        "spek_nl_map_get_dumpit",
    }


def use_map(link: Socket, failing: Failing, n: int, run: int) -> list[int]:
    """Set and read the run's map. Return: errnos."""
    state_bytes = struct.pack("=Q", 2)
    part = {"run": run, "target": 0, "first": 3, "states": state_bytes}
    codes = [try_call(link, failing, n, Cmd.MAP_SET, part)[0]]
    with Socket(spek) as reader:
        code, answer = try_call(reader, failing, n, Cmd.MAP_GET, {"run": run}, dump=True)
    if not code and not codes[0]:
        assert any(state_bytes in bytes(part["states"]) for part in answer.values)
    codes.append(code)
    return codes


def test_run_new_without_threads(link: Socket, node: str, say: Say) -> None:
    """kthreadd makes the worker's thread: its allocations fail one by one."""
    outcomes = fail_each(make_and_delete(link, node), task="2")

    say("run-new, thread", outcomes)
    assert_only_memory(outcomes, 3, NO_THREAD)


def test_start_and_stop(link: Socket, node: str, say: Say) -> None:
    def attempt(failing: Failing, n: int) -> int:
        run = new(link, node, **SMALL)
        started, _answer = try_call(link, failing, n, Cmd.RUN_START, {"id": run})
        stopped, _answer = try_call(link, failing, n, Cmd.RUN_STOP, {"id": run})
        if state(link, run) == RunState.RUNNING:
            link.ask(Cmd.RUN_STOP, id=run)
        if state(link, run) != RunState.READY:
            assert comes_true(lambda: state(link, run) == RunState.DONE)
        delete(link, run)
        assert is_free(node)
        return started or stopped

    outcomes = fail_each(attempt, module="spek")

    say("run-start, run-stop", outcomes)
    # a start that failed leaves a run that can't be stopped, but none that can't be deleted
    assert_only_memory(outcomes, 4)


@pytest.fixture
def run(link: Socket, node: str) -> Iterator[int]:
    """A run that is done."""
    number = new(link, node, **SMALL, time_ns=None, count=500)
    link.ask(Cmd.RUN_START, id=number)
    assert comes_true(lambda: state(link, number) == RunState.DONE)
    yield number
    remove(link, number)


@pytest.mark.parametrize("cmd", [Cmd.RUN_GET, Cmd.STATS_GET, Cmd.INTERVAL_GET, Cmd.OP_GET])
def test_reading(node: str, link: Socket, run: int, cmd: Cmd, say: Say) -> None:
    values = {
        Cmd.RUN_GET: {},
        Cmd.STATS_GET: {"run": run},
        Cmd.INTERVAL_GET: {"run": run},
        Cmd.OP_GET: {"run": run, "worker": 0, "count": 100},
    }[cmd]

    def attempt(failing: Failing, n: int) -> int:
        # A socket whose dump was cut off still has it.
        with Socket(spek) as reader:
            code, _answer = try_call(reader, failing, n, cmd, values, dump=True)
        assert state(link, run) == RunState.DONE
        return code

    outcomes = fail_each(attempt, module="spek")

    say(cmd.name, outcomes)
    assert_only_memory(outcomes, 3)


def test_opening_and_reading_a_log(link: Socket, node: str, run: int, say: Say) -> None:
    folder = link.ask(Cmd.RUN_GET, id=run).values[0]["log_dir"]
    path = Path("/sys/kernel/debug", folder, "worker0")

    def attempt(failing: Failing, n: int) -> int:
        failing.arm(n)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            return error.errno or errno.EIO
        finally:
            failing.disarm()
        try:
            failing.arm(n)
            os.read(fd, 4800)
        except OSError as error:
            return error.errno or errno.EIO
        finally:
            failing.disarm()
            os.close(fd)
        return 0

    outcomes = fail_each(attempt, module="spek")

    say("log", outcomes)
    assert_only_memory(outcomes, 2)


# ---- threads of the kernel ----


def test_a_run_whose_threads_get_no_memory(
    link: Socket, node: str, record_property: Callable[[str, object], None]
) -> None:
    """Worker and work queues allocate nothing that a run depends on: all fails, all is counted."""
    count = 2000
    # a listener, so that notifications are allocated
    link.join("runs")
    with Socket(spek) as starter:
        for _ in range(TIMES):
            run = new(starter, node, **SMALL, time_ns=None, count=count)
            assert ios_without_memory(starter, run) == count
            remove(starter, run)
    record_property("count", f"run, threads: {TIMES} rounds of {count} I/Os")


def ios_without_memory(sock: Socket, run: int) -> int:
    """Start the run and wait for its end. Return: how many I/Os it counted."""
    tasks = guest_failures.kernel_threads("spek/", "kworker/u")
    with guest_failures.slab_fails_for(tasks):
        sock.ask(Cmd.RUN_START, id=run)
        assert comes_true(lambda: state(sock, run) == RunState.DONE)
    return ios_of(sock, run)


def ios_of(sock: Socket, run: int) -> int:
    """How many I/Os it counted."""
    rows = sock.dump(Cmd.STATS_GET, run=run).values
    # a cell comes in as many messages as it has metrics; its counts are in the first
    ios = {
        (row["phase"], row["stream"], row["direction"]): row["ios"] for row in rows if "ios" in row
    }
    return sum(ios.values())


def test_each_allocation_between_start_and_end(link: Socket, node: str, say: Say) -> None:
    """Of whatever task: who listens hears less, and what is done and counted is the same."""
    no_answer: list[int] = []  # where each answer lacks memory, a poll says nothing

    def is_done(sock: Socket, run: int) -> bool:
        try:
            return state(sock, run) == RunState.DONE
        except Refusal as no:
            assert no.errno in NO_MEMORY
            no_answer.append(no.errno)
            return False

    link.join("runs")
    with Socket(spek) as starter:

        def attempt(failing: Failing, n: int) -> int:
            run = new(starter, node, **SMALL, time_ns=None, count=200)
            failing.arm(n)
            starter.ask(Cmd.RUN_START, id=run)
            assert comes_true(lambda: is_done(starter, run) or len(no_answer) > 10)
            failing.disarm()
            no_answer.clear()
            assert comes_true(lambda: state(starter, run) == RunState.DONE)
            assert ios_of(starter, run) == 200
            remove(starter, run)
            return 0

        outcomes = Outcomes()
        guest_failures.fail_by_site(attempt, outcomes, "spek", whose="*")

    say("run-start to end, any task", outcomes)
    assert_only_memory(outcomes, 1)
    assert "run_message" in outcomes.functions


# ---- spek_prober ----


@pytest.fixture
def prober(prober_module: Path) -> Iterator[Socket]:
    with Socket(spek_prober) as prober:
        yield prober


PROBE = {"interval_ns": 10**8, "ring_rows": 16, "task": [{"pid": os.getpid()}]}
FEED = {"name": "feed", "source": "sim", "history": 64, "rail": [{"name": "5V"}]}

INTERVALS = {"intervals": struct.pack("=QQ", 1, 2 * 10**9)}


def samples(count: int) -> bytes:
    """A batch of one rail, a millisecond apart, up to now."""
    end = time.monotonic_ns()
    rows = ((end - (count - i) * 10**6, 5 * 10**6, 0, 0) for i in range(count))
    return b"".join(struct.pack("=QqII", *row) for row in rows)


def probe_state(sock: Socket) -> ProbeState:
    return ProbeState(sock.ask(ProberCmd.PROBE_GET).values[0]["state"])


def end_probe(sock: Socket) -> None:
    if probe_state(sock) == ProbeState.RUNNING:
        probe = sock.ask(ProberCmd.PROBE_GET).values[0]["id"]
        sock.ask(ProberCmd.PROBE_STOP, id=probe)
        assert comes_true(lambda: probe_state(sock) == ProbeState.DONE)
    if probe_state(sock) == ProbeState.DONE:
        probe = sock.ask(ProberCmd.PROBE_GET).values[0]["id"]
        sock.ask(ProberCmd.PROBE_DEL, id=probe)


@pytest.mark.parametrize("task", ["thread-self", "2"])
def test_probe_start(prober: Socket, task: str, say: Say) -> None:
    def attempt(failing: Failing, n: int) -> int:
        code, _answer = try_call(prober, failing, n, ProberCmd.PROBE_START, PROBE)
        if code == errno.ENOMEM:
            assert probe_state(prober) == ProbeState.IDLE
        end_probe(prober)
        return code

    module = "spek_prober" if task == "thread-self" else ""
    outcomes = fail_each(attempt, module=module, task=task)

    say(f"probe-start, {task}", outcomes)
    assert_only_memory(outcomes, 3, NO_THREAD)


def test_probe_start_in_any_task(prober: Socket, say: Say) -> None:
    """Whichever task allocates: work items and threads that a start uses, too."""

    def attempt(failing: Failing, n: int) -> int:
        before = failing.hits
        code, _answer = try_call(prober, failing, n, ProberCmd.PROBE_START, PROBE)
        if not code:
            assert_all_switches_or_no_sum(failing.hits - before)
        end_probe(prober)
        return code

    outcomes = Outcomes()
    guest_failures.fail_by_site(attempt, outcomes, "spek_prober", whose="*")

    say("probe-start, any task", outcomes)
    assert_only_memory(outcomes, 10)
    assert "cpu_start" in outcomes.functions


def assert_all_switches_or_no_sum(failed: int) -> None:
    """A CPU without a counter is known in the newest row of the probe.

    @failed: how many allocations
    """
    with Prober() as prober:
        wait_rows(prober, 1)
        row = prober.rows(prober.info().id)[0][-1]
    of_cpus = [cells.switches for cells in row.cpus.values()]
    assert of_cpus.count(None) <= failed
    assert (None in of_cpus) == (row.total.switches is None)


@pytest.mark.parametrize("cmd", [ProberCmd.PROBE_GET, ProberCmd.SAMPLE_GET])
def test_reading_a_probe(prober: Socket, cmd: ProberCmd, say: Say) -> None:
    dump = cmd == ProberCmd.SAMPLE_GET
    prober.ask(ProberCmd.PROBE_START, **PROBE)
    try:

        def attempt(failing: Failing, n: int) -> int:
            with Socket(spek_prober) as reader:
                return try_call(reader, failing, n, cmd, {}, dump=dump)[0]

        outcomes = fail_each(attempt, module="spek_prober")
    finally:
        end_probe(prober)

    say(cmd.name, outcomes)
    assert_only_memory(outcomes, 2)


def test_feeds(prober: Socket, say: Say) -> None:
    """Open, bring, ask, close: the same allocation fails in each."""
    codes: list[int] = []

    def attempt(failing: Failing, n: int) -> int:
        code, _answer = try_call(prober, failing, n, ProberCmd.FEED_OPEN, FEED)
        codes.append(code)
        feeds = {row["id"] for row in prober.dump(ProberCmd.FEED_GET).values if not row["state"]}
        if code == errno.ENOMEM:
            assert not feeds
        for feed in feeds:
            values = {"id": feed, "samples": samples(1000)}
            codes.append(try_call(prober, failing, n, ProberCmd.FEED_PUSH, values)[0])
            with Socket(spek_prober) as reader:
                codes.append(try_call(reader, failing, n, ProberCmd.FEED_GET, {}, dump=True)[0])
            with Socket(spek_prober) as reader:
                energy = ProberCmd.ENERGY_GET
                codes.append(try_call(reader, failing, n, energy, INTERVALS, dump=True)[0])
            prober.ask(ProberCmd.FEED_CLOSE, id=feed)
        return code or next(filter(None, codes[-3:]), 0)

    outcomes = fail_each(attempt, module="spek_prober")

    say("feeds", outcomes)
    assert_only_memory(outcomes, 10)
