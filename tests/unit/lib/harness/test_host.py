# SPDX-License-Identifier: GPL-2.0
"""Guests' side of the tests on the host, with programs that behave as guests do."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lib.harness import process
from lib.harness.ahead import Missing, Prepared, answers
from lib.harness.host import GuestRunner, own_place, places_of, with_turns
from lib.harness.kernels import (
    AT_LENGTH,
    NEWEST,
    NEWEST_FILES,
    NEWEST_IN_SHORT,
    STOCK_KERNELS,
    left_to_test_kernels,
    repeated,
)
from lib.harness.process import NICENESS, Guest, name_of, with_children
from lib.waiting import LONG_S, comes_true

PREPARED = Prepared("6.77", Path("/disks"), None, "amd64")
# The guest's half of the plumbing, as far as the host sees it.
PROGRAM = """
import json, os, signal, sys, time

signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell has its background jobs ignore it

def tell(event, **fields):
    with open(sys.argv[2], "a") as results:
        results.write(json.dumps({"event": event, **fields}) + "\\n")

def run(nodeid):
    tell("start", nodeid=nodeid)
    tell("report", data={"nodeid": nodeid})
    tell("finish", nodeid=nodeid)

for nodeid in json.load(open(sys.argv[1])):
"""


class Item:
    """As much of a pytest.Item as a report takes."""

    def __init__(self, nodeid: str) -> None:
        self.nodeid = nodeid
        self.location = (nodeid, 0, nodeid)
        self.keywords: dict[str, int] = {}


class Config:
    """As much of a pytest.Config as a guest takes."""

    def __init__(self, at_length: bool = False) -> None:
        self.hook = self
        self.options = {"--guest-limit": 600, "--every-kernel": at_length}

    def getoption(self, name: str) -> int | bool:
        return self.options[name]

    def pytest_report_from_serializable(self, config: Config, data: Any) -> pytest.TestReport:
        return pytest.TestReport(data["nodeid"], ("", 0, ""), {}, "passed", None, "call")


class Played(Guest):
    """A guest whose part is played by a program: @does for each test."""

    def __init__(self, does: str, nodeids: list[str]) -> None:
        items: Any = [Item(nodeid) for nodeid in nodeids]
        config: Any = Config()
        super().__init__("6.77", items, config)
        self.does = does

    def command(self) -> list[str]:
        return ["env"]

    def command_inside(self, wanted: Path) -> list[str]:
        body = "".join(f"    {line}\n" for line in self.does.splitlines())
        return [sys.executable, "-c", PROGRAM + body, str(wanted), str(self.results)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What guests leave behind."""
    monkeypatch.setattr(process, "ROOT", tmp_path)
    return tmp_path


def play(does: str, *nodeids: str) -> tuple[dict[str, str], Guest]:
    """Play it to the end: outcome and text of each test."""
    guest = Played(does, list(nodeids))
    guest.boot(PREPARED, os.sched_getaffinity(0))
    limit = time.monotonic() + LONG_S
    while guest.pending or guest.process:
        assert time.monotonic() < limit
        guest.attend()
        time.sleep(0.01)
    return {
        nodeid: " ".join(f"{report.outcome} {report.longrepr or ''}".strip() for report in reports)
        for nodeid, reports in guest.ready.items()
    }, guest


# ---- one guest ----


def test_what_a_guest_reports_is_passed_on() -> None:
    outcomes, guest = play("run(nodeid)", "a", "b", "c")
    assert outcomes == {"a": "passed", "b": "passed", "c": "passed"}
    assert (guest.boots, guest.failed_boots) == (1, 0)


def test_the_test_that_a_guest_dies_in_has_failed_and_the_others_run_in_another_one() -> None:
    outcomes, guest = play(
        "if nodeid == 'b': tell('start', nodeid='b'); print('alas', flush=True); os._exit(1)\n"
        "run(nodeid)",
        *"abc",
    )
    assert (outcomes["a"], outcomes["c"]) == ("passed", "passed")
    assert outcomes["b"].startswith("failed the guest died in this test")
    assert "\nalas" in outcomes["b"]
    assert guest.boots == 2


def test_a_guest_that_ends_between_tests_fails_the_next_one() -> None:
    outcomes, guest = play("if nodeid == 'b' : os._exit(0)\nrun(nodeid)", *"abc")
    assert outcomes["b"].startswith("failed the guest died before it ran this test")
    assert (outcomes["a"], outcomes["c"], guest.boots) == ("passed", "passed", 2)


