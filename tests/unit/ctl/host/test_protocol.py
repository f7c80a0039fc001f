# SPDX-License-Identifier: GPL-2.0
"""Messages between an unprivileged program and the host."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.host import protocol, wire
from spekctl.host.protocol import (
    AnyEvent,
    AnyRequest,
    DryRun,
    Ended,
    Job,
    Metrics,
    Note,
    Start,
    Status,
)
from spekctl.host.wire import Answer, Fault, Hello, Request


def asked(fields: dict[str, Any]) -> Request:
    request: Request = msgspec.json.decode(msgspec.json.encode(fields), type=AnyRequest)
    return request


def test_a_request_is_known_by_its_verb() -> None:
    assert asked({"do": "status", "id": 3}) == Status(id=3)
    assert asked({"do": "metrics", "id": 3, "openmetrics": True}) == Metrics(id=3, openmetrics=True)
    job = {"devices": ["/dev/x"], "options": {"time": "3s", "write": True, "stop-when": ["a"]}}
    request = asked({"do": "dry-run", "id": 4, "job": job})
    assert isinstance(request, DryRun)
    assert (request.job.options, request.job.settings) == (job["options"], [])


@pytest.mark.parametrize(
    "fields",
    [
        {"do": "status"},
        {"id": 1},
        {"do": "reboot", "id": 1},
        {"do": "status", "id": "1"},
        {"do": "status", "id": 1.5},
        {"do": "status", "id": 1, "more": 1},
        {"do": "start", "id": 1},
        {"do": "start", "id": 1, "job": {}},
        {"do": "start", "id": 1, "job": {"devices": "/dev/x"}},
        {"do": "start", "id": 1, "job": {"devices": ["/dev/x"], "output": "/etc/passwd"}},
        {"do": "start", "id": 1, "job": {"devices": ["/dev/x"], "options": {"depth": 4}}},
        {"do": "metrics", "id": 1, "openmetrics": "yes"},
    ],
)
def test_what_the_host_does_not_know_is_refused_and_not_ignored(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(fields)


def test_every_verb_is_in_the_first_line() -> None:
    assert set(protocol.VERBS) == {"devices", "dry-run", "start", "stop", "status", "metrics"}
    for verb in protocol.VERBS:
        job: dict[str, Any] = {"job": {"devices": []}} if verb in ("dry-run", "start") else {}
        assert asked({"do": verb, "id": 1, **job}).id == 1


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_message_is_one_line_whatever_it_says(text: str) -> None:
    for message in (Note(text), Answer(1, error=Fault(2, text)), Ended(0, text)):
        data = wire.line(message)
        assert data.endswith(b"\n") and data.count(b"\n") == 1
        assert msgspec.json.decode(data, type=type(message)) == message


def test_an_event_is_known_by_its_name_in_lower_case() -> None:
    for event in (Hello(1, "0.1", ["stop"]), Note("x"), Ended(4, "y")):
        fields = msgspec.json.decode(wire.line(event))
        assert fields["event"] == type(event).__name__.lower()
        assert msgspec.json.decode(wire.line(event), type=AnyEvent) == event


def test_an_older_program_ignores_fields_of_a_later_host() -> None:
    """Events and answers may have more; requests may not."""
    data = b'{"event": "note", "text": "x", "level": 3}'
    assert msgspec.json.decode(data, type=AnyEvent) == Note("x")
    assert msgspec.json.decode(b'{"id": 1, "answer": 5, "took_ms": 3}', type=Answer).id == 1


def test_an_answer_without_a_value_is_null() -> None:
    answer = msgspec.json.decode(wire.line(Answer(7)), type=Answer)
    assert (bytes(answer.answer), answer.error) == (b"null", None)


def test_a_job_travels_whole() -> None:
    job = Job(devices=["/dev/x"], toml="[run]\n", settings=["a=b"], destroy=["S1"])
    assert asked({"do": "start", "id": 9, "job": msgspec.to_builtins(job)}) == Start(id=9, job=job)
