# SPDX-License-Identifier: GPL-2.0
"""Power feeds: samples as they go out, and energy put together from several messages."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from lib.fakes.link import FakeLink

from spekctl.kernel.feeds import PowerLink, PowerSample
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.gen.spek_prober_records import FeedState
from spekctl.kernel.gen.spek_prober_records import PowerSample as SampleRecord

HEAD = {"state": FeedState.OPEN, "uncertainty_ns": 5, "lsb_nw": 10}


class Answering(FakeLink):
    """A prober whose answers to a dump of energy come interval by interval."""

    def dump(self, command: Any, **values: Any) -> list[dict[str, Any]]:
        if command is not uapi.Cmd.ENERGY_GET:
            return super().dump(command, **values)
        wanted = list(struct.iter_unpack("=QQ", values["intervals"]))
        self.asked.append((command.name, values))
        return [
            {
                **HEAD,
                **answer,
                "results": b"".join(
                    struct.pack("=qQQQQQQqq", end - start, answer["rail"], end - start, *range(6))
                    for start, end in wanted
                ),
            }
            for answer in self.answers
            if answer.get("since", 0) < len(self.asked)
        ]


def linked(*answers: dict[str, Any]) -> tuple[PowerLink, Answering]:
    link = PowerLink.__new__(PowerLink)
    fake: Any = Answering(*answers, contract=uapi)
    link._link = fake
    return link, fake


def test_samples_go_out_as_the_contract_has_them() -> None:
    link, fake = linked({"accepted": 2, "late": 1})
    samples = [PowerSample(5, 6), PowerSample(7, 0, 2, gap=True)]
    assert link.push(1, samples) == (2, 1)
    ((_, values),) = fake.asked
    assert values["samples"] == SampleRecord.pack(
        [SampleRecord(5, 6, 0, 0), SampleRecord(7, 0, 2, uapi.POWER_GAP)]
    )


def test_only_what_is_given_is_sent_of_a_feed() -> None:
    link, fake = linked({"id": 4})
    assert link.open_feed("board", "test", ["12V", ("5V", 30)]) == 4
    link.open_feed("board", "test", [], history=9, max_step_ns=8, uncertainty_ns=7)
    (_, first), (_, second) = fake.asked
    assert first == {
        "name": "board",
        "source": "test",
        "uncertainty_ns": 0,
        "rail": [{"name": "12V"}, {"name": "5V", "lsb_nw": 30}],
    }
    assert (second["history"], second["max_step_ns"], second["uncertainty_ns"]) == (9, 8, 7)


def test_more_intervals_than_one_message_holds_are_asked_in_parts() -> None:
    count = uapi.MAX_INTERVALS * 2 + 1
    intervals = [(n, 2 * n + 1) for n in range(count)]
    rails = [{"feed": 1, "rail": n, "feed_name": "b", "rail_name": f"r{n}"} for n in (0, 1)]
    link, fake = linked(*rails)
    sums = link.energy(intervals)
    assert len(fake.asked) == 3
    assert [rail.rail_name for rail in sums] == ["r0", "r1"]
    for rail in sums:
        assert [use.known_ns for use in rail.uses] == [end - start for start, end in intervals]
        assert [use.energy_fj for use in rail.uses] == [
            (end - start) * 10**9 + rail.rail for start, end in intervals
        ]
    assert link.energy([]) == []


def test_a_feed_opened_in_between_is_left_out() -> None:
    rails = [
        {"feed": 1, "rail": 0, "feed_name": "old", "rail_name": "r"},
        {"feed": 2, "rail": 0, "feed_name": "new", "rail_name": "r", "since": 1},
    ]
    link, _ = linked(*rails)
    intervals = [(0, 1)] * (uapi.MAX_INTERVALS + 1)
    assert [rail.feed_name for rail in link.energy(intervals)] == ["old"]


@pytest.mark.parametrize("feed", [None, 3])
def test_one_feed_can_be_asked_for(feed: int | None) -> None:
    link, fake = linked()
    assert link.energy([(0, 1)], feed) == []
    assert link.feeds(feed) == []
    assert fake.asked[0][1].get("feed") == feed
    assert fake.asked[1][1].get("id") == feed