def test_a_guest_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_S", -599)  # a second for each event
    outcomes, guest = play(
        "tell('start', nodeid=nodeid)\nif nodeid == 'a': time.sleep(600)\ntell('finish', "
        "nodeid=nodeid)",
        *"ab",
    )
    assert outcomes["a"].startswith("failed the guest hung in this test")
    assert (outcomes["b"], guest.boots) == ("", 2)


def test_a_guest_that_does_not_come_up_is_tried_twice() -> None:
    outcomes, guest = play("print('no such kernel', flush=True); os._exit(1)", *"abc")
    assert (guest.boots, guest.failed_boots) == (2, 2)
    assert "the guest did not get as far as the first test" in outcomes["a"]
    assert "no such kernel" in outcomes["a"]
    for nodeid in "bc":
        assert outcomes[nodeid] == "failed no guest with kernel 6.77 could be had: see a"


def test_tests_that_do_not_load_are_not_tried_again() -> None:
    outcomes, guest = play("tell('broken', text='no NumPy'); os._exit(2)", *"ab")
    assert guest.boots == 1
    assert "no NumPy" in outcomes["a"]
    assert outcomes["b"].startswith("failed")


def test_what_a_test_has_left_behind_is_reported_with_a_later_one() -> None:
    guest = Played("", ["a", "b"])
    guest.results = guest.folder / "results"
    guest.position, guest.fresh, guest.started, guest.running = 0, [], False, ""
    late = {"event": "report", "data": {"nodeid": "a"}}
    events = [
        {"event": "finish", "nodeid": "a"},
        late,
        {"event": "finish", "nodeid": "b"},
    ]
    guest.results.write_text("".join(json.dumps(event) + "\n" for event in events) + '{"event": "')
    guest.read_events()
    assert [report.nodeid for report in guest.ready["b"]] == ["a"]
    assert not guest.pending


# ---- who runs where ----


@pytest.mark.parametrize(
    ("processors", "tenants", "sizes"),
    [
        (1, 4, [1]),
        (2, 4, [1, 1]),
        (2, 1, [2]),
        (3, 4, [1, 1, 1]),
        (4, 4, [2, 2]),
        (4, 1, [4]),
        (16, 4, [4, 4, 4, 4]),
        (9, 4, [3, 2, 2, 2]),
    ],
)
def test_processors_are_divided(processors: int, tenants: int, sizes: list[int]) -> None:
    places = places_of(set(range(processors)), tenants)
    assert [len(place) for place in places] == sizes
    assert set.union(*places) == set(range(processors))


@pytest.mark.parametrize(
    ("places", "gib", "expected"),
    [
        ([{0}, {1}], 24, [{0}, {1}, {0}, {1}, {0}, {1}]),
        ([{0}, {1}], 9, [{0}, {1}, {0}]),  # two guests more were 10 GiB
        ([{0}, {1}], 7, [{0}, {1}]),
        ([{0}, {1}], 1, [{0}, {1}]),
        ([{0}], 24, [{0}]),
        ([{0, 1}, {2, 3}], 24, [{0, 1}, {2, 3}]),
    ],
)
def test_guests_take_turns_on_single_processors(
    places: list[set[int]], gib: float, expected: list[set[int]]
) -> None:
    assert with_turns(places, gib) == expected


@pytest.mark.parametrize(
    ("places", "gib", "own"),
    [
        ([{0}, {1}], 6, set()),
        ([{0}, {1}], 5, {1}),
        ([{0, 1}, {2, 3}], 24, {2, 3}),
        ([{0, 2}, {1}], 24, {1}),
        ([{0, 1}], 24, set()),
    ],
)
def test_the_tests_of_the_host_have_a_place_unless_guests_take_turns(
    places: list[set[int]], gib: float, own: set[int]
) -> None:
    assert own_place(places, gib) == own


