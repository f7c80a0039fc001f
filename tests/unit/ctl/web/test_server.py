# SPDX-License-Identifier: GPL-2.0
"""The web server over real connections, before a fake host: what it serves, and to whom."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import report_files
from lib.ctl.web_server import JOB, SOON_S, Web, serving

from spekctl.documents import result
from spekctl.web.door import PLACES
from spekctl.web.guard import CONTENT_POLICY
from spekctl.web.library import Library, LogPart
from spekctl.web.server import CONNECTIONS_MAX, PIECE_BYTES, STRANGERS_MAX

Serve = Callable[..., Web]
PAGE = ("/", "/page.js", "/plot.js", "/page.css", "/icon.svg")
READS = (
    *("/events", "/metrics", "/api/form", "/api/devices", "/api/results", "/api/status"),
    *("/api/workload?name=spc1", "/api/compare?file=x.json"),
    *("/report?file=x.json", "/api/result?file=x.json"),
)
CHANGES = ("/api/start", "/api/dry-run", "/api/stop")


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda **script: stack.enter_context(serving(tmp_path, **script))


@pytest.fixture
def web(serve: Serve) -> Web:
    return serve()


def run_to_end(web: Web, **job: Any) -> list[tuple[str, str, Any]]:
    """Start a run; all events up to its end."""
    assert web.json("POST", "/api/start", {**JOB, **job})["name"] == "random-read-4k"
    seen = []
    for event in web.events():
        seen.append(event)
        if event[1] in ("ended", "host") and (event[1] == "ended" or not event[2]["alive"]):
            return seen
    raise AssertionError(seen)


# --- who may -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [*READS, "/nowhere"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": None},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic x"},
        {"Authorization": None, "Cookie": "spek-1=x; spek=y"},
        {"Authorization": None, "Cookie": "\x01=;;;"},
        {"Authorization": None, "Cookie": "spek-{port}={token}; token={token}"},
    ],
)
def test_without_the_token_there_is_nothing(
    web: Web, place: str, headers: dict[str, str | None]
) -> None:
    known = {"port": web.server.port, "token": web.server.guard.token}
    sent = {name: text and text.format(**known) for name, text in headers.items()}
    status, answer_headers, data = web.ask("GET", place, headers=sent)
    assert status == 401 and "token" in json.loads(data)["error"]
    assert "Set-Cookie" not in answer_headers and not web.helpers
    # Nor in the address, where histories and logs keep it.
    link = f"{place}{'&' if '?' in place else '?'}token={known['token']}&key={known['token']}"
    assert web.ask("GET", link, headers=sent)[0] == 401


@pytest.mark.parametrize("place", CHANGES)
def test_without_the_token_nothing_changes(web: Web, place: str) -> None:
    status, _, _ = web.ask("POST", place, JOB, {"Authorization": None})
    assert status == 401 and not web.helpers
    token = web.server.guard.token
    assert web.ask("POST", f"{place}?token={token}", JOB, {"Authorization": None})[0] == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "localhost", "", "[::1", "a:b:c"]
)
def test_another_name_is_refused_with_the_token(web: Web, host: str) -> None:
    for method, place, body in (("GET", "/", None), ("POST", "/api/start", JOB)):
        name = host.format(port=web.server.port)
        status, _, data = web.ask(method, place, body, {"Host": name})
        assert status == 421 and "by its IP address, or by localhost" in json.loads(data)["error"]
    assert not web.helpers


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}"])
def test_its_own_names_are_served(web: Web, host: str) -> None:
    assert web.ask("GET", "/", headers={"Host": host.format(port=web.server.port)})[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("place", CHANGES)
def test_another_site_changes_nothing_even_with_the_token(
    web: Web, place: str, headers: dict[str, str]
) -> None:
    sent = {name: value.format(port=web.server.port) for name, value in headers.items()}
    status, _, data = web.ask("POST", place, JOB, {**sent})
    assert status == 403 and "another site" in json.loads(data)["error"] and not web.helpers


def test_a_form_of_another_site_has_the_wrong_type(web: Web) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", None):
        status, _, data = web.ask("POST", "/api/start", JOB, {"Content-Type": kind})
        assert status == 400 and "application/json" in json.loads(data)["error"]


def test_the_token_is_in_the_fragment_which_no_server_receives(web: Web) -> None:
    assert web.server.url == f"{web.origin}/#token={web.server.guard.token}"


@pytest.mark.parametrize(("all_addresses", "own"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
def test_the_printed_address_can_be_opened(
    web: Web, monkeypatch: pytest.MonkeyPatch, all_addresses: str, own: str
) -> None:
    monkeypatch.setattr(web.server, "server_address", (all_addresses, web.server.port))
    assert web.server.url.startswith(f"http://{own}:{web.server.port}/#token=")


@pytest.mark.parametrize("place", PAGE)
def test_the_page_itself_needs_no_token_and_has_none(web: Web, place: str) -> None:
    for method in ("GET", "HEAD"):
        status, answer_headers, data = web.ask(method, place, headers={"Authorization": None})
        assert status == 200 and "Set-Cookie" not in answer_headers
        assert web.server.guard.token.encode() not in data
    assert web.ask("POST", place, {}, {"Authorization": None})[0] == 401
    assert not web.helpers


def test_links_to_documents_open_them_and_nothing_else(web: Web, tmp_path: Path) -> None:
    bare: dict[str, str | None] = {"Authorization": None}
    for name in ("x.json", "y.json"):
        report_files.make(tmp_path, "run").rename(tmp_path / name)
    links = {entry["name"]: entry for entry in web.json("GET", "/api/results")["entries"]}
    both = web.json("GET", "/api/compare?file=x.json&file=y.json")["report"]
    assert b"2 results compared" in web.ask("GET", both, headers=bare)[2]
    swapped = {"/report": "/api/result?", "/api/result": "/report?"}
    for place in (links["x.json"]["report"], links["x.json"]["download"]):
        assert web.ask("GET", place, headers=bare)[0] == 200
        assert web.ask("HEAD", place, headers=bare)[0] == 200
        for wrong in (
            place.replace("x.json", "y.json"),
            f"{place}&file=y.json",
            f"{place}&key=0",
            place[:-1],
            swapped[place.partition("?")[0]] + place.partition("?")[2],
            "/api/devices?" + place.partition("?")[2],
        ):
            assert web.ask("GET", wrong, headers=bare)[0] == 401, wrong
        assert web.ask("POST", place, {}, bare)[0] == 401
    assert not web.helpers


def test_a_token_is_long_and_new(serve: Serve) -> None:
    first, second = serve(), serve()
    assert first.server.guard.token != second.server.guard.token
    assert len(first.server.guard.token) >= 43


@pytest.mark.parametrize("place", [*PAGE, *READS])
def test_every_answer_has_its_headers(web: Web, place: str, tmp_path: Path) -> None:
    report_files.make(tmp_path, "run").rename(tmp_path / "x.json")
    status, answer_headers, _ = web.ask("HEAD", place)
    assert status == 200
    policy = answer_headers["Content-Security-Policy"]
    if place.startswith("/report"):
        assert policy == "sandbox allow-scripts; frame-ancestors 'none'"
    else:
        assert policy == CONTENT_POLICY and "unsafe" not in policy
    assert (
        answer_headers["X-Content-Type-Options"] == "nosniff"
        and answer_headers["Cache-Control"] == "no-store"
    )
    assert answer_headers["Referrer-Policy"] == "no-referrer"
    assert not any(name.lower().startswith("access-control") for name in answer_headers)


def test_the_page_has_no_script_and_no_style_in_it(web: Web) -> None:
    text = web.ask("GET", "/")[2].decode()
    assert text.count("<script") == text.count("<script src=") == 2
    assert "<style" not in text and "style=" not in text and "onclick" not in text
    assert "//" not in text.replace("<!--", "").partition("<body>")[2]


# --- what it serves ------------------------------------------------------------------------------


def test_a_run_is_told_and_kept(serve: Serve, tmp_path: Path) -> None:
    source = tmp_path / "elsewhere"
    source.mkdir()
    web = serve(rows=3, streams=2, result=str(report_files.make(source, "run")), note="a remark")
    events = run_to_end(web)
    names = [name for _, name, _ in events]
    assert names[0] == "hello" and names[-5:] == ["note", "rows", "rows", "rows", "ended"]
    assert [len(data["rows"]) for _, name, data in events if name == "rows"] == [1, 1, 1]
    end = events[-1][2]
    assert end["code"] == 0 and end["trouble"] == ""
    (entry,) = web.json("GET", "/api/results")["entries"]
    assert entry["name"] == end["file"] and entry["kind"] == "a result of a run"
    kept = tmp_path / end["file"]
    assert kept.read_bytes() == (source / "run.json").read_bytes()
    assert result.load_result(kept).outcome.ok
    assert web.ask("GET", f"/api/result?file={end['file']}")[2] == kept.read_bytes()
    page = web.ask("GET", f"/report?file={end['file']}&file={end['file']}")[2]
    assert page.startswith(b"<!DOCTYPE html>") and b"2 results compared" in page


def test_who_comes_back_gets_what_it_lacks(serve: Serve) -> None:
    web = serve(rows=5)
    events = run_to_end(web)
    first = next(number for number, name, _ in events if name == "started")
    rest = events[-3:]
    stream = web.events(rest[0][0])
    assert next(stream)[1] == "hello"
    assert [next(stream), next(stream)] == rest[1:]
    # Of another server, and nonsense: from the start of the run.
    for last in ("other-3", f"{web.server.session.name}-x", "-", "9" * 99):
        stream = web.events(last)
        assert next(stream)[1] == "hello"
        assert first in (next(stream)[0], next(stream)[0])


def test_a_new_run_starts_its_events_anew(serve: Serve) -> None:
    web = serve(rows=3)
    last = int(run_to_end(web)[-1][0].partition("-")[2])
    while web.json("GET", "/api/status")["running"]:
        time.sleep(0.01)
    web.json("POST", "/api/start", JOB)
    stream = web.events(f"{web.server.session.name}-{last}")
    assert [next(stream)[1], next(stream)[1]] == ["hello", "started"]


def test_the_prober_of_the_machine_is_told(web: Web) -> None:
    assert web.json("GET", "/api/status") == {
        "running": False,
        "runs": [],
        "trouble": "",
        "probe": "probe 4 of FAKE",
    }


def test_a_run_is_stopped(serve: Serve) -> None:
    web = serve(rows=10_000)
    web.json("POST", "/api/start", JOB)
    assert web.json("POST", "/api/stop", {}) is None
    *_, last = takewhile(lambda event: event[1] != "ended", web.events())
    assert last[1] in ("rows", "started")


def test_a_refusal_is_a_sentence(serve: Serve) -> None:
    web = serve(refuses="/dev/fake0 is in use: it is mounted on /")
    for place in ("/api/dry-run", "/api/start"):
        status, _, data = web.ask("POST", place, JOB)
        assert status == 409 and "mounted on /" in json.loads(data)["error"]


def test_destroying_needs_the_serial(serve: Serve) -> None:
    web = serve(rows=1)
    job = {**JOB, "options": {"write": True}}
    status, _, data = web.ask("POST", "/api/start", job)
    assert status == 409 and "--destroy S0" in json.loads(data)["error"]
    assert web.ask("POST", "/api/start", {**job, "destroy": ["S0"]})[0] == 200


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "not a job"),
        (b"[]", "not a job"),
        (b"\xff", "not a job"),
        (b"[" * 10_000, "not a job"),
        ({"devices": ["/dev/fake0"], "log": "/etc/passwd"}, "unknown field `log`"),
        ({"workload": "x"}, "missing required field `devices`"),
    ],
)
def test_nonsense_is_refused_before_the_host(web: Web, body: Any, text: str) -> None:
    status, _, data = web.ask("POST", "/api/start", body)
    assert status == 400 and text in json.loads(data)["error"] and not web.helpers


def test_too_much_is_refused_unread(web: Web) -> None:
    for length in ("1048577", "-1", "x", "9" * 30, ""):
        headers = {"Content-Type": "application/json", "Content-Length": length}
        status, answer_headers, data = web.ask("POST", "/api/start", None, dict(headers))
        assert status == 400 and "at most" in json.loads(data)["error"]
        assert answer_headers["Connection"] == "close"


def test_methods_and_places_that_are_not_there(web: Web) -> None:
    assert web.ask("GET", "/api/start")[0] == 404
    assert web.ask("POST", "/", {})[0] == 404
    assert web.ask("GET", "/../../etc/passwd")[0] == 404
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert web.ask(method, "/")[0] == 501


@pytest.mark.parametrize("name", ["../x.json", "/etc/passwd", "x.json%00", "", ".", "secret.txt"])
def test_only_documents_of_the_list_are_served(web: Web, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    for place in ("/report", "/api/result"):
        status, _, data = web.ask("GET", f"{place}?file={name}")
        assert status == 400 and "no document" in json.loads(data)["error"]


def downloading(web: Web, name: str, method: str = "GET") -> http.client.HTTPResponse:
    """The answer to a download, its content unread; closing it closes the connection."""
    connection = http.client.HTTPConnection("127.0.0.1", web.server.port, timeout=SOON_S)
    headers = {"Authorization": f"Bearer {web.server.guard.token}", "Connection": "close"}
    connection.request(method, f"/api/result?file={name}", headers=headers)
    answer = connection.getresponse()
    assert answer.status == 200
    return answer


def test_a_log_larger_than_memory_is_downloaded_in_pieces(web: Web, tmp_path: Path) -> None:
    whole = report_files.make(tmp_path, "log")
    data = whole.read_bytes()
    with open(whole, "r+b") as file:  # a hole between its first rows and its footer
        file.seek(1 << 40)
        file.write(data)
    length = str((1 << 40) + len(data))
    with downloading(web, whole.name, "HEAD") as answer:
        assert (answer.getheader("Content-Length"), answer.read()) == (length, b"")
    with downloading(web, whole.name) as answer:
        assert answer.getheader("Content-Length") == length
        assert answer.read(len(data) + PIECE_BYTES) == data + bytes(PIECE_BYTES)


def test_a_document_that_becomes_shorter_ends_the_connection(web: Web, tmp_path: Path) -> None:
    path = report_files.make(tmp_path, "run")
    with open(path, "ab") as file:
        file.write(b"\n" * (64 << 20))  # more than a connection holds
    with downloading(web, path.name) as answer:
        os.truncate(path, 0)
        with pytest.raises(http.client.IncompleteRead):
            answer.read()


def test_form_and_workloads(web: Web) -> None:
    fields = web.json("GET", "/api/form")
    assert "spc1" in {name for name, _ in fields["workloads"]}
    assert "[[stream]]" in web.json("GET", "/api/workload?name=spc1")["toml"]
    for name in ("../x", "/etc/passwd", ""):
        assert web.ask("GET", f"/api/workload?name={name}")[0] == 400


def test_metrics_come_in_the_wanted_format(web: Web) -> None:
    status, answer_headers, data = web.ask("GET", "/metrics")
    assert (status, data) == (200, b"") and answer_headers["Content-Type"].startswith("text/plain")
    accept = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"}
    _, answer_headers, data = web.ask("GET", "/metrics", headers=dict(accept))
    assert data == b"# EOF\n" and "openmetrics" in answer_headers["Content-Type"]


# --- logs ----------------------------------------------------------------------------------------


def logging(tmp_path: Path) -> dict[str, str]:
    """What a host needs to send a log."""
    source = tmp_path / "source"
    source.mkdir()
    return {name: str(report_files.make(source, kind)) for name, kind in
            (("result", "run"), ("log", "log"))}  # fmt: skip


def test_a_log_is_kept_beside_its_result(serve: Serve, tmp_path: Path) -> None:
    script = logging(tmp_path)
    web = serve(rows=2, **script)
    job = {"options": {"log": "mine.parquet"}}
    end = run_to_end(web, **job)[-1][2]
    assert (end["log"], end["trouble"]) == ("mine.parquet", "")
    assert (tmp_path / "mine.parquet").read_bytes() == Path(script["log"]).read_bytes()
    kinds = {entry["name"]: entry["kind"] for entry in web.json("GET", "/api/results")["entries"]}
    assert kinds["mine.parquet"] == "a per-I/O log" and kinds[end["file"]] == "a result of a run"
    # A document is never overwritten.
    for place in ("/api/dry-run", "/api/start"):
        status, _, data = web.ask("POST", place, {**JOB, **job})
        assert status == 400 and "mine.parquet exists already" in json.loads(data)["error"]
    assert "log" in end and list(tmp_path.glob("*.part")) == []


@pytest.mark.parametrize("name", ["../x.parquet", "/x.parquet", ".x.parquet", "x", "a b.parquet"])
def test_the_name_of_a_log_is_a_plain_one(web: Web, name: str) -> None:
    for place in ("/api/dry-run", "/api/start"):
        status, _, data = web.ask("POST", place, {**JOB, "options": {"log": name}})
        assert status == 400 and "is not a name like run.parquet" in json.loads(data)["error"]
    assert not web.helpers


def test_a_refused_run_leaves_no_log(serve: Serve, tmp_path: Path) -> None:
    web = serve(refuses="/dev/fake0 is in use: it is mounted on /")
    assert web.ask("POST", "/api/start", {**JOB, "options": {"log": "x.parquet"}})[0] == 409
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_a_result_leaves_no_log(serve: Serve, tmp_path: Path) -> None:
    web = serve(rows=1000, dies_after=3)
    assert run_to_end(web, options={"log": "x.parquet"})[-1][1] == "host"
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_cannot_be_written_is_told(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = serve(rows=1, **logging(tmp_path))
    make = Library.log

    def full(library: Library, name: str) -> LogPart:
        part = make(library, name)
        part._file.close()
        part._file = open("/dev/full", "wb")  # noqa: SIM115
        return part

    monkeypatch.setattr(Library, "log", full)
    end = run_to_end(web, options={"log": "x.parquet"})[-1][2]
    assert end["log"] == "" and end["trouble"].endswith("x.parquet: No space left on device")
    assert end["file"] and list(tmp_path.glob("x.parquet*")) == []


# --- when something dies -------------------------------------------------------------------------


def test_a_host_that_dies_is_told_and_started_again(serve: Serve) -> None:
    web = serve(rows=1000, dies_after=3)
    events = run_to_end(web)
    assert events[-1][1:] == ("host", {"alive": False, "text": "the host ended (SIGKILL)"})
    assert len(web.json("GET", "/api/devices")) == 2 and len(web.helpers) == 2


def test_a_host_of_root_is_not_started_again(serve: Serve) -> None:
    web = serve(again=False)
    web.json("GET", "/api/devices")
    os.kill(web.helpers[0].pid, signal.SIGKILL)
    deadline = time.monotonic() + SOON_S
    while web.helpers[0].alive and time.monotonic() < deadline:
        time.sleep(0.01)
    status, _, data = web.ask("GET", "/api/devices")
    assert status == 503 and "start spekctl web again" in json.loads(data)["error"]


def test_without_sudo_there_are_still_results(serve: Serve, tmp_path: Path) -> None:
    report_files.make(tmp_path, "run")
    web = serve(first="exit")
    status, _, data = web.ask("GET", "/api/devices")
    assert status == 503 and "a password is required" in json.loads(data)["error"]
    assert len(web.json("GET", "/api/results")["entries"]) == 1


def test_a_result_that_cannot_be_kept_is_told(serve: Serve, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    web = serve(rows=1, result=str(report_files.make(tmp_path, "run")))
    web.server.session.library.folder = folder
    end = run_to_end(web)[-1][2]
    assert end["file"] == "" and str(folder) in end["trouble"]


def test_the_end_of_the_server_ends_the_run(tmp_path: Path) -> None:
    with serving(tmp_path, rows=100_000) as web:
        web.json("POST", "/api/start", JOB)
        stream = web.events()
        assert next(stream)[1] == "hello"
    assert not web.helpers[0].alive
    assert "ended" not in [name for _, name, _ in stream]


def connected(web: Web, data: bytes = b"") -> socket.socket:
    """A connection that has sent @data and does not read."""
    connection = socket.create_connection(("127.0.0.1", web.server.port), timeout=SOON_S)
    connection.sendall(data)
    return connection


def test_connections_without_the_token_do_not_keep_others_out(web: Web) -> None:
    """More of them than there are places of any kind, which all go on holding theirs."""
    web.json("GET", "/api/results")
    host = f"Host: 127.0.0.1:{web.server.port}\r\n".encode()
    parts = (
        b"",
        b"P",
        b"POST /api/stop HTTP/1.1\r\n" + host,
        b"GET /api/results HTTP/1.1\r\nAuthorization: Bearer x\r\n" + host,
    )
    # A whole request, whose answer is not read.
    plots = b"GET /plot.js HTTP/1.1\r\n" + host + b"\r\n"
    with ExitStack() as stack:
        for number in range(2 * CONNECTIONS_MAX):
            for data in (parts[number % len(parts)], plots if number % 4 == 0 else b"G"):
                with suppress(ConnectionError):
                    stack.enter_context(connected(web, data))
            if number % 16 == 15:
                status, _, data = web.ask("POST", "/api/stop", {})
                assert status == 409 and "no run to stop" in json.loads(data)["error"]
                assert web.ask("GET", "/page.js", headers={"Authorization": None})[0] == 200
        assert len(web.server._door._waiting) <= PLACES
        assert len(web.server._strangers) <= STRANGERS_MAX


def test_too_many_connections_with_the_token_are_closed(web: Web) -> None:
    head = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{web.server.port}\r\n"
    request = f"{head}Authorization: Bearer {web.server.guard.token}\r\n\r\n".encode()
    held = []
    try:
        for _ in range(CONNECTIONS_MAX):
            held.append(connected(web, request))
            assert held[-1].recv(1) == b"H"
        held.append(connected(web, request))
        with suppress(ConnectionError):
            assert held[-1].recv(1) == b""
        # Those without it have their own.
        assert web.ask("GET", "/page.css", headers={"Authorization": None})[0] == 200
    finally:
        for connection in held:
            connection.close()


def test_a_connection_without_the_token_has_one_answer(web: Web) -> None:
    for place in ("/page.css", "/api/results"):
        _, answer_headers, _ = web.ask("GET", place, headers={"Authorization": None})
        assert answer_headers["Connection"] == "close"
    assert "Connection" not in web.ask("GET", "/api/results")[1]
