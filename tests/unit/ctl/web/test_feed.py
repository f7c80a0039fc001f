# SPDX-License-Identifier: GPL-2.0
"""Events for pages: numbered, waited for, and of the current run."""

from __future__ import annotations

import threading

from lib.waiting import LONG_S

from spekctl.web.course import Frame
from spekctl.web.feed import Feed


def test_events_have_numbers_that_go_on() -> None:
    feed = Feed()
    feed.tell("note", {"text": "x"})
    feed.forget()
    feed.tell("note", {"text": "y"})
    assert feed.after(0, 0) == [Frame(2, "note", b'{"text":"y"}')]
    assert feed.after(2, 0) == [] and feed.name != Feed().name


def test_who_waits_is_woken_by_news_and_by_the_end() -> None:
    feed = Feed()
    waiting = threading.Thread(target=feed.after, args=(0, 60))
    waiting.start()
    feed.tell("note", 1)
    waiting.join(LONG_S)
    assert not waiting.is_alive()
    feed.end()
    assert feed.after(1, 60) is None


def test_of_tables_of_hosts_only_the_last_one_is_kept() -> None:
    feed = Feed()
    feed.tell("started", 1)
    for number in range(5):
        feed.tell("hosts", number)
        feed.tell("note", number)
    frames = feed.after(0, 0) or []
    assert [frame.data for frame in frames if frame.name == "hosts"] == [b"4"]
    assert len(frames) == 7 and frames[0].name == "started"
