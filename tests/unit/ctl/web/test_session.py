# SPDX-License-Identifier: GPL-2.0
"""The session of a server: events of the current run, and a host that comes and goes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.waiting import LONG_S

from spekctl.errors import RefusedError, SpekError
from spekctl.host.client import HostError
from spekctl.host.protocol import AnyEvent, Ended, Job, Log, Note, Rows, Started
from spekctl.host.wire import Hello
from spekctl.kernel.records import Phase, RunState
from spekctl.run.progress import Clock, DirectionFigures, Figures
from spekctl.web.library import Library
from spekctl.web.session import Session

STARTED = Started("oltp on /dev/x", "oltp", ["main"], ["run", "oltp"])


def figures(at_s: int) -> Figures:
    """A row."""
    none = DirectionFigures(0, 0.0, 0.0, 0, 0, 0)
    return Figures(float(at_s), Phase.MEASURE, none, none, 0, 0, 0, None, None, None)


class FakeHelper:
    """A host that answers whatever is asked, until it is told to die."""

    def __init__(self, on_event: Callable[[AnyEvent], None], on_end: Callable[[str], None]) -> None:
        self.on_event, self.on_end = on_event, on_end
        self.alive = True
        self.asked: list[str] = []

    def wait_ready(self) -> None:
        pass

    def ask(self, verb: str, kind: Any = None, **fields: Any) -> Any:
        self.asked.append(verb)
        return {"verb": verb, **fields}

    def close(self) -> None:
        self.alive = False

    def die(self, reason: str) -> None:
        self.alive = False
        self.on_end(reason)


class Hosts:
    """Starts them, or fails to."""

    def __init__(self) -> None:
        self.started: list[FakeHelper] = []
        self.trouble: SpekError | None = None

    def start(self, on_event: Any, on_end: Any) -> Any:
        if self.trouble is not None:
            raise self.trouble
        self.started.append(FakeHelper(on_event, on_end))
        return self.started[-1]


@pytest.fixture
def hosts() -> Hosts:
    return Hosts()


@pytest.fixture
def session(hosts: Hosts, tmp_path: Path) -> Session:
    return Session(hosts.start, Library(tmp_path))


def told(session: Session, number: int = 0) -> list[tuple[int, str, Any]]:
    frames = session.after(number, 0)
    assert frames is not None
    return [(frame.number, frame.name, msgspec.json.decode(frame.data)) for frame in frames]


def test_one_host_serves_until_it_is_gone(session: Session, hosts: Hosts) -> None:
    for _ in range(2):
        helper: Any = session.connect()
        assert helper is hosts.started[0]
    hosts.started[0].die("the host ended (status 1)")
    helper = session.connect()
    assert helper is hosts.started[1]
    assert [(name, data) for _, name, data in told(session)] == [
        ("host", {"alive": True, "text": ""}),
        ("host", {"alive": False, "text": "the host ended (status 1)"}),
        ("host", {"alive": True, "text": ""}),
    ]


def test_a_host_that_starts_once_is_not_started_again(hosts: Hosts, tmp_path: Path) -> None:
    session = Session(hosts.start, Library(tmp_path), again=False)
    host: Any = session.connect()
    host.die("it was killed")
    with pytest.raises(HostError, match="it was killed; start spekctl web again"):
        session.connect()
    assert len(hosts.started) == 1


def test_a_host_that_does_not_start_is_told_and_tried_again(session: Session, hosts: Hosts) -> None:
    hosts.trouble = HostError("a password is required")
    for _ in range(2):
        with pytest.raises(HostError, match="a password is required"):
            session.devices()
    hosts.trouble = None
    session.devices()
    assert [data["alive"] for _, _, data in told(session)] == [False, False, True]


def test_no_host_is_started_to_stop_a_run(session: Session, hosts: Hosts) -> None:
    with pytest.raises(RefusedError, match="there is no run to stop"):
        session.stop()
    assert hosts.started == []
    session.connect()
    session.stop()
    assert hosts.started[0].asked == ["stop"]
    hosts.started[0].die("gone")
    with pytest.raises(RefusedError):
        session.stop()


def test_a_new_run_forgets_the_events_of_the_last(session: Session, hosts: Hosts) -> None:
    session.connect()
    host = hosts.started[0]
    host.on_event(Hello(1, "0", []))
    host.on_event(STARTED)
    host.on_event(Note("one"))
    assert [(number, name) for number, name, _ in told(session)] == [(2, "started"), (3, "note")]
    assert told(session, 2) == [(3, "note", told(session)[1][2])]
    assert told(session, 3) == []
    host.on_event(STARTED)
    # A page that has seen up to 3, or comes from nowhere, gets the new run.
    for seen in (0, 3):
        assert [(number, name) for number, name, _ in told(session, seen)] == [(4, "started")]


@pytest.mark.parametrize(("content", "kept"), [(b'{"kind":"spek-result"}', True), (b"null", False)])
def test_a_result_is_kept_under_the_name_of_its_run(
    content: bytes, kept: bool, session: Session, hosts: Hosts, tmp_path: Path
) -> None:
    session.connect()
    hosts.started[0].on_event(STARTED)
    hosts.started[0].on_event(Ended(0, "the run completed", msgspec.Raw(content)))
    *_, (_, name, end) = told(session)
    assert (name, end["code"], end["trouble"]) == ("ended", 0, "")
    files = [path.name for path in tmp_path.iterdir()]
    assert files == ([end["file"]] if kept else [])
    assert end["file"].startswith("oltp") == kept


@pytest.mark.parametrize("known", [True, False], ids=["under-way", "not-heard-of"])
def test_a_start_during_a_run_leaves_the_log_of_the_run(
    session: Session, hosts: Hosts, tmp_path: Path, known: bool
) -> None:
    logged = Job(workload="oltp", devices=["/dev/x"], options={"log": "run.parquet"})
    session.start(logged)
    host = hosts.started[0]
    if known:
        host.on_event(STARTED)
    for another in (logged, Job(workload="oltp", devices=["/dev/x"])):
        with pytest.raises(RefusedError, match="a run is under way; stop it first"):
            session.start(another)
    if not known:
        host.on_event(STARTED)
    host.on_event(Log(b"all of it"))
    result = msgspec.Raw(b'{"log":{"file":"run.parquet"}}')
    host.on_event(Ended(0, "the run completed", result))
    (*_, (_, _, end)) = told(session)
    assert (end["log"], end["trouble"]) == ("run.parquet", "")
    assert (tmp_path / "run.parquet").read_bytes() == b"all of it"
    assert host.asked == ["start"]
    session.start(Job(workload="oltp", devices=["/dev/x"]))


def test_after_a_host_that_died_in_a_run_another_starts(session: Session, hosts: Hosts) -> None:
    job = Job(workload="oltp", devices=["/dev/x"])
    session.start(job)
    hosts.started[0].on_event(STARTED)
    hosts.started[0].die("it was killed")
    session.start(job)
    assert hosts.started[1].asked == ["start"]


def test_who_waits_is_woken_by_an_event_and_by_the_end(session: Session, hosts: Hosts) -> None:
    session.connect()
    answers: list[Any] = []
    seen = told(session)[-1][0]
    waiter = threading.Thread(target=lambda: answers.append(session.after(seen, 2 * LONG_S)))
    waiter.start()
    hosts.started[0].on_event(Note("one"))
    waiter.join(LONG_S)
    assert [frame.name for frame in answers[0]] == ["note"]
    waiter = threading.Thread(target=lambda: answers.append(session.after(seen + 1, 2 * LONG_S)))
    waiter.start()
    session.close()
    waiter.join(LONG_S)
    assert answers[1] is None
    assert not hosts.started[0].alive
    with pytest.raises(HostError, match="the server is ending"):
        session.connect()


def test_waiting_ends_in_time_with_nothing(session: Session) -> None:
    answers: list[Any] = []
    waiter = threading.Thread(target=lambda: answers.append(session.after(0, 0.01)), daemon=True)
    waiter.start()
    waiter.join(LONG_S)
    assert answers == [[]]


def test_a_host_that_is_lost_before_a_run_has_started_leaves_no_log(
    session: Session, hosts: Hosts, tmp_path: Path
) -> None:
    logged = Job(workload="oltp", devices=["/dev/x"], options={"log": "run.parquet"})
    session.start(logged)
    assert (tmp_path / "run.parquet.part").exists()
    hosts.started[0].die("the host ended (status 1)")
    assert not list(tmp_path.glob("run.parquet*"))
    session.start(logged)


def test_a_host_that_is_lost_at_the_end_is_not_news(session: Session, hosts: Hosts) -> None:
    session.connect()
    before = hosts.started[0]
    session.close()
    before.die("the host ended (status -15)")
    assert session.after(0, 0) is None
    assert session._course.last == 1


def test_a_long_run_is_told_in_few_events(session: Session, hosts: Hosts) -> None:
    """More rows than are kept; a page that has followed the run lacks none."""
    session.connect()
    host = hosts.started[0]
    host.on_event(STARTED)
    clock = Clock(Phase.MEASURE, RunState.RUNNING, 1.0, None, None)
    seen, last = 0, told(session)[-1][0]
    for at in range(6000):
        host.on_event(Rows(clock, [figures(at)]))
        ((last, name, data),) = told(session, last)
        assert name == "rows" and data["rows"][0]["at_s"] == at
        seen += 1
    host.on_event(Ended(0, "the run completed", msgspec.Raw(b"null")))
    assert seen == 6000
    first, *rows, end = told(session)
    assert (first[1], end[1]) == ("started", "ended")
    assert {name for _, name, _ in rows} == {"rows"}
    shown = [row["at_s"] for _, _, data in rows for row in data["rows"]]
    assert shown[0] == 0 and shown[-1024:] == list(range(4976, 6000))
    assert len(shown) <= 1024 + 4096 and shown == sorted(shown)
    assert rows[0][2].keys() == rows[-1][2].keys()
