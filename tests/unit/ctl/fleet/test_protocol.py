# SPDX-License-Identifier: GPL-2.0
"""Messages of a fleet agent."""

from __future__ import annotations

import msgspec
import pytest

from spekctl.documents.plan import FleetTable, HostTable, PlanFile
from spekctl.fleet.protocol import VERBS, AnyEvent, AnyRequest, Ended, Go, HostNews, Hosts, Start
from spekctl.host import wire

PLAN = PlanFile(FleetTable("tls://127.0.0.1:0", "x"), [HostTable("a", devices=["/dev/x"])])


def test_requests_and_events_come_back_as_they_were() -> None:
    for request in (Start(id=1, plan=PLAN, toml="x", holds=True), Go(id=2), wire.Stop(id=3)):
        assert msgspec.json.decode(wire.line(request), type=AnyRequest) == request
    news = HostNews("a", "client", "running", skew_ns=-5)
    for event in (Hosts([news], True), Ended(9, "lost", msgspec.Raw(b"{}"), skew_ns=7)):
        assert msgspec.json.decode(wire.line(event), type=AnyEvent) == event
    assert VERBS == ["start", "go", "stop"]


def test_what_an_agent_does_not_know_is_refused() -> None:
    for line in (b'{"do":"shell","id":1}', b'{"do":"go","id":1,"now":true}'):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(line, type=AnyRequest)
