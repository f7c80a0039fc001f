# SPDX-License-Identifier: GPL-2.0
"""The server of a fleet: starts, waits, stops that always work, and an agent that dies."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import report_files
from lib.ctl.web_server import SOON_S, Web, serving_fleet
from lib.fakes.fleet_rig import plan_of
from lib.waiting import eventually

from spekctl.host.client import Helper
from spekctl.web import fleet_session

JOB: dict[str, Any] = {"of_plan": True}
PLAN = plan_of(["a", "b"])


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Web]]:
    with ExitStack() as stack:
        yield lambda **script: stack.enter_context(serving_fleet(tmp_path, PLAN, **script))


def told(web: Web, name: str = "") -> list[Any]:
    frames = web.server.session.after(0, 0) or []
    return [json.loads(frame.data) for frame in frames if name in ("", frame.name)]


def ended(web: Web) -> Any:
    return eventually(lambda: told(web, "ended"), "the run does not end", SOON_S)[-1]


def stages(web: Web) -> list[str]:
    tables = told(web, "hosts")
    return [host["stage"] for host in tables[-1]["hosts"]] if tables else []


def is_gone(agent: Helper[Any]) -> bool:
    return not agent.alive


def running(web: Web) -> None:
    eventually(lambda: "running" in stages(web), "the fleet does not run", SOON_S)


def test_results_that_cannot_be_added_up_are_kept_as_they_came(
    serve: Callable[..., Web], tmp_path: Path
) -> None:
    web = serve(unmerged=True)
    web.json("POST", "/api/start", JOB)
    end = ended(web)
    files = sorted(path.name for path in tmp_path.glob("random-read-4k.*.json"))
    assert [name.split("-20")[0] for name in files] == [f"random-read-4k.{name}" for name in "ab"]
    text = f"b has sent a damaged result; the hosts' own results are in {', '.join(files)}"
    assert (end["code"], end["file"], end["text"], end["trouble"]) == (1, "", text, "")
    assert json.loads((tmp_path / files[0]).read_text()) == {"kind": 5}


def test_a_run_from_its_start_to_its_documents(serve: Callable[..., Web], tmp_path: Path) -> None:
    source = tmp_path / "elsewhere"
    source.mkdir()
    result = str(report_files.make(source, "run"))
    web = serve(result=result, samples="storage", lost="it is silent", seen=str(tmp_path / "seen"))
    checked = web.json("POST", "/api/dry-run", JOB)
    assert checked["name"] == "random-read-4k on 2 of 2 hosts" and not web.helpers
    assert web.json("POST", "/api/start", JOB | {"options": {"time": "7s"}}) == {
        **checked,
        "remarks": [f"{name}: time=7s, on /dev/fake0" for name in "ab"],
    }
    end = ended(web)
    assert (end["code"], end["skew_ns"], end["trouble"]) == (0, 24_000, ""), end["text"]
    assert end["file"].startswith("random-read-4k-") and (tmp_path / end["file"]).exists()
    assert [name.startswith("random-read-4k.storage-") for name in end["samples"]] == [True]
    assert stages(web) == ["ended", "lost"]
    asked = json.loads((tmp_path / "seen").read_text().splitlines()[0])
    assert asked["plan"]["fleet"]["options"] == {"time": "7s"} and not asked["holds"]
    entries = {entry["name"]: entry for entry in web.json("GET", "/api/results")["entries"]}
    status, _, page = web.ask(
        "GET", entries[end["file"]]["report"], headers={"Authorization": None}
    )
    assert status == 200 and page.startswith(b"<!DOCTYPE html>")
    # Another run gets an agent of its own, once the first one is gone.
    web.json("POST", "/api/start", JOB)
    assert len(web.helpers) == 2 and not web.helpers[0].alive


def test_hosts_that_have_claimed_wait_for_the_word(serve: Callable[..., Web]) -> None:
    web = serve()
    status, _, data = web.ask("POST", "/api/go", {"run": 1})
    assert (status, b"no run is waiting" in data) == (409, True)
    web.json("POST", "/api/claim", JOB)
    eventually(lambda: told(web, "hosts") and told(web, "hosts")[-1]["holds"], "no wait", SOON_S)
    number = told(web, "started")[-1]["run"]
    status, _, data = web.ask("POST", "/api/go", {"run": number - 1})
    assert (status, b"another run is waiting now" in data) == (409, True)
    assert web.ask("POST", "/api/go", {})[0] == 400
    status, _, data = web.ask("POST", "/api/start", JOB)
    assert (status, b"a run is under way" in data) == (409, True)
    web.json("POST", "/api/go", {"run": number})
    assert ended(web)["code"] == 0 and not told(web, "hosts")[-1]["holds"]


def test_a_stop_is_passed_on(serve: Callable[..., Web]) -> None:
    web = serve(rounds=10_000)
    assert web.ask("POST", "/api/stop", {})[0] == 409
    web.json("POST", "/api/start", JOB)
    running(web)
    web.json("POST", "/api/stop", {})
    assert (ended(web)["code"], ended(web)["text"]) == (130, "the run was stopped early")
    assert web.ask("POST", "/api/stop", {})[0] == 409


def test_a_stop_works_though_nobody_hears_it(
    serve: Callable[..., Web], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_session, "STOP_S", 0.05)
    web = serve(rounds=10_000, deaf=True)
    web.json("POST", "/api/start", JOB)
    running(web)
    web.json("POST", "/api/stop", {})
    assert ended(web)["text"].startswith("the agent ended (SIGKILL); its hosts have lost their")
    web.json("POST", "/api/start", JOB)
    running(web)


def test_an_agent_that_dies_is_told_in_one_sentence(serve: Callable[..., Web]) -> None:
    web = serve(dies_at=1)
    web.json("POST", "/api/start", JOB)
    end = ended(web)
    assert end["text"] == (
        "the agent ended (SIGSEGV): it is broken FAKE; its hosts have lost their controller, and"
        " release their devices by themselves"
    )
    assert (end["code"], end["file"]) == (1, "")
    web.json("POST", "/api/start", JOB)


def test_the_late_end_of_an_agent_is_not_that_of_the_next_run(
    serve: Callable[..., Web], monkeypatch: pytest.MonkeyPatch
) -> None:
    web = serve(rounds=10_000)
    session = web.server.session
    start, ends = session._start, []

    def noting(on_event: Any, on_end: Callable[[str], None]) -> Any:
        ends.append(on_end)
        return start(on_event, on_end)

    monkeypatch.setattr(session, "_start", noting)
    web.json("POST", "/api/start", JOB)
    running(web)
    web.json("POST", "/api/stop", {})
    ended(web)
    web.json("POST", "/api/start", JOB)
    running(web)
    ends[0]("the agent ended (SIGKILL)")
    assert told(web, "ended") == []
    assert web.ask("POST", "/api/start", JOB)[0] == 409
    web.json("POST", "/api/stop", {})
    assert ended(web)["code"] == 130


def test_a_start_that_is_refused_leaves_nothing(serve: Callable[..., Web]) -> None:
    web = serve(refuses="two hosts are one")
    for _ in range(2):
        status, _, data = web.ask("POST", "/api/start", JOB)
        assert (status, json.loads(data)) == (409, {"error": "two hosts are one"})
    for agent in web.helpers:
        eventually(functools.partial(is_gone, agent), "it is still there", SOON_S)
    assert told(web) == []


def test_what_would_write_is_not_started_unasked(serve: Callable[..., Web]) -> None:
    web = serve()
    status, _, data = web.ask("POST", "/api/start", {"settings": ["stream.main.read=0%"]})
    assert (status, b"give --write" in data, web.helpers) == (409, True, [])


def test_the_end_of_the_server_is_that_of_the_run(tmp_path: Path) -> None:
    with serving_fleet(tmp_path, PLAN, rounds=10_000) as web:
        web.json("POST", "/api/start", JOB)
        running(web)
    assert not web.helpers[0].alive


def test_addresses_of_one_machine_are_not_there(serve: Callable[..., Web]) -> None:
    web = serve()
    for place in ("/api/devices", "/api/status", "/metrics"):
        assert web.ask("GET", place)[0] == 404
    assert web.ask("GET", "/fleet.js", headers={"Authorization": None})[0] == 200
    assert web.ask("POST", "/api/go", {}, headers={"Authorization": None})[0] == 401
    assert web.ask("POST", "/api/claim", JOB, headers={"Origin": "http://evil"})[0] == 403
    assert web.ask("POST", "/api/start", {"devices": ["/dev/x"]})[0] == 400
    assert web.ask("POST", "/api/start", b"[" * 100_000)[0] == 400
    assert web.json("GET", "/api/form")["fleet"] == "plan.toml"


def test_the_server_does_not_import_the_engine() -> None:
    code = (
        "import sys, spekctl.web.server; print(sorted({'distributed', 'dask'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
