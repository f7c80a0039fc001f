# SPDX-License-Identifier: GPL-2.0
"""Power over netlink: wrong requests are refused with a sentence and change nothing."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import Any

import pytest
from lib.guest.power import SECOND, W, connected, only_feed
from lib.guest.prober import fresh_module

from spekctl.errors import SpekError
from spekctl.kernel.feeds import PowerLink, PowerSample
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.link import Link, not_loaded

pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel_at_length]

fresh = pytest.fixture(autouse=True)(fresh_module)
link = pytest.fixture(connected)
# A second socket, which only asks.
reader = pytest.fixture(connected)


ONE = [{"name": "5V"}]


WRONG_FEEDS: list[tuple[dict[str, Any], int, str]] = [
    ({}, errno.EINVAL, "needs a name and a source"),
    ({"name": "a"}, errno.EINVAL, "needs a name and a source"),
    ({"name": "", "source": "sim", "rail": ONE}, errno.EINVAL, "name of a feed must"),
    ({"name": "a b", "source": "sim", "rail": ONE}, errno.EINVAL, "name of a feed must"),
    ({"name": "a", "source": "s\n", "rail": ONE}, errno.EINVAL, "source of a feed must"),
    ({"name": "a", "source": "sim"}, errno.EINVAL, "at least one rail"),
    ({"name": "a", "source": "sim", "rail": [{"lsb_nw": 1}]}, errno.EINVAL, "needs a name"),
    ({"name": "a", "source": "sim", "rail": [{"name": "3.3 V"}]}, errno.EINVAL, "of a rail"),
    ({"name": "a", "source": "sim", "rail": ONE * 2}, errno.EINVAL, "the same name"),
    (
        {"name": "a", "source": "sim", "rail": [{"name": str(n)} for n in range(65)]},
        errno.ERANGE,
        "at most 64 rails",
    ),
    ({"name": "a", "source": "sim", "rail": ONE, "history": 63}, errno.ERANGE, "from 64 to"),
    (
        {"name": "a", "source": "sim", "rail": ONE * 1, "history": 4194305},
        errno.ERANGE,
        "from 64 to",
    ),
    (
        {
            "name": "a",
            "source": "sim",
            "rail": [{"name": "1"}, {"name": "2"}],
            "history": 4194304,
        },
        errno.ERANGE,
        "more than the 256 MiB",
    ),
    ({"name": "a", "source": "sim", "rail": ONE, "max_step_ns": 0}, errno.ERANGE, "1 ns to"),
    (
        {"name": "a", "source": "sim", "rail": ONE, "max_step_ns": 3600 * SECOND + 1},
        errno.ERANGE,
        "1 ns to",
    ),
]


def test_wrong_feed_is_refused_with_a_sentence() -> None:
    raw = Link(uapi, None, not_loaded("spek_prober"))
    for values, code, sentence in WRONG_FEEDS:
        with pytest.raises(SpekError, match=sentence) as refusal:
            raw.ask(uapi.Cmd.FEED_OPEN, **values)
        assert refusal.value.errno == code
    assert raw.dump(uapi.Cmd.FEED_GET) == []
    raw.close()


def test_open_name_is_refused(link: PowerLink, reader: PowerLink) -> None:
    link.open_feed("board", "sim", ["5V"])
    with pytest.raises(SpekError, match="A feed with this name is open") as refusal:
        reader.open_feed("board", "sim", ["5V"])
    assert refusal.value.errno == errno.EBUSY


BAD_SAMPLES: list[tuple[Callable[[int], PowerSample], int, str]] = [
    (
        lambda now: PowerSample(now, W, 1),
        errno.EINVAL,
        "names a rail that the feed does not have",
    ),
    (lambda now: PowerSample(now, 2 * 10**12), errno.ERANGE, "at most 1 MW"),
    (lambda now: PowerSample(now, -(2**63)), errno.ERANGE, "at most 1 MW"),
    (lambda now: PowerSample(now + 60 * SECOND, W), errno.ERANGE, "more than 1 s in the future"),
    (lambda now: PowerSample(2**64 - 1, W), errno.ERANGE, "more than 1 s in the future"),
]


def test_bad_batch_is_refused_as_a_whole(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"])
    for number, (sample, code, sentence) in enumerate(BAD_SAMPLES, 1):
        now = time.monotonic_ns()
        with pytest.raises(SpekError, match=sentence) as refusal:
            link.push(feed, [PowerSample(now, W), sample(now)])
        assert refusal.value.errno == code
        shown = only_feed(link)
        assert (shown.refused, shown.batches, shown.rails[0].samples) == (number, 0, 0)


def test_pushes_by_others_to_nothing_and_of_nothing(link: PowerLink, reader: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"])
    now = time.monotonic_ns()

    def refused(act: Callable[[], Any], code: int, sentence: str) -> None:
        with pytest.raises(SpekError, match=sentence) as refusal:
            act()
        assert refusal.value.errno == code

    refused(
        lambda: reader.push(feed, [PowerSample(now, W)]), errno.EPERM, "Only the socket that opened"
    )
    refused(lambda: reader.mark(feed, until_ns=now), errno.EPERM, "Only the socket that opened")
    refused(lambda: link.mark(feed, until_ns=now + 60 * SECOND), errno.ERANGE, "in the future")
    refused(
        lambda: link.push(feed + 1, [PowerSample(now, W)]), errno.ENOENT, "no feed with this number"
    )
    refused(lambda: link.close_feed(feed + 1), errno.ENOENT, "no feed with this number")
    refused(lambda: link.feeds(feed + 1), errno.ENOENT, "no feed with this number")
    refused(lambda: link.energy([(1, 2)], feed + 1), errno.ENOENT, "no feed with this number")
    refused(lambda: link.push(feed, []), errno.EINVAL, "needs samples")
    refused(lambda: link.energy([(now, now)]), errno.EINVAL, "An interval does not end")
    refused(lambda: link.energy([(1, 2), (5, 4)]), errno.EINVAL, "An interval does not end")
    reader.close_feed(feed)
    refused(lambda: link.push(feed, [PowerSample(now, W)]), errno.EBUSY, "has ended")

    raw = Link(uapi, None, not_loaded("spek_prober"))
    refused(lambda: raw.ask(uapi.Cmd.FEED_PUSH, samples=b"1234"), errno.EINVAL, "number of a feed")
    refused(lambda: raw.dump(uapi.Cmd.ENERGY_GET), errno.EINVAL, "needs intervals")
    refused(lambda: raw.dump(uapi.Cmd.ENERGY_GET, intervals=b"12"), errno.EINVAL, "whole records")
    raw.close()