class Starts:
    """A runner whose guests only note where they are started and where they may go."""

    def __init__(self, folder: Path, places: list[set[int]], own: set[int], **tests: int) -> None:
        self.made = folder / "made"
        self.made.touch()
        self.over = False
        self.preparation: Any = SimpleNamespace(
            is_over=lambda: self.over, made=self.made, log=folder
        )
        config: Any = Config()
        self.runner = GuestRunner(config)
        self.runner.processors = set.union(*places)
        self.runner.places, self.runner.own = places, own
        self.booted: list[tuple[str, set[int]]] = []
        self.on: dict[str, set[int]] = {}
        for label, number in tests.items():
            guest: Any = SimpleNamespace(kernel=label, pending=["test"] * number, process=None)

            def boot(prepared: Prepared, processors: set[int], guest: Any = guest) -> None:
                guest.process, guest.processors = object(), processors
                self.booted.append((guest.kernel, processors))

            def roam(processors: set[int], guest: Any = guest) -> None:
                self.on[guest.kernel] = processors

            guest.boot, guest.roam = boot, roam
            self.runner.guests[label] = guest

    def prepare(self, *labels: str) -> list[str]:
        """What was booted so far, when these were prepared, too."""
        with open(self.made, "a") as file:
            for label in labels:
                line = {"label": label, "source": label, "disks": "d", "test_modules": None}
                line["architecture"] = "amd64"
                file.write(json.dumps(line) + "\n")
        self.runner.start_guests(self.preparation)
        self.runner.let_roam(self.over)
        return [kernel for kernel, _ in self.booted]


def test_the_guest_with_the_most_tests_goes_first(tmp_path: Path) -> None:
    """Each place takes the longest available item."""
    starts = Starts(tmp_path, [{0}, {1}, {2}], {2}, long=3, short=1, longer=2)
    assert starts.prepare("long") == ["long"]
    # the last place is for what is prepared
    assert starts.prepare("short", "longer") == ["long", "longer"]
    starts.over = True
    assert starts.prepare() == ["long", "longer", "short"]


def test_guests_go_where_this_process_has_no_tests(tmp_path: Path) -> None:
    starts = Starts(tmp_path, [{0}, {1}, {0}, {1}], {1}, a=4, b=3, c=2, d=1)
    starts.runner.busy, starts.over = True, True
    assert starts.prepare(*"abcd") == ["a", "b"]
    assert [place for _, place in starts.booted] == [{0}, {0}]
    assert starts.on == {"a": {0}, "b": {0}}
    starts.runner.busy = False
    assert starts.prepare() == [*"abcd"]
    assert [place for _, place in starts.booted[2:]] == [{1}, {1}]
    assert starts.on == {label: {0, 1} for label in "abcd"}


def test_guests_that_take_turns_go_everywhere_from_the_start(tmp_path: Path) -> None:
    starts = Starts(tmp_path, [{0}, {1}, {0}, {1}], set(), a=4, b=3, c=2, d=1)
    starts.runner.busy = True
    assert starts.prepare(*"abcd") == [*"abcd"]
    assert [place for _, place in starts.booted] == [{0}, {1}, {0}, {1}]
    assert starts.on == {label: {0, 1} for label in "abcd"}


def test_guests_with_processors_of_their_own_stay_there(tmp_path: Path) -> None:
    starts = Starts(tmp_path, [{0, 1}, {2, 3}], {2, 3}, a=2, b=1)
    starts.over = True
    assert starts.prepare("a", "b") == ["a", "b"]
    assert not starts.on


def niceness_of(pid: int) -> tuple[int, str]:
    """Of a process, and of its session among others, empty where the kernel has no such groups and
    for a process in a session that had begun before there were any."""
    group = Path(f"/proc/{pid}/autogroup")
    words = group.read_text().split() if group.exists() else []
    return os.getpriority(os.PRIO_PROCESS, pid), words[-1] if words else ""


def test_a_guest_and_its_emulator_come_after_what_is_less_nice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The emulator leads a session of its own."""
    monkeypatch.setattr(process, "EMULATOR", "sleep")
    processors = os.sched_getaffinity(0)
    guest = Played("import subprocess\nsubprocess.run(['setsid', 'sleep', '60'])", ["a"])
    has_groups = Path("/proc/self/autogroup").exists()
    niceness = os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
    expected = (min(niceness, 19), str(NICENESS) if has_groups else "")
    guest.boot(PREPARED, {min(processors)})
    try:
        assert guest.process
        first = guest.process.pid
        assert niceness_of(first) == expected
        assert comes_true(lambda: "sleep" in map(name_of, with_children(first)))
        guest.roams_on = set()
        guest.roam(processors)
        assert [niceness_of(pid) for pid in with_children(first)] == [expected] * 2
    finally:
        guest.stop()


def test_a_guest_and_its_children_go_to_other_processors_once_the_emulator_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It asks how many there are when it begins."""
    processors = os.sched_getaffinity(0)
    first = {min(processors)}
    guest = Played("import subprocess\nsubprocess.run(['sleep', '60'])", ["a"])
    guest.boot(PREPARED, first)
    try:
        assert guest.process
        pid = guest.process.pid
        assert comes_true(lambda: "sleep" in map(name_of, with_children(pid)))
        guest.roam(processors)
        assert all(os.sched_getaffinity(child) == first for child in with_children(pid))
        monkeypatch.setattr(process, "EMULATOR", "sleep")
        guest.roam(processors)
        assert len(with_children(pid)) >= 2
        assert all(os.sched_getaffinity(child) == processors for child in with_children(pid))
    finally:
        guest.stop()


