# SPDX-License-Identifier: GPL-2.0
"""Blocks that a cache has lost: listed in parts, and given up by their number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from spekctl.augment import lost
from spekctl.augment.mapper import Mapper
from spekctl.augment.table import State
from spekctl.documents.augment import Mode
from spekctl.errors import RefusedError, UsageError

COUNTERS = (0,) * 17


def state_of(mode: Mode, blocks: int) -> State:
    return State(mode, 7, 0b11, 0b11, 1, 9, *COUNTERS, lost_blocks=blocks)


@dataclass
class FakeMapper:
    """dmsetup with one cache. @answers: to "lost FROM", by FROM."""

    now: State
    answers: dict[str, str] = field(default_factory=dict)
    lists: bool = True
    sent: list[tuple[str, ...]] = field(default_factory=list)

    def lists_lost(self) -> bool:
        return self.lists

    def ask(self, name: str, *words: str) -> str:
        assert (name, words[0]) == ("nas", "lost")
        return self.answers[words[1]]

    def state(self, name: str) -> State:
        assert name == "nas"
        return self.now

    def message(self, *words: str) -> None:
        self.sent.append(words)


def mapper(*values: Any, **more: Any) -> tuple[FakeMapper, Mapper]:
    fake = FakeMapper(*values, **more)
    return fake, cast(Mapper, fake)


def test_ranges_come_in_parts_and_are_joined_in_order() -> None:
    failed = state_of(Mode.FAILED, 9)
    _, asked = mapper(failed, {"0": "8+2 100+1 17", "17": "10+4 3+1 90", "90": "101+1 -"})
    assert lost.ranges(asked, "nas", failed) == [(3, 4), (8, 14), (100, 102)]


def test_nothing_is_asked_where_nothing_is_lost_or_the_module_is_older() -> None:
    whole, failed = state_of(Mode.NORMAL, 0), state_of(Mode.FAILED, 1)
    assert lost.ranges(mapper(whole)[1], "nas", whole) == []
    assert lost.ranges(mapper(failed, lists=False)[1], "nas", failed) == []


def test_all_that_are_lost_are_given_up_by_their_number() -> None:
    fake, asked = mapper(state_of(Mode.FAILED, 3))
    lost.forget(asked, "nas", 3)
    assert fake.sent == [("nas", "forget", "3")]


@pytest.mark.parametrize("blocks", [0, 2, 4])
def test_another_number_is_refused(blocks: int) -> None:
    fake, asked = mapper(state_of(Mode.FAILED, 3))
    with pytest.raises(UsageError, match=r"nas has lost 3 blocks: .* confirm them by --lost 3"):
        lost.forget(asked, "nas", blocks)
    assert not fake.sent


@pytest.mark.parametrize(("mode", "blocks"), [(Mode.NORMAL, 0), (Mode.FAILED, 0)])
def test_a_cache_that_has_lost_nothing_gives_nothing_up(mode: Mode, blocks: int) -> None:
    fake, asked = mapper(state_of(mode, blocks))
    with pytest.raises(RefusedError, match=f"nas has lost nothing: it is {mode}"):
        lost.forget(asked, "nas", 0)
    assert not fake.sent
