# SPDX-License-Identifier: GPL-2.0
"""Messages between the controller and its hosts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from lib.fakes.fleet import FakeHost

from spekctl import __version__
from spekctl.errors import ExitCode, RefusedError, SpekError
from spekctl.fleet import wire
from spekctl.fleet.clock import Distance


def test_an_answer_comes_back_as_it_was() -> None:
    armed = wire.Armed(5, Distance(7, 1), 9)
    assert wire.answer_of(wire.encode({"answer": armed}), wire.Armed) == armed


@pytest.mark.parametrize(
    ("code", "known"), [(4, ExitCode.REFUSED), (77, ExitCode.RUN_FAILED), (0, 1)]
)
def test_a_refusal_is_an_error_with_its_code(code: int, known: ExitCode) -> None:
    reply = wire.encode(wire.Reply(fault=wire.Fault(code, "no")))
    with pytest.raises(wire.HostFault, match=r"^no$") as refusal:
        wire.answer_of(reply, wire.Armed)
    assert refusal.value.exit_code == known


@pytest.mark.parametrize("change", [{"more": 1}, {"devices": 5}, {"clock": None}])
def test_a_host_of_another_version_is_refused_by_it_whatever_its_fields_are(
    change: dict[str, Any],
) -> None:
    described = FakeHost("a").described(version="9.9", protocol=99)
    fields = {**msgspec.to_builtins(described), **change}
    with pytest.raises(RefusedError, match=r"^it has spekctl 9\.9 \(protocol 99\), and the contr"):
        wire.answer_of(wire.encode({"answer": fields}), wire.Described)
    # Of the same version they are wrong.
    own = {**fields, "version": __version__, "protocol": wire.PROTOCOL}
    damaged: list[Any] = [own, {**own, "protocol": "x"}, [[[]]]]
    for wrong in damaged:
        with pytest.raises(SpekError, match="sent a damaged message"):
            wire.answer_of(wire.encode({"answer": wrong}), wire.Described)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"answer": 5}', b'{"x": 1}', b"\xff", b"[" * 5000]
)
def test_what_is_no_message_is_an_error(data: bytes) -> None:
    with pytest.raises(SpekError, match="sent a damaged message"):
        wire.answer_of(data, wire.Armed)


def test_a_request_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(SpekError, match="unknown field"):
        wire.decode(b'{"run": "r", "start_real_ns": 1, "more": 1}', wire.Arm)


def test_a_document_passes_as_it_is() -> None:
    document = msgspec.Raw(b'{"kind":"spek-result"}')
    sent = wire.encode({"answer": wire.Collected(0, "done", None, document)})
    assert bytes(wire.answer_of(sent, wire.Collected).document) == bytes(document)


def test_what_is_no_event_is_none() -> None:
    said = wire.Note("x")
    assert wire.event_of(wire.encode(said)) == said
    for data in (b"", b"{", b"\xff", b"[" * 200_000, b'{"type": "explode"}', wire.encode(None)):
        assert wire.event_of(data) is None