def test_a_half_written_answer_is_none(tmp_path: Path) -> None:
    path = tmp_path / "ahead.jsonl"
    path.write_text(
        '{"label": "6.1", "source": "6.1", "disks": "/d", "test_modules": null,'
        ' "architecture": "amd64"}\n'
        '{"label": "debug", "has_kernel": false, "error": "no source"}\n{"label": "6.1'
    )
    assert answers(path) == {
        "6.1": Prepared("6.1", Path("/d"), None, "amd64"),
        "debug": Missing("no source", has_kernel=False),
    }


@pytest.mark.parametrize(
    ("label", "named", "has_kernel", "expected"),
    [
        ("newest", None, False, "skipped"),
        ("newest", "newest", False, "gave up"),
        ("newest", None, True, "gave up"),  # there is one, and the modules don't build for it
        ("6.1", None, False, "gave up"),
    ],
)
def test_only_a_newest_kernel_that_nobody_asked_for_may_be_missing(
    tmp_path: Path, label: str, named: str | None, has_kernel: bool, expected: str
) -> None:
    answers_file = tmp_path / "made"
    answer = {"label": label, "has_kernel": has_kernel, "error": "the mirror is silent"}
    answers_file.write_text(json.dumps(answer) + "\n")
    preparation: Any = SimpleNamespace(is_over=lambda: True, made=answers_file, log=tmp_path)
    config: Any = SimpleNamespace(getoption=lambda name: named)
    runner = GuestRunner(config)
    ends: list[tuple[str, str]] = []
    guest: Any = SimpleNamespace(
        kernel=label,
        pending=["test"],
        process=None,
        skip=lambda why: ends.append(("skipped", why)),
        give_up=lambda why: ends.append(("gave up", why)),
    )
    runner.guests[label] = guest

    runner.start_guests(preparation)

    assert ends == [(expected, "the mirror is silent")]


def test_what_is_skipped_says_why() -> None:
    guest = Played("", ["a", "b"])

    guest.skip("the mirror is silent")

    ready = [(*guest.ready[nodeid],) for nodeid in "ab"]
    assert [report.outcome for (report,) in ready] == ["skipped", "skipped"]
    reasons = [report.longrepr for (report,) in ready]
    assert all(
        isinstance(reason, tuple) and reason[2] == "Skipped: the mirror is silent"
        for reason in reasons
    )
    assert not guest.pending


def left_out(*nodeids: str, mark: str = "") -> set[str]:
    items: Any = [
        SimpleNamespace(nodeid=nodeid, get_closest_marker=lambda name: name == mark or None)
        for nodeid in nodeids
    ]
    return left_to_test_kernels(items)


@pytest.mark.parametrize("file", ["test_any.py", "test_submission.py"])
def test_variants_are_shared_out_among_the_stock_kernels(file: str) -> None:
    """Each runs once, half of them on either kernel, and neither has all of one parameter."""
    variants = [f"{backend}-{two}" for backend in ("bio", "mq") for two in range(10)]
    items = {f"{file}::a[{kernel}-{name}]" for name in variants for kernel in STOCK_KERNELS}
    kept = sorted(items - left_out(*items))
    assert sorted(nodeid.partition("-")[2].rstrip("]") for nodeid in kept) == sorted(variants)
    for kernel in STOCK_KERNELS:
        mine = [nodeid for nodeid in kept if f"[{kernel}-" in nodeid]
        assert len(mine) == len(variants) // 2
        assert {"bio", "mq"} == {nodeid.split("-")[1] for nodeid in mine}


def test_the_newest_kernel_runs_the_variants_of_the_first_stock_kernel() -> None:
    kernels = (*STOCK_KERNELS, NEWEST)
    items = {f"test_submission.py::a[{name}-{kernel}]" for name in range(8) for kernel in kernels}
    kept = items - left_out(*items)
    on = {
        kernel: {word for word in range(8) if f"test_submission.py::a[{word}-{kernel}]" in kept}
        for kernel in kernels
    }
    assert on[NEWEST] == on[STOCK_KERNELS[0]]
    assert len(on[NEWEST]) == 4
    assert on[STOCK_KERNELS[1]] == set(range(8)) - on[NEWEST]
    few = {f"test_submission.py::a[{name}-{kernel}]" for name in range(3) for kernel in kernels}
    assert left_out(*few) == set()


