# SPDX-License-Identifier: GPL-2.0
"""The words of --search, and the combinations that they make."""

from __future__ import annotations

import pytest

from spekctl.campaigns.emerald import choices
from spekctl.errors import UsageError


def test_all_combinations_are_made_the_first_option_slowest() -> None:
    searched = choices.parse(["backend = bio, mq", "polled=off,on"])
    assert searched == ["backend=bio,mq", "polled=off,on"]
    assert choices.names_of(searched) == ["backend", "polled"]
    assert [choices.text_of(place) for place in choices.places(searched)] == [
        "backend bio, polled off",
        "backend bio, polled on",
        "backend mq, polled off",
        "backend mq, polled on",
    ]
    assert choices.places([]) == [{}]


def test_values_become_options_of_a_run() -> None:
    place = {"backend": "mq", "polled": "on", "batch": "4", "spin": "5us", "cpus": "2-3"}
    assert choices.options_of(place) == {
        "backend": "mq",
        "polled": True,
        "batch": 4,
        "spin_ns": 5000,
        "cpus": [2, 3],
    }
    assert choices.options_of({"polled": "off", "cpus": "auto"}) == {
        "polled": False,
        "cpus": "auto",
    }


WRONG = [
    (["stripe=4k,64k"], "--search stripe: prefill and conditioning lie where --stripe puts them"),
    (["depth=1,2"], "--search depth: give --depths"),
    (["workers=1,2"], "--search workers: give --workers"),
    (["seed=1"], "--search seed: a test searches over backend, polled, batch, spin, cpus"),
    (["backend"], "--search backend: write NAME=VALUE,VALUE, for example backend=bio,mq"),
    (["backend=bio,"], "--search backend=bio,: write NAME=VALUE,VALUE"),
    (["backend=bio,bio"], "--search backend: a value is given twice"),
    (["backend=bio", "backend=mq"], "--search backend is given twice; write its values in one"),
    (["backend=uring"], "--search backend: 'uring' is none of auto, bio, mq, scsi"),
    (["polled=yes"], "--search polled: 'yes' is none of off, on"),
    (["batch=x"], "--search batch: 'x' is not a whole number"),
    (["batch=0"], "--search batch: 0 is not within 1 to"),
    (["cpus=x"], "--search cpus: "),
    (["spin=5"], "--search spin: "),
]


@pytest.mark.parametrize(("texts", "sentence"), WRONG)
def test_wrong_words_get_one_sentence(texts: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        choices.parse(texts)
    assert refused.value.message.startswith(sentence)
