# SPDX-License-Identifier: GPL-2.0
"""The folder of a campaign: what a resumption has to be the same in, and how it is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.fakes.machine import disk

from spekctl.campaigns import folder
from spekctl.documents.document import Part
from spekctl.errors import UsageError


class Durations(Part, frozen=True):
    time_ns: int = 2_000_000_000
    share: float = 0.5


class Parameters(Part, frozen=True):
    durations: Durations = Durations()
    sizes: list[int] | None = None
    options: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it


WORDS = {"time_ns": "--time", "sizes": "--sizes", "durations": "--never"}


@pytest.mark.parametrize(
    ("before", "now", "sentence"),
    [
        (Durations(), Durations(time_ns=3_000_000_000), "another --time: 2s then, 3s now"),
        (Durations(share=0.5), Durations(share=0.25), "another share: 0.5 then, 0.25 now"),
    ],
)
def test_nested_parameters_have_their_own_names(
    before: Durations, now: Durations, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        folder.check_parameters(Path("t"), Parameters(before), Parameters(now), WORDS)


def test_what_was_not_given_is_none_of_it() -> None:
    now = Parameters(sizes=[4096, 8192])
    with pytest.raises(UsageError, match="another --sizes: none then, 4096,8192 now"):
        folder.check_parameters(Path("t"), Parameters(), now, WORDS)


def test_options_are_compared_one_by_one() -> None:
    before, now = Parameters(options={"--rate": "5"}), Parameters(options={"--depth": "5"})
    with pytest.raises(UsageError, match="another --rate: 5 then, none now"):
        folder.check_parameters(Path("t"), before, now, WORDS)


def test_the_same_number_of_a_preset_and_of_a_file_is_the_same() -> None:
    whole, decimal = Parameters(Durations(share=1)), Parameters(Durations(share=1.0))
    folder.check_parameters(Path("t"), whole, decimal, WORDS)


def test_devices_are_told_by_what_does_not_change_at_boot() -> None:
    facts = [disk().facts()]
    folder.check_devices(Path("t"), facts, [disk()])
    with pytest.raises(UsageError, match="another serial number: S123 then, S9 now"):
        folder.check_devices(Path("t"), facts, [disk(serial="S9")])
    with pytest.raises(UsageError, match="another number of devices: 1 then, 2 now"):
        folder.check_devices(Path("t"), facts, [disk(), disk("/dev/fake1")])


@pytest.mark.parametrize(("field", "words"), [("serial", "serial number"), ("wwn", "WWN")])
def test_a_name_counts_if_it_was_known(field: str, words: str) -> None:
    """An md array of which no UUID was known then has one."""
    without, array, another = (
        disk(**{"serial": "", "wwn": "", field: text}) for text in ("", "a1:b2", "c3:d4")
    )
    folder.check_devices(Path("t"), [without.facts()], [array])
    with pytest.raises(UsageError, match=f"another {words}: a1:b2 then, none now"):
        folder.check_devices(Path("t"), [array.facts()], [without])
    with pytest.raises(UsageError, match=f"another {words}: a1:b2 then, c3:d4 now"):
        folder.check_devices(Path("t"), [array.facts()], [another])