def test_the_newest_kernel_runs_some_of_its_files_in_short() -> None:
    items = {f"{name}::a[newest-{number}]" for name in NEWEST_FILES for number in range(9)}
    kept = {nodeid.partition("::")[0] for nodeid in items - left_out(*items)}
    assert kept == {*NEWEST_IN_SHORT} < {*NEWEST_FILES}


def test_a_stock_kernel_runs_half_of_the_variants_that_the_debug_kernel_runs() -> None:
    kernels = ("debug", STOCK_KERNELS[1])
    items = {f"t.py::a[{kernel}-{name}]" for name in range(7) for kernel in kernels}
    gone = left_out(*items)
    assert len(gone) == 3 and all(STOCK_KERNELS[1] in nodeid for nodeid in gone)
    few = {f"t.py::a[{kernel}-{name}]" for name in range(3) for kernel in kernels}
    assert left_out(*few) == set()


def test_many_variants_are_shared_out_between_a_stock_kernel_and_the_debug_kernel() -> None:
    """Each runs once; those that only the debug kernel has, there."""
    kernels = ("debug", STOCK_KERNELS[1])
    items = {f"t.py::a[{kernel}-{name}]" for name in range(9) for kernel in kernels}
    kept = items - left_out(*items)
    assert sorted(nodeid.partition("-")[2] for nodeid in kept) == [f"{n}]" for n in range(9)]
    assert sum("debug" in nodeid for nodeid in kept) == 4
    own = {f"t.py::a[debug-{name}]" for name in range(9)}
    assert left_out(*own) == set()


def test_tests_are_shared_out_but_for_those_of_the_kernel() -> None:
    items = [
        f"{file}::test_{number}[{kernel}]"
        for file in ("test_any.py", "test_submission.py")
        for number in range(20)
        for kernel in STOCK_KERNELS
    ]
    gone = left_out(*items)
    assert not any("test_submission" in nodeid for nodeid in gone)
    for kernel in STOCK_KERNELS:
        assert sum(f"[{kernel}]" in nodeid for nodeid in gone) == 10
    assert len({nodeid.partition("[")[0] for nodeid in gone}) == 20


@pytest.mark.parametrize("kernels", [STOCK_KERNELS, STOCK_KERNELS[:1]])
def test_of_what_is_sampled_half_of_the_variants_run(kernels: tuple[str, ...]) -> None:
    items = [f"t.py::a[{kernel}-{name}]" for name in range(9) for kernel in kernels]
    kept = set(items) - left_out(*items, mark="sampled")
    assert len(kept) == 5
    assert len({nodeid.partition("-")[2] for nodeid in kept}) == 5


@pytest.mark.parametrize(
    "items",
    [
        [f"test_prober.py::few[{kernel}-{name}]" for name in "abc" for kernel in STOCK_KERNELS],
        [f"t.py::asked[6.12-{name}]" for name in "abcdef"],
        [
            f"test_drive.py::newest[{kernel}-{name}]"
            for name in "abcdef"
            for kernel in ("debug", "newest")
        ],
        ["t.py::none", "t.py::none[a]", "t.py::odd[6.1-6.12]"],
    ],
)
def test_other_tests_run_where_they_are_for(items: list[str]) -> None:
    assert left_out(*items) == set()


def test_what_is_long_is_left_out_whole() -> None:
    items = {f"t.py::a[{kernel}]" for kernel in (*STOCK_KERNELS, "debug")}
    assert left_out(*items, mark="at_length") == items


def test_a_guest_is_told_to_repeat_things_at_length(monkeypatch: pytest.MonkeyPatch) -> None:
    for at_length in (False, True):
        guest = Guest("6.77", [], cast(Any, Config(at_length)))
        guest.prepared, guest.results = PREPARED, Path("/results")
        told = f"{AT_LENGTH}=1" in guest.command_inside(Path("/wanted"))
        assert told is at_length
    monkeypatch.delenv(AT_LENGTH, raising=False)
    assert repeated(2, 100) == 2
    monkeypatch.setenv(AT_LENGTH, "1")
    assert repeated(2, 100) == 100
